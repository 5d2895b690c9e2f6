import FerryBytes
import Foundation
import TestKit
import Testing

#if canImport(Glibc)
import Glibc
#endif

@Suite struct `A new file` {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func put(_ text: String, in file: NewFile) {
        _ = text.withCString { write(file.descriptor, $0, strlen($0)) }
    }

    @Test func `is there only once it is whole`() throws {
        let file = try NewFile(path: folder.path("out"))
        put("new", in: file)
        #expect(!FileManager.default.fileExists(atPath: folder.path("out")))
        try file.commit()
        #expect(try folder.read("out") == Array("new".utf8))
        #expect(try folder.contents() == ["out"])
    }

    @Test func `takes the place of an old one`() throws {
        try folder.write(Array("old".utf8), to: "out")
        let file = try NewFile(path: folder.path("out"))
        put("new", in: file)
        #expect(try folder.read("out") == Array("old".utf8))
        try file.commit()
        #expect(try folder.read("out") == Array("new".utf8))
    }

    @Test func `leaves nothing when it is given up`() throws {
        try folder.write(Array("old".utf8), to: "out")
        do {
            let file = try NewFile(path: folder.path("out"))
            put("half", in: file)
        }
        #expect(try folder.contents() == ["out"])
        #expect(try folder.read("out") == Array("old".utf8))
    }

    @Test func `has the permissions that were asked for`() throws {
        let file = try NewFile(path: folder.path("out"), permissions: 0o600)
        try file.commit()
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("out"))
        #expect((attributes[.posixPermissions] as? Int) == 0o600)
    }

    @Test(arguments: [("missing/out", ENOENT), ("folder", EISDIR), ("file/out", ENOTDIR)])
    func `says why it cannot be`(name: String, number: Int32) throws {
        try folder.write([], to: "file")
        try FileManager.default.createDirectory(atPath: folder.path("folder"), withIntermediateDirectories: true)
        let error = #expect(throws: FileFailure.self) { try NewFile(path: folder.path(name)) }
        #expect(error?.errorNumber == number)
        #expect(error?.path == folder.path(name))
    }

    @Test func `never takes the place of a pipe or a device`() throws {
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "pipe")
        // The devices are only looked at: nothing is committed.
        for path in [folder.path("pipe"), folder.path("link"), "/dev/null", "/dev/stdout"] {
            let error = #expect(throws: FileFailure.self) { try NewFile(path: path) }
            #expect(error?.errorNumber == EOPNOTSUPP)
            #expect(error?.message.hasPrefix(path + ": cannot replace what is no regular file") == true)
            #expect(error?.remedy == "Choose another path.")
        }
        #expect(try folder.contents() == ["link", "pipe"])
    }

    @Test func `works beside a target with the longest name`() throws {
        let name = String(repeating: "ü", count: 127)
        try NewFile(path: folder.path(name)).commit()
        #expect(try folder.contents() == [name])
    }
}
