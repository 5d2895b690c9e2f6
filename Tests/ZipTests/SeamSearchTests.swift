import CZlib
import FerryBytes
import FerryZip
import TestKit
import Testing

@Suite struct `A seam that is looked for from the end` {
    /// Unpacks with the seams for a cut; checks that the packed bytes come out as they went in.
    private func seams(_ archive: OneEntryArchive, cut: Int) throws -> (content: [UInt8], boundaries: [BlockBoundary]) {
        let original = Array(archive.bytes[archive.entry.dataRange])
        var packed = original
        var content = [UInt8](repeating: 0xAA, count: archive.entry.uncompressedSize + Inflater.seamRoom)
        let boundaries = try packed.withUnsafeMutableBytes { packed in
            try content.withUnsafeMutableBytes { content in
                try Inflater().inflateKeepingSeams(archive.entry, compressed: packed, into: content, cut: cut)
            }
        }
        #expect(isSame(packed, original))
        content.removeLast(Inflater.seamRoom)
        return (content, boundaries)
    }

    /// What zlib finds reading all blocks from the front.
    private func expected(_ boundaries: [BlockBoundary], cut: Int) -> BlockBoundary? {
        boundaries.last { $0.uncompressedOffset <= cut && $0.uncompressedOffset > 0 }
    }

    @Test(arguments: Packing.all)
    func `is the block that zlib finds from the front, whatever packed the entry`(packing: Packing) throws {
        for seed in UInt64(1)...3 {
            var random = SeededGenerator(seed: seed)
            let comment = Comment("\(packing), seed \(seed)")
            // A signature's hashes do not pack; what follows them does.
            let end = random.bytes(Int.random(in: 0...90_000, using: &random)) + [UInt8](repeating: 0, count: 9000)
            let old = random.code(1_100_000) + end
            let archive = try OneEntryArchive(packed: packing.pack(old), of: old)
            let (_, all) = try archive.boundaries()
            for cut in [old.count - end.count, old.count, Int.random(in: 1...old.count, using: &random), 1] {
                let (content, boundaries) = try seams(archive, cut: cut)
                #expect(isSame(content, old), comment)
                // Of blocks closer together than 512 bytes one stands for all, and it need not be the same.
                let (wanted, found) = (expected(all, cut: cut), expected(boundaries, cut: cut))
                #expect((wanted == nil) == (found == nil), comment)
                guard let wanted, let found else { continue }
                #expect(wanted.uncompressedOffset - found.uncompressedOffset <= 512, comment)

                let tail = random.bytes(3000)
                let new = Array(old[..<cut]) + tail
                let splice = old[..<cut].withUnsafeBytes {
                    DeflateSplice(entry: archive.entry, boundaries: boundaries, content: $0, changedPrefix: 0)
                }
                let encoded = try #require(try splice?.finish(tail: tail), comment)
                let packed = encoded.packed(original: archive.bytes)
                #expect(encoded.crc32 == zlibCRC(new), comment)
                #expect(isSame(unpackWithZlib(packed, count: new.count), new), comment)
                #expect(isSame(unpackWithLibdeflate(packed, count: new.count), new), comment)
            }
        }
    }

    @Test func `needs no look at all blocks where the packer is a usual one`() throws {
        var random = SeededGenerator(seed: 4)
        let old = random.code(3_000_000) + random.bytes(60_000)
        for packing in [Packing.zlib(level: 6, strategy: 0), .zlib(level: 9, strategy: 0), .libdeflate(level: 6)] {
            let archive = try OneEntryArchive(packed: packing.pack(old), of: old)
            #expect(try seams(archive, cut: 3_000_000).boundaries.count == 1, "\(packing)")
            #expect(try archive.boundaries().boundaries.count > 10, "\(packing)")
        }
    }

    @Test(arguments: 0..<8, [0, 1, 700])
    func `is not one that only looks like it`(phase: Int, before: Int) throws {
        // A stored block holds what looks like blocks up to the stream's end: whoever begins there reads on to the end.
        var random = SeededGenerator(seed: UInt64(phase))
        let front = random.code(1_200_000)
        let bait = random.code(40_000)
        let parts = [random.bytes(60_000), random.bytes(60_000), random.bytes(before) + open(bait, phase: phase)]
        var packed = open(front, phase: 0)
        for stored in parts {
            try #require(stored.count < 65536)
            // BFINAL 0, BTYPE 00, the length and its complement.
            let (low, high) = (UInt8(stored.count & 255), UInt8(stored.count >> 8))
            packed += [0, low, high, ~low, ~high] + stored
        }
        let stored = Array(parts.joined())
        // The last block, for both readings.
        let tail = random.bytes(20_000)
        packed += Packing.zlib(level: 6, strategy: 0).pack(tail)
        let content = front + stored + tail
        try #require(isSame(unpackWithZlib(packed, count: content.count), content))

        let archive = try OneEntryArchive(packed: packed, of: content)
        // Where the real blocks begin again, both readings agree.
        let cut = front.count + stored.count - 10
        let (found, boundaries) = try seams(archive, cut: cut)
        #expect(isSame(found, content))
        let real = try archive.boundaries().boundaries
        let seam = try #require(expected(boundaries, cut: cut))
        #expect(real.contains(seam), "seed \(phase)")
    }

    /// Blocks of which none is the last, that begin at a bit of their first byte and end with a byte.
    private func open(_ bytes: [UInt8], phase: Int) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(&stream, 6, Z_DEFLATED, -15, 8, 0, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        if phase > 0 { deflatePrime(&stream, Int32(phase), 0) }
        var input = bytes
        var packed = [UInt8](repeating: 0, count: bytes.count + 4096)
        let room = packed.count
        packed.withUnsafeMutableBufferPointer { packed in
            input.withUnsafeMutableBufferPointer { input in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = packed.baseAddress
                stream.avail_out = UInt32(room)
                _ = deflate(&stream, Z_SYNC_FLUSH)
            }
        }
        return Array(packed[..<(room - Int(stream.avail_out))])
    }

    @Test func `finds damage wherever it is`() throws {
        var random = SeededGenerator(seed: 9)
        let old = random.code(1_500_000) + random.bytes(50_000)
        let archive = try OneEntryArchive(packed: Packing.zlib(level: 6, strategy: 0).pack(old), of: old)
        let range = archive.entry.dataRange
        for _ in 0..<60 {
            var bytes = archive.bytes
            // Often near the end, where the guess is made.
            let reach = Bool.random(using: &random) ? range.count : 90_000
            let place = Int.random(in: range.upperBound - reach..<range.upperBound - 1, using: &random)
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            var packed = Array(bytes[range])
            let wasThere = packed
            var content = [UInt8](repeating: 0, count: old.count + Inflater.seamRoom)
            #expect(throws: ZipError.self, "a bit at \(place - range.lowerBound), seed 9") {
                try packed.withUnsafeMutableBytes { packed in
                    try content.withUnsafeMutableBytes { content in
                        _ = try Inflater().inflateKeepingSeams(
                            archive.entry,
                            compressed: packed,
                            into: content,
                            cut: 1_500_000
                        )
                    }
                }
            }
            #expect(isSame(packed, wasThere))
        }
    }
}
