import FerryAppBundle
import FerryBytes
import FerryInstalling
import Foundation
import TestKit
import Testing

@Suite struct `A folder of apps` {
    private func plist(_ identifier: String) -> [UInt8] {
        Array(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>CFBundleIdentifier</key><string>\(identifier)</string>
            <key>CFBundleShortVersionString</key><string>1.2</string></dict></plist>
            """.utf8
        )
    }

    @Test func `names its apps, and what it cannot read`() throws {
        let place = try TemporaryFolder()
        try place.write(plist("com.example.b"), to: "com.example.b/B.app/Info.plist")
        try place.write(plist("com.example.a"), to: "com.example.a/A.app/Info.plist")
        try place.write([1, 2, 3], to: "com.example.c/C.app/Info.plist")
        try place.write([1], to: "com.example.d/D.app/D")
        // What an install under way, and people, leave there.
        try place.write(plist("com.example.e"), to: ".ferry-1/E.app/Info.plist")
        try place.write([1], to: "note.txt")
        try place.write([1], to: "empty/note.txt")
        let (apps, problems) = try FolderTarget(folder: place.path).apps()
        #expect(apps.map(\.info.identifier) == ["com.example.a", "com.example.b"])
        #expect(apps.map(\.info.version) == ["1.2", "1.2"])
        #expect(apps[0].path == place.path("com.example.a/A.app"))
        #expect(problems.count == 2)
        for (problem, name) in zip(problems, ["C", "D"]) {
            #expect(problem.message.contains("\(name).app/Info.plist"), "\(problem)")
        }
    }

    @Test func `that is not there is an error`() throws {
        let place = try TemporaryFolder()
        let error = #expect(throws: InstallError.self) { try FolderTarget(folder: place.path("none")).apps() }
        #expect(error?.code == .target)
        #expect(error?.message.contains(place.path("none")) == true)
    }
}
