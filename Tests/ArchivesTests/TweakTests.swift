import FerryBytes
import FerryMachO
import Foundation
import TestKit
import Testing

@testable import FerryArchives

private let dynamicLibraries = "Library/MobileSubstrate/DynamicLibraries"

private func packaged(control: String = TinyDeb.control, _ fill: (inout TinyTar) -> Void) throws -> Tweak {
    try Tweak(try DebianPackage(TinyDeb.bytes(control: control, fill)))
}

@Suite struct `A tweak in a package` {
    @Test(arguments: ["./", "./var/jb/", "/"])
    func `is its libraries, with resources and filters`(root: String) throws {
        let tweak = try packaged(control: TinyDeb.control + "Depends: mobilesubstrate, ws.hbang.common (>= 1)\n") {
            $0.file(root + dynamicLibraries + "/One.dylib", library(["/usr/lib/libobjc.A.dylib"]))
            $0.file(
                root + dynamicLibraries + "/One.plist",
                Array("{ Filter = { Bundles = ( \"com.example.app\" ); }; }".utf8)
            )
            $0.file(root + "usr/lib/TweakInject/Two.dylib", library(["@rpath/libshared.dylib"]), mode: 0o600)
            $0.file(root + "usr/lib/libshared.dylib", library(name: "/usr/lib/libshared.dylib"))
            $0.file(root + "Library/Application Support/One/One.bundle/a.png", [1])
            $0.file(root + "Library/Application Support/One/One.bundle/Sub.bundle/b", [2])
            $0.file(root + "Library/Application Support/One/loose.txt", [3])
            $0.file(root + "Library/PreferenceBundles/OnePrefs.bundle/OnePrefs", library())
            $0.file(root + "Library/PreferenceLoader/Preferences/One.plist", [4])
            $0.file(root + "usr/bin/one", [5])
        }
        #expect(tweak.name == "Täst")
        #expect(tweak.libraries.map(\.name) == ["One.dylib", "Two.dylib", "libshared.dylib"])
        #expect(tweak.libraries.map(\.role) == [.injected, .injected, .support])
        #expect(tweak.libraries.map(\.filter) == [TweakFilter(bundles: ["com.example.app"]), nil, nil])
        #expect(tweak.libraries[0].loads == [.init(path: "/usr/lib/libobjc.A.dylib", isWeak: false)])
        #expect(tweak.libraries.flatMap(\.files).allSatisfy { $0.mode == 0o755 })
        #expect(tweak.resources.summary == ["One.bundle/Sub.bundle/b", "One.bundle/a.png"])
        #expect(
            tweak.notes.map(\.text) == [
                "Left out: daemons and commands, 1 file.",
                "Left out: files of Library/Application Support that are in no .bundle, 1 file.",
                "Left out: settings (Library/PreferenceBundles), 1 file.",
                "Left out: settings (Library/PreferenceLoader), 1 file.",
                "The package says that it needs ws.hbang.common, which no app has unless it is injected too.",
            ]
        )
        #expect(tweak.notes.map(\.code) == [.leftOut, .leftOut, .leftOut, .leftOut, .needsPackage])
    }

    @Test func `is its frameworks where it has nothing else`() throws {
        let tweak = try packaged {
            $0.file(
                "Library/Frameworks/CydiaSubstrate.framework/CydiaSubstrate",
                library(name: "/usr/lib/libellekit.dylib")
            )
            $0.file("Library/Frameworks/CydiaSubstrate.framework/Info.plist", [0])
            $0.file("Library/Frameworks/CydiaSubstrate.framework/Headers/h.h", [1])
        }
        let code = try #require(tweak.libraries.first)
        #expect(tweak.libraries.count == 1)
        #expect(code.name == "CydiaSubstrate.framework")
        #expect(code.codePath == "CydiaSubstrate.framework/CydiaSubstrate")
        #expect(code.role == .injected)
        #expect(code.keys == ["CydiaSubstrate.framework/CydiaSubstrate", "libellekit.dylib"])
        #expect(
            code.files.summary == [
                "CydiaSubstrate.framework/CydiaSubstrate*", "CydiaSubstrate.framework/Headers/h.h",
                "CydiaSubstrate.framework/Info.plist",
            ]
        )
    }

    @Test func `follows links within the package, and no others`() throws {
        let tweak = try packaged {
            $0.file("var/jb/usr/lib/libellekit.dylib", library(name: "@rpath/libellekit.dylib"))
            $0.entry("var/jb/usr/lib/libsubstrate.dylib", "2", link: "libellekit.dylib")
            $0.entry("var/jb/usr/lib/loop.dylib", "2", link: "loop.dylib")
            $0.entry(
                "var/jb/Library/Frameworks/CydiaSubstrate.framework/CydiaSubstrate",
                "2",
                link: "/var/jb/usr/lib/libsubstrate.dylib"
            )
            $0.entry("var/jb/Library/Frameworks/CydiaSubstrate.framework/Gone", "2", link: "/etc/passwd")
            $0.entry("var/jb/Library/Frameworks/CydiaSubstrate.framework/Inner", "2", link: "CydiaSubstrate")
            $0.entry("var/jb/usr/lib/TweakInject/T.dylib", "2", link: "../../../usr/lib/libother.dylib")
        }
        let framework = try #require(tweak.libraries.first)
        #expect(framework.name == "CydiaSubstrate.framework")
        #expect(
            framework.files.summary == [
                "CydiaSubstrate.framework/CydiaSubstrate*", "CydiaSubstrate.framework/Inner -> CydiaSubstrate",
            ]
        )
        #expect(framework.keys.isSuperset(of: ["libsubstrate.dylib", "libellekit.dylib"]))
        #expect(
            tweak.notes.map(\.text) == [
                "Left out: usr/lib/TweakInject/T.dylib, a link to what is not in the package.",
                "Left out: Library/Frameworks/CydiaSubstrate.framework/Gone, a link to what is not there.",
            ]
        )
    }

    @Test(arguments: ["A", "./A", "../Versions/A", "Next"])
    func `is found through links of folders`(current: String) throws {
        let folder = "Library/Frameworks/V.framework/"
        let tweak = try packaged {
            $0.file(folder + "Versions/A/V", library(name: "@rpath/V.framework/V"))
            $0.file(folder + "Versions/A/Resources/Info.plist", [0])
            $0.entry(folder + "Versions/Current", "2", link: current)
            $0.entry(folder + "Versions/Next", "2", link: "A")
            $0.entry(folder + "V", "2", link: "Versions/Current/V")
        }
        #expect(tweak.libraries.map(\.codePath) == ["V.framework/Versions/A/V"])
        #expect(tweak.libraries.first?.keys.contains("V.framework/V") == true)
        #expect(tweak.notes == [])
    }

    @Test(arguments: ["Current", "Other", "../../../.."])
    func `is not sought where links of folders lead in a ring or to nothing`(current: String) throws {
        let folder = "Library/Frameworks/V.framework/"
        let error = #expect(throws: ArchiveError.self) {
            try packaged {
                $0.file(folder + "Versions/A/V", library())
                $0.entry(folder + "Versions/Current", "2", link: current)
                $0.entry(folder + "Versions/Other", "2", link: "Current")
                $0.entry(folder + "V", "2", link: "Versions/Current/V")
            }
        }
        #expect(error?.code == .nothingToInject)
    }

    @Test func `is refused where there is no code for an app`() throws {
        for fill in [
            { $0.file("Library/Themes/x.png", [1]) }, { $0.file(dynamicLibraries + "/x.dylib", Array("text".utf8)) },
            { $0.file(dynamicLibraries + "/x.dylib", TinyMachO().bytes) },
            { $0.file("Library/Frameworks/X.framework/Y", library()) },
        ] as [(inout TinyTar) -> Void] {
            let error = #expect(throws: ArchiveError.self) { try packaged(fill) }
            #expect(error?.code == .nothingToInject)
        }
    }

    @Test(
        .enabled(if: SharedFolder.exists, "\(SharedFolder.absent)")
    )
    func `that somebody published is read`() throws {
        let tweak = try Tweak(path: SharedFolder.corpus("feather-ellekit.deb"))
        let code = try #require(tweak.libraries.first)
        #expect(tweak.name == "meow")
        #expect(code.codePath == "CydiaSubstrate.framework/CydiaSubstrate")
        #expect(code.keys == ["CydiaSubstrate.framework/CydiaSubstrate", "libellekit.dylib"])
        // The loads of both slices, which are not the same.
        #expect(code.loads.map(\.path).contains("@rpath/libswiftCore.dylib"))
        #expect(code.loads.map(\.path).contains("/usr/lib/swift/libswiftCore.dylib"))
        let plan = try InjectedFiles([tweak])
        #expect(plan.libraries.map(\.path) == ["Frameworks/CydiaSubstrate.framework/CydiaSubstrate"])
        #expect(plan.notes == [])
    }
}

@Suite struct `Code to inject that lies loose` {
    @Test func `is a library, a framework's folder, or a zip of them`() throws {
        let folder = try TemporaryFolder()
        let dylib = try folder.write(library(["/a"]), to: "x.dylib")
        try folder.write(library(), to: "F.framework/F")
        try folder.write([1], to: "F.framework/Sub/a")
        try folder.write([1], to: "F.framework/.DS_Store")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("F.framework/Sub/link"),
            withDestinationPath: "../F"
        )
        #expect(try Tweak(path: dylib).libraries.map(\.codePath) == ["x.dylib"])
        let framework = try Tweak(path: folder.path("F.framework") + "/")
        #expect(framework.libraries.map(\.codePath) == ["F.framework/F"])
        #expect(
            framework.libraries[0].files.summary == [
                "F.framework/F*", "F.framework/Sub/a", "F.framework/Sub/link -> ../F",
            ]
        )
        if let zip = Tool("zip") {
            try zip.run(["-ry", "all.zip", "x.dylib", "F.framework"], in: folder.path)
            let both = try Tweak(path: folder.path("all.zip"))
            #expect(both.libraries.map(\.name) == ["F.framework", "x.dylib"])
            #expect(both.libraries[0].files.summary == framework.libraries[0].files.summary)
            try zip.run(["-P", "secret", "locked.zip", "x.dylib"], in: folder.path)
            let error = #expect(throws: ArchiveError.self) { try Tweak(path: folder.path("locked.zip")) }
            #expect(error?.message.contains("x.dylib is encrypted") == true)
        }
    }

    @Test(
        arguments: [
            ([], "The file is empty, which is nothing to inject."),
            ([0xCF, 0xFA, 0xED, 0xFE], "It begins with cffaedfe, which is nothing to inject."),
        ] as [([UInt8], String)]
    )
    func `is refused where it is no code, with what it is`(bytes: [UInt8], message: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(bytes, to: "x.dylib")
        let error = #expect(throws: ArchiveError.self) { try Tweak(path: path) }
        #expect(error?.message == "\(path): \(message)")
    }

    @Test func `is named by its Info.plist where that names the executable`() throws {
        let folder = try TemporaryFolder()
        try folder.write(library(), to: "F.framework/Other")
        let info = "<plist><dict><key>CFBundleExecutable</key><string>Other</string></dict></plist>"
        try folder.write(info.utf8, to: "F.framework/Info.plist")
        #expect(try Tweak(path: folder.path("F.framework")).libraries.map(\.codePath) == ["F.framework/Other"])
    }

    @Test(arguments: ["/etc/passwd", "../../x", "../.."])
    func `is refused or left where a link leads out`(target: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(library(), to: "F.framework/F")
        try FileManager.default.createSymbolicLink(atPath: folder.path("F.framework/l"), withDestinationPath: target)
        let tweak = try? Tweak(path: folder.path("F.framework"))
        #expect(tweak?.libraries.first?.files.map(\.path) ?? ["F.framework/F"] == ["F.framework/F"])
        #expect((tweak == nil) == (target != "/etc/passwd"))
    }

    @Test(.timeLimit(.minutes(10)))
    func `is refused where it is something else`() throws {
        let folder = try TemporaryFolder()
        let text = try folder.write("#!/bin/sh".utf8, to: "x.dylib")
        let error = #expect(throws: ArchiveError.self) { try Tweak(path: text) }
        #expect(error?.code == .notAnArchive)
        #expect(error?.message == "\(text): It begins with 23212f62696e2f73, which is nothing to inject.")
        #expect(throws: ArchiveError.self) { try Tweak(path: folder.path("none.dylib")) }
        #expect(throws: ArchiveError.self) { try Tweak(path: folder.path("none.framework")) }
        #expect(throws: ArchiveError.self) { try Tweak(path: folder.path) }
        try folder.write(library(), to: "P.framework/P")
        mkfifo(folder.path("P.framework/pipe"), 0o600)
        let pipe = #expect(throws: ArchiveError.self) { try Tweak(path: folder.path("P.framework")) }
        #expect(pipe?.code == .unsupported)
        var limits = ArchiveLimits()
        limits.fileBytes = 10
        try folder.write(library(), to: "L.framework/L")
        #expect(throws: ArchiveError.self) { try Tweak(path: folder.path("L.framework"), limits: limits) }
    }
}

@Suite struct `A tweak's filter` {
    @Test(arguments: [
        "{ Filter = { Bundles = ( \"com.a\", com.b ); Executables = (\"X\"); }; }",
        "{Filter={Bundles=(com.a,\"com.b\",);Executables=(X)}}",
        "// what\n{ /* for */ Filter = { Mode = Any; Bundles = (com.a, com.b); Executables = ( X ); }; }\n",
        """
        <?xml version="1.0"?><plist version="1.0"><dict><key>Filter</key><dict><key>Bundles</key><array>\
        <string>com.a</string><string>com.b</string></array><key>Executables</key><array><string>X</string></array>\
        </dict></dict></plist>
        """,
    ])
    func `is read in each form that tweaks have it in`(text: String) {
        let filter = TweakFilter(Array(text.utf8))
        #expect(filter == TweakFilter(bundles: ["com.a", "com.b"], executables: ["X"]))
        let bytes = Array(text.utf8)
        for length in bytes.indices { _ = TweakFilter(Array(bytes[..<length])) }
        for index in bytes.indices {
            for byte: UInt8 in [0, 0x22, 0x28, 0x2F, 0x5C, 0x7B, 0xFF] {
                var changed = bytes
                changed[index] = byte
                _ = TweakFilter(changed)
            }
        }
    }

    @Test(arguments: ["", "{", "()", "{ Filter = 1; }", "{ a = b; } c", String(repeating: "(", count: 100_000), "\"a"])
    func `is none where it is something else`(text: String) {
        #expect(TweakFilter(Array(text.utf8)) == nil)
    }

    @Test func `is for the apps that it names`() {
        let filter = TweakFilter(bundles: ["com.a"], executables: ["X"])
        #expect(filter.matches(identifier: "com.a", executable: nil))
        #expect(filter.matches(identifier: "com.b", executable: "X"))
        #expect(!filter.matches(identifier: "com.a.b", executable: "x"))
        #expect(TweakFilter(bundles: ["com.apple.UIKit"]).matches(identifier: "any", executable: nil))
        #expect(!TweakFilter(bundles: ["com.apple.springboard"]).matches(identifier: "any", executable: nil))
        #expect(TweakFilter(bundles: []).matches(identifier: "any", executable: nil))
    }
}
