import CZlib
import FerryBytes
import FerryZip
import TestKit
import Testing

@Suite struct `An inflater` {
    private struct Stop: Error {}

    private static let large: [UInt8] = {
        var random = SeededGenerator(seed: 11)
        let part = random.code(700_000)
        return Array(repeating: part, count: 7).reduce(into: [1, 2, 3]) { $0 += $1 }
    }()

    private func pieces(of entry: ZipEntry, in bytes: [UInt8]) throws -> (bytes: [UInt8], longest: Int) {
        var result: [UInt8] = []
        var longest = 0
        try Inflater().read(entry, in: MemorySource(bytes)) {
            result.append(contentsOf: $0)
            longest = max(longest, $0.count)
        }
        return (result, longest)
    }

    @Test func `unpacks a large entry in small pieces`() throws {
        let large = Self.large
        var builder = ZipBuilder()
        builder.addFile("deflated", large)
        builder.addFile("stored", large, level: 0)
        let archive = try builder.bytes()
        for entry in try ZipDirectory(MemorySource(archive)).entries {
            let (bytes, longest) = try pieces(of: entry, in: archive)
            #expect(isSame(bytes, large))
            #expect(longest <= 256 << 10)
            #expect(isSame(try Inflater().contents(of: entry, in: MemorySource(archive)), large))
        }
    }

    @Test(arguments: Packing.all) func `reads what every packer wrote`(packing: Packing) throws {
        var random = SeededGenerator(seed: 5)
        let inflater = Inflater()
        for content in [[], [7], random.code(30_000), random.bytes(5000)] {
            let archive = try OneEntryArchive(packed: packing.pack(content), of: content)
            #expect(isSame(try inflater.contents(of: archive.entry, in: MemorySource(archive.bytes)), content))
            #expect(isSame(try archive.boundaries().content, content))
        }
    }

    @Test func `finds damage in every way of reading`() throws {
        let content = Self.large
        var archive = try OneEntryArchive(packed: Packing.libdeflate(level: 1).pack(content), of: content)
        let entry = archive.entry
        let packed = Array(archive.bytes[entry.dataRange])
        func codes(_ packed: [UInt8]) -> [ZipError.Code?] {
            var bytes = archive.bytes
            bytes.replaceSubrange(entry.dataRange, with: packed)
            let source = MemorySource(bytes)
            var output = [UInt8](repeating: 0, count: entry.uncompressedSize)
            var codes: [ZipError.Code?] = []
            func note(_ body: () throws -> Void) {
                do {
                    try body()
                    codes.append(nil)
                } catch {
                    codes.append((error as? ZipError)?.code)
                }
            }
            note { try Inflater().read(entry, in: source) { _ in } }
            note { _ = try Inflater().contents(of: entry, in: source) }
            note {
                _ = try output.withUnsafeMutableBytes { output in
                    try packed.withUnsafeBytes {
                        try Inflater().inflateRecordingBlocks(entry, compressed: $0, into: output)
                    }
                }
            }
            return codes
        }
        #expect(codes(packed) == [nil, nil, nil])

        var random = SeededGenerator(seed: 2)
        for _ in 0..<4 {
            var damaged = packed
            damaged[Int.random(in: 0..<damaged.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            #expect(!codes(damaged).contains(nil))
        }
        // The first block declared the last: bytes that nobody reads, where something could hide.
        let short = Packing.libdeflate(level: 1).pack(Array(content.prefix(1000)))
        #expect(codes(short + packed.dropFirst(short.count)) == [.sizeMismatch, .sizeMismatch, .sizeMismatch])
        archive = try OneEntryArchive(packed: packed + [0], of: content)
        #expect(failure(Surgery.read(archive.bytes))?.code == .sizeMismatch)
        archive = try OneEntryArchive(packed: packed.dropLast(), of: content)
        #expect(failure(Surgery.read(archive.bytes))?.code == .sizeMismatch)
    }

    @Test func `needs no memory for packed bytes that unpack to nothing`() throws {
        // Empty stored blocks, then an empty last one.
        let empty: [UInt8] = [0, 0, 0, 0xFF, 0xFF]
        let packed = Array(repeating: empty, count: 60_000).flatMap(\.self) + [1, 0, 0, 0xFF, 0xFF]
        let archive = try OneEntryArchive(packed: packed, of: [])
        #expect(try Inflater().contents(of: archive.entry, in: MemorySource(archive.bytes)) == [])
        #expect(try archive.boundaries().boundaries.count == 1)
    }

    @Test func `lets through what its caller throws`() throws {
        var builder = ZipBuilder()
        builder.addFile("large", Self.large)
        builder.addFile("small", [1, 2, 3])
        let source = MemorySource(try builder.bytes())
        for entry in try ZipDirectory(source).entries {
            #expect(throws: Stop.self) { try Inflater().read(entry, in: source) { _ in throw Stop() } }
        }
    }

    @Test func `refuses buffers of another size`() throws {
        let archive = try OneEntryArchive(packed: Packing.libdeflate(level: 6).pack([1, 2, 3]), of: [1, 2, 3])
        var output = [UInt8](repeating: 0, count: 2)
        let error = #expect(throws: ZipError.self) {
            try output.withUnsafeMutableBytes { output in
                try Array(archive.bytes[archive.entry.dataRange]).withUnsafeBytes {
                    try Inflater().inflate(archive.entry, compressed: $0, into: output)
                }
            }
        }
        #expect(error?.message == "Payload/A.app/A: The entry has 8 bytes packed and 3 unpacked, not 8 and 2.")
    }

    @Test(arguments: Packing.all) func `tells where blocks begin: zlib can go on from there`(packing: Packing) throws {
        var random = SeededGenerator(seed: 9)
        let content = random.code(150_000)
        let packed = packing.pack(content)
        let boundaries = try OneEntryArchive(packed: packed, of: content).boundaries().boundaries
        #expect(boundaries.first == boundaries.min { $0.compressedBit < $1.compressedBit })
        #expect(boundaries.first?.compressedBit == 0)
        for boundary in boundaries.prefix(8) + boundaries.suffix(2) {
            var stream = z_stream()
            inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
            defer { inflateEnd(&stream) }
            var dictionary = Array(content[..<boundary.uncompressedOffset].suffix(32768))
            if !dictionary.isEmpty {
                #expect(inflateSetDictionary(&stream, &dictionary, UInt32(dictionary.count)) == Z_OK)
            }
            var start = boundary.compressedBit / 8
            if boundary.phase > 0 {
                #expect(packed[start] == boundary.sharedByte)
                inflatePrime(&stream, Int32(8 - boundary.phase), Int32(packed[start] >> UInt8(boundary.phase)))
                start += 1
            }
            var input = Array(packed[start...])
            var output = [UInt8](repeating: 0, count: content.count - boundary.uncompressedOffset + 1)
            let result = input.withUnsafeMutableBufferPointer { input in
                output.withUnsafeMutableBufferPointer { output in
                    stream.next_in = input.baseAddress
                    stream.avail_in = UInt32(input.count)
                    stream.next_out = output.baseAddress
                    stream.avail_out = UInt32(output.count)
                    return inflate(&stream, Z_FINISH)
                }
            }
            #expect(result == Z_STREAM_END)
            #expect(isSame(output.dropLast(), Array(content[boundary.uncompressedOffset...])))
        }
    }
}
