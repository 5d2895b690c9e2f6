import FerryBytes
import Foundation
import TestKit
import Testing

@testable import FerryZip

/// Writes an archive into a file with a hole where the source has one, so that 4 GiB of zeros take no time and no room.
private struct SparseSink: ArchiveSink {
    let source: FileSource
    let hole: Range<Int>
    let file: FileHandle
    private var offset = 0

    init(source: FileSource, hole: Range<Int>, file: FileHandle) {
        self.source = source
        self.hole = hole
        self.file = file
    }

    mutating func write(_ bytes: [UInt8]) throws {
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data(bytes))
        offset += bytes.count
    }

    mutating func copy(_ range: Range<Int>) throws {
        let skipped = range.overlaps(hole) ? range.clamped(to: hole) : range.upperBound..<range.upperBound
        try write(source.bytes(at: range.lowerBound, count: skipped.lowerBound - range.lowerBound))
        offset += skipped.count
        try write(source.bytes(at: skipped.upperBound, count: range.upperBound - skipped.upperBound))
    }

    func finish() {}
}

@Suite(.enabled(if: Tool("python3") != nil, "python3 is missing")) struct `An archive past 4 GiB` {
    /// How long the entry of zeros is.
    private static let length = (4 << 30) + 5_000_000

    /// Python that packs a small entry, one of zeros whose checksum nobody asks for, and two small ones.
    private static let maker = """
        class Sparse:
            def __init__(self, f): self.f = f
            def write(self, b): return self.f.seek(len(b), 1) if len(b) > 1 << 16 else self.f.write(b)
            def __getattr__(self, name): return getattr(self.f, name)
        z = zipfile.ZipFile(Sparse(open(sys.argv[1], 'w+b')), 'w')
        z.writestr('Payload/first', b'one')
        checksum, zipfile.crc32 = zipfile.crc32, lambda data, value=0: 0
        with z.open('Payload/zeros', 'w', force_zip64=True) as f:
            rest, block = int(sys.argv[2]), bytes(5_000_000)
            while rest:
                f.write(block[:rest])
                rest -= min(rest, len(block))
        zipfile.crc32 = checksum
        z.writestr('Payload/second', b'two')
        z.writestr('Payload/third', b'three')
        z.close()
        """

    @Test func `keeps what lies there and behind, as python reads it`() async throws {
        let facts = try await onThread {
            let folder = try TemporaryFolder()
            _ = try python(Self.maker, [folder.path("in.zip"), "\(Self.length)"])
            let source = try FileSource(path: folder.path("in.zip"))
            let directory = try ZipDirectory(source)
            let entries = directory.entries
            #expect(entries.map(\.uncompressedSize) == [3, Self.length, 3, 5])
            #expect(entries[2].localHeaderOffset > Self.length)
            #expect(try Inflater().contents(of: entries[3], in: source) == Array("three".utf8))

            #expect(FileManager.default.createFile(atPath: folder.path("out.zip"), contents: nil))
            let file = try #require(FileHandle(forUpdatingAtPath: folder.path("out.zip")))
            let hole = entries[1].dataRange
            var writer = ArchiveWriter(sink: SparseSink(source: source, hole: hole, file: file), source: source)
            let items: [OutputItem] = [
                .copy(entries[3]), .copy(entries[1]), .replace(entries[2], Deflate.encode(Array("2".utf8))),
                .copy(entries[0]),
            ]
            try writer.write(items, comment: [])
            try file.close()
            return try python(
                """
                z = zipfile.ZipFile(sys.argv[1])
                print([(i.filename, i.file_size, i.header_offset > 1 << 32) for i in z.infolist()])
                print([z.read('Payload/' + name).decode() for name in ['first', 'second', 'third']])
                """,
                [folder.path("out.zip")]
            )
        }
        #expect(
            facts == """
                [('Payload/third', 5, False), ('Payload/zeros', \(Self.length), False), \
                ('Payload/second', 1, True), ('Payload/first', 3, True)]
                ['one', '2', 'three']

                """
        )
    }
}
