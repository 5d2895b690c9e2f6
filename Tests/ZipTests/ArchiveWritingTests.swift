import FerryBytes
import Foundation
import TestKit
import Testing

@testable import FerryZip

@Suite struct `An archive made from nothing` {
    private static func sample() -> ZipBuilder {
        var random = SeededGenerator(seed: 1)
        var builder = ZipBuilder(modified: DOSDateTime(year: 2026, month: 2, day: 3, hour: 4, minute: 5, second: 6))
        builder.addFolder("Payload")
        builder.addFile("Payload/a.txt", Array(repeating: 0x61, count: 10_000))
        builder.addFile("Payload/b.bin", random.bytes(66_000), mode: 0o755)
        builder.addFile("Payload/é.txt", [])
        builder.addLink("Payload/c", to: "a.txt")
        return builder
    }

    @Test func `comes back as it went in`() throws {
        let source = MemorySource(try Self.sample().bytes(comment: Array("hello".utf8)))
        let directory = try ZipDirectory(source)
        #expect(
            directory.entries.map(\.name)
                == ["Payload/", "Payload/a.txt", "Payload/b.bin", "Payload/é.txt", "Payload/c"]
        )
        #expect(directory.entries.map(\.unixMode) == [0o40755, 0o100644, 0o100755, 0o100644, 0o120777])
        #expect(directory.entries.map(\.method) == [.stored, .deflated, .stored, .stored, .stored])
        #expect(directory.entries.map(\.isDirectory) == [true, false, false, false, false])
        #expect(directory.entries.map(\.isSymbolicLink) == [false, false, false, false, true])
        #expect(directory.comment == Array("hello".utf8))
        let inflater = Inflater()
        #expect(try inflater.contents(of: directory.entries[1], in: source) == Array(repeating: 0x61, count: 10_000))
        #expect(try directory.linkTarget(of: directory.entries[4], in: source) == "a.txt")
        try directory.checkLinks(in: source)
    }

    @Test(arguments: [false, true]) func `is read by unzip, zipinfo and python as it is here`(zip64: Bool) throws {
        let folder = try TemporaryFolder()
        var writer = ArchiveWriter(sink: MemorySink(source: MemorySource([])), source: nil, alwaysZip64: zip64)
        try writer.write(Self.sample().items, comment: Array("note".utf8))
        let path = try folder.write(writer.sink.bytes, to: "a.zip")
        let contents = try Surgery.read(writer.sink.bytes).get()

        if let unzip = Tool("unzip"), let zipinfo = Tool("zipinfo") {
            let test = try unzip.run(["-tqq", path])
            #expect(test.status == 0, "\(test.text)\(test.errors)")
            #expect(try unzip.run(["-p", path, "Payload/b.bin"]).output == contents["Payload/b.bin"])
            let lines = try zipinfo.run([path]).text.split(separator: "\n").filter { $0.contains("Payload/") }
            let kinds = lines.map { $0.prefix(10) }
            #expect(kinds == ["drwxr-xr-x", "-rw-r--r--", "-rwxr-xr-x", "-rw-r--r--", "lrwxrwxrwx"])
            #expect(lines.allSatisfy { $0.contains("26-Feb-03 04:05") })
        }
        let theirs = try python(
            """
            z = zipfile.ZipFile(sys.argv[1])
            assert z.testzip() is None
            for i in z.infolist():
                print(i.filename, i.compress_type, i.CRC, i.compress_size, i.file_size, i.header_offset, oct(i.external_attr >> 16))
            print(z.comment.decode())
            """,
            [path]
        )
        let ours = try ZipDirectory(MemorySource(writer.sink.bytes)).entries.map {
            "\($0.name) \($0.method.rawValue) \($0.crc32) \($0.compressedSize) \($0.uncompressedSize) "
                + "\($0.localHeaderOffset) 0o\(String($0.unixMode ?? 0, radix: 8))\n"
        }
        #expect(theirs == nil || theirs == ours.joined() + "note\n")
    }

    @Test func `may have more entries than 16 bits count`() throws {
        let folder = try TemporaryFolder()
        let encoded = Deflate.encode([1])
        let items = (0..<66_000).map {
            OutputItem.new(name: "d\($0 % 7)/\($0)", mode: 0o100644, encoded, modified: .earliest)
        }
        let path = folder.path("a.zip")
        let output = try OutputFile(path)
        try writeArchive(items, from: nil, to: output.descriptor, path: path)
        let directory = try ZipDirectory(try FileSource(path: path))
        #expect(directory.entries.count == 66_000)
        #expect(directory.entry(named: "d3/65999")?.index == 65_999)
        let count = try python("print(len(zipfile.ZipFile(sys.argv[1]).namelist()))", [path])
        #expect(count == nil || count == "66000\n")
    }

    @Test(arguments: ["../x", "/x", "a//b", "", "a/./b"]) func `takes no name that a reader would refuse`(name: String)
    {
        var builder = ZipBuilder()
        builder.addFile(name, [1])
        #expect(throws: ZipError.self) { try builder.bytes() }
    }

    @Test func `takes no name twice`() {
        var builder = ZipBuilder()
        builder.addFile("a", [1])
        builder.addFile("a", [2])
        let error = #expect(throws: ZipError.self) { try builder.bytes() }
        #expect(error?.message == "a: The archive to be written has this name twice.")
    }
}

/// A file open for writing, closed with the last reference.
final class OutputFile {
    let descriptor: Int32

    init(_ path: String, flags: Int32 = O_RDWR | O_CREAT | O_TRUNC) throws {
        descriptor = open(path, flags, 0o644)
        try #require(descriptor >= 0)
    }

    deinit {
        close(descriptor)
    }
}

@Suite struct `Writing to a file` {
    private struct Stop: Error {}

    /// An archive of 3 MB in a file.
    private static func source(in folder: TemporaryFolder) throws -> FileSource {
        var random = SeededGenerator(seed: 4)
        var builder = ZipBuilder()
        for index in 0..<12 {
            builder.addFile("Payload/\(index)", random.bytes(index % 3 == 0 ? 100 : 400_000))
        }
        return try FileSource(path: try folder.write(try builder.bytes(), to: "in.zip"))
    }

    @Test(arguments: [O_RDWR | O_CREAT | O_TRUNC, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND])
    func `copies everything as it was, with the kernel's help or without`(flags: Int32) throws {
        let folder = try TemporaryFolder()
        let source = try Self.source(in: folder)
        let directory = try ZipDirectory(source)
        let output = try OutputFile(folder.path("out.zip"), flags: flags)
        var told: [Int] = []
        let items = directory.entries.map { OutputItem.copy($0) }
        try writeArchive(items, from: source, to: output.descriptor, path: "out.zip") { told.append($0) }
        #expect(try folder.read("out.zip") == folder.read("in.zip"))
        #expect(told == told.sorted())
        #expect(told.last == source.count)
        #expect(items.reduce(0) { $0 + $1.byteCount } == directory.entries[11].extent.upperBound)
    }

    @Test func `says where there is no room`() throws {
        let folder = try TemporaryFolder()
        let source = try Self.source(in: folder)
        let output = try OutputFile("/dev/full", flags: O_WRONLY)
        let items = try ZipDirectory(source).entries.map { OutputItem.copy($0) }
        let error = #expect(throws: ZipError.self) {
            try writeArchive(items, from: source, to: output.descriptor, path: "out.ipa")
        }
        #expect(error?.code == .writeFailed)
        #expect(error?.message == "out.ipa: cannot write: No space left on device.")
        #expect(error?.remedy == "Make room on the disk, or choose another folder.")
        #expect(error?.cause?.errorNumber == ENOSPC)
    }

    @Test func `stops when it is told to`() throws {
        let folder = try TemporaryFolder()
        let source = try Self.source(in: folder)
        let output = try OutputFile(folder.path("out.zip"))
        let items = try ZipDirectory(source).entries.map { OutputItem.copy($0) }
        #expect(throws: Stop.self) {
            try writeArchive(items, from: source, to: output.descriptor, path: "out.zip") { _ in throw Stop() }
        }
    }

    @Test func `says where the source became shorter`() throws {
        let folder = try TemporaryFolder()
        let source = try Self.source(in: folder)
        let items = try ZipDirectory(source).entries.map { OutputItem.copy($0) }
        #expect(truncate(source.path, off_t(source.count / 2)) == 0)
        let output = try OutputFile(folder.path("out.zip"))
        let error = #expect(throws: ZipError.self) {
            try writeArchive(items, from: source, to: output.descriptor, path: "out.zip")
        }
        #expect(error?.code == .truncated)
    }
}
