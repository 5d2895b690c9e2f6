import FerryBytes
import FerryZip
import Foundation
import TestKit
import Testing

@Suite struct `Rewriting an archive` {
    /// Who made an archive, and how.
    enum Maker: Sendable, CaseIterable {
        case infoZip
        /// With extra fields for times and owners.
        case infoZipWithTimes
        case infoZipStored
        case infoZipWithZip64
        /// Python's `zipfile` into a pipe: data descriptors.
        case pythonStreaming

        fileprivate var options: [String] {
            switch self {
            case .infoZip: ["-X"]
            case .infoZipWithTimes, .pythonStreaming: []
            case .infoZipStored: ["-X", "-0"]
            case .infoZipWithZip64: ["-X", "-fz"]
            }
        }
    }

    /// Python that packs the archive `a.zip` again as `b.zip`, as it would write into a pipe.
    private static let streaming = """
        class Pipe:
            def __init__(self, f): self.f = f
            def write(self, b): return self.f.write(b)
            def flush(self): pass
        z = zipfile.ZipFile(sys.argv[1] + '/a.zip')
        o = zipfile.ZipFile(Pipe(open(sys.argv[1] + '/b.zip', 'wb')), 'w', zipfile.ZIP_DEFLATED)
        for i in z.infolist():
            b = z.read(i)
            if not i.flag_bits & 0x800: i.filename = i.filename.encode('cp437').decode()
            o.writestr(i, b)
        o.close()
        """

    /// An archive with a folder, files, an empty one, a name that is not ASCII, and a link.
    private func made(by maker: Maker) throws -> FileSource? {
        guard let zip = Tool("zip") else { return nil }
        let folder = try TemporaryFolder()
        try folder.write(Array(repeating: 0x61, count: 50_000), to: "Payload/A.app/A")
        try folder.write(Array("hello".utf8), to: "Payload/A.app/b c.txt")
        try folder.write([], to: "Payload/A.app/empty")
        try folder.write(Array("日本".utf8), to: "Payload/A.app/データ.txt")
        try FileManager.default.createSymbolicLink(atPath: folder.path("Payload/A.app/l"), withDestinationPath: "A")
        let made = try zip.run(["-q", "-r", "-y"] + maker.options + ["a.zip", "Payload"], in: folder.path)
        try #require(made.status == 0, "\(made.text)\(made.errors)")
        guard maker == .pythonStreaming else { return try FileSource(path: folder.path("a.zip")) }
        guard try python(Self.streaming, [folder.path]) != nil else { return nil }
        return try FileSource(path: folder.path("b.zip"))
    }

    /// What `zipinfo -v` says, without the offsets.
    private func details(_ bytes: [UInt8]) throws -> [String] {
        guard let zipinfo = Tool("zipinfo") else { return [] }
        let folder = try TemporaryFolder()
        let result = try zipinfo.run(["-v", try folder.write(bytes, to: "a.zip")])
        #expect(result.status == 0, "\(result.errors)")
        return result.text.split(separator: "\n").map(String.init).filter {
            !$0.contains("offset of local header") && !$0.contains("a.zip")
        }
    }

    private func expectSound(_ bytes: [UInt8]) throws {
        guard let unzip = Tool("unzip") else { return }
        let folder = try TemporaryFolder()
        let result = try unzip.run(["-tqq", try folder.write(bytes, to: "a.zip")])
        #expect(result.status == 0, "\(result.text)\(result.errors)")
        #expect(try python("assert zipfile.ZipFile(sys.argv[1]).testzip() is None", [folder.path("a.zip")]) != "no")
    }

    @Test(arguments: Maker.allCases)
    func `keeps each entry and its record as they are`(maker: Maker) throws {
        guard let source = try made(by: maker) else { return }
        let directory = try ZipDirectory(source)
        let whole = try source.bytes(at: 0, count: source.count)
        #expect(directory.entries.contains { $0.hasDataDescriptor } == (maker == .pythonStreaming))
        #expect(directory.entries.count == 7)
        #expect(directory.entries.map(\.name).contains("Payload/A.app/データ.txt"))
        #expect(try directory.linkTarget(of: #require(directory.entry(named: "Payload/A.app/l")), in: source) == "A")

        let same = try archiveBytes(directory.entries.map { .copy($0) }, from: source, comment: directory.comment)
        // zip64 numbers that are not needed are written back as plain ones.
        if maker != .infoZipWithZip64 {
            #expect(same == whole)
        }
        let turned = try archiveBytes(directory.entries.reversed().map { .copy($0) }, from: source)
        try expectSound(turned)
        #expect(try Surgery.read(turned).get() == Surgery.read(whole).get())
        #expect(try Surgery.read(same).get() == Surgery.read(whole).get())
    }

    @Test(arguments: Maker.allCases)
    func `replaces contents, and nothing else`(maker: Maker) throws {
        guard let source = try made(by: maker) else { return }
        let directory = try ZipDirectory(source)
        let new = Array(repeating: UInt8(0x62), count: 60_000)
        let output = try archiveBytes(
            directory.entries.map {
                $0.name.hasSuffix("A.app/A") ? .replace($0, Deflate.encode(new)) : .copy($0)
            },
            from: source
        )
        try expectSound(output)
        var expected = try Surgery.read(try source.bytes(at: 0, count: source.count)).get()
        expected["Payload/A.app/A"] = new
        #expect(try Surgery.read(output).get() == expected)

        let entries = try ZipDirectory(MemorySource(output)).entries
        #expect(entries.map(\.name) == directory.entries.map(\.name))
        #expect(entries.map(\.unixMode) == directory.entries.map(\.unixMode))
        #expect(entries.map(\.modified) == directory.entries.map(\.modified))
        let before = try details(try source.bytes(at: 0, count: source.count))
        let after = try details(output)
        if maker == .infoZipWithTimes {
            // Times and owners, told for each of the 7 entries.
            let extra = { (lines: [String]) in lines.filter { $0.contains("extra field") || $0.contains("UID") } }
            #expect(extra(before) == extra(after))
            #expect(extra(after).count >= 14)
        }
    }

    @Test func `gives another mode to a copied and to a replaced entry`() throws {
        var archive = try Surgery.sample()
        for index in 0...1 {
            archive.set16(20, at: archive.central[index] + 4)
            archive.set32(0x21, at: archive.central[index] + Surgery.Field.centralAttributes)
        }
        let source = MemorySource(archive.bytes)
        let entries = try ZipDirectory(source).entries
        #expect(entries.map(\.unixMode) == [nil, nil])
        let output = try archiveBytes(
            [.copy(entries[0], mode: 0o100755), .replace(entries[1], Deflate.encode([1]), mode: 0o100600)],
            from: source
        )
        #expect(try ZipDirectory(MemorySource(output)).entries.map(\.unixMode) == [0o100755, 0o100600])
        try expectSound(output)
        guard let zipinfo = Tool("zipinfo") else { return }
        let folder = try TemporaryFolder()
        let lines = try zipinfo.run([try folder.write(output, to: "a.zip")]).text.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("-rwxr-xr-x  2.0 unx") })
        #expect(lines.contains { $0.hasPrefix("-rw-------  2.0 unx") })
    }

    @Test func `takes bits of a mode away too`() throws {
        var builder = ZipBuilder()
        builder.addFile("a", [1], mode: 0o777)
        builder.addFile("b", [1], mode: 0o777)
        let source = MemorySource(try builder.bytes())
        let entries = try ZipDirectory(source).entries
        let output = try archiveBytes(
            [.copy(entries[0], mode: 0o100600), .replace(entries[1], Deflate.encode([1]), mode: 0o100444)],
            from: source
        )
        #expect(try ZipDirectory(MemorySource(output)).entries.map(\.unixMode) == [0o100600, 0o100444])
    }

    @Test func `leaves out what lies between entries`() throws {
        let archive = try Surgery.sample()
        let gap = Array("PK\u{3}\u{4} something hidden".utf8)
        var bytes = archive.bytes
        bytes.insert(contentsOf: gap, at: archive.local[1])
        bytes.store(UInt32(archive.local[1] + gap.count), at: archive.central[1] + gap.count + 42, .little)
        let directoryOffset = UInt32(archive.central[0] + gap.count)
        bytes.store(directoryOffset, at: archive.end + gap.count + 16, .little)
        let source = MemorySource(bytes)
        let directory = try ZipDirectory(source)
        #expect(directory.entries[0].extent == 0..<archive.local[1] + gap.count)
        #expect(try archiveBytes(directory.entries.map { .copy($0) }, from: source) == archive.bytes)
    }

    /// The four forms of APPNOTE §4.3.9: a signature or none, sizes of 4 bytes or 8.
    @Test(arguments: [false, true], [false, true])
    func `takes data descriptors along`(hasSignature: Bool, isWide: Bool) throws {
        let archive = try Surgery.sample()
        let entry = try ZipDirectory(MemorySource(archive.bytes)).entries[0]
        var descriptor: [UInt8] = []
        if hasSignature { descriptor.append(UInt32(0x0807_4B50), .little) }
        descriptor.append(entry.crc32, .little)
        for size in [entry.compressedSize, entry.uncompressedSize] {
            if isWide { descriptor.append(UInt64(size), .little) } else { descriptor.append(UInt32(size), .little) }
        }
        var bytes = archive.bytes
        bytes.store(UInt16(8), at: 6, .little)
        for field in [14, 18, 22] {
            bytes.store(UInt32(0), at: field, .little)
        }
        bytes.store(UInt16(8), at: archive.central[0] + 8, .little)
        bytes.store(UInt32(archive.local[1] + descriptor.count), at: archive.central[1] + 42, .little)
        bytes.store(UInt32(archive.central[0] + descriptor.count), at: archive.end + 16, .little)
        bytes.insert(contentsOf: descriptor, at: archive.local[1])
        let source = MemorySource(bytes)
        let entries = try ZipDirectory(source).entries
        #expect(entries.map(\.hasDataDescriptor) == [true, false])
        let output = try archiveBytes([.copy(entries[1]), .copy(entries[0])], from: source)
        #expect(try Surgery.read(output).get() == Surgery.read(archive.bytes).get())
        let replaced = try archiveBytes([.replace(entries[0], Deflate.encode([1])), .copy(entries[1])], from: source)
        #expect(try ZipDirectory(MemorySource(replaced)).entries.map(\.hasDataDescriptor) == [false, false])
    }

    @Test func `reads zip64 as python writes it`() throws {
        let folder = try TemporaryFolder()
        let made = try python(
            """
            z = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED)
            with z.open('Payload/large', 'w', force_zip64=True) as f: f.write(b'a' * 5000)
            z.writestr('Payload/small', b'b')
            z.close()
            """,
            [folder.path("a.zip")]
        )
        guard made != nil else { return }
        let bytes = try folder.read("a.zip")
        #expect(try Surgery.read(bytes).get().mapValues(\.count) == ["Payload/large": 5000, "Payload/small": 1])
    }
}
