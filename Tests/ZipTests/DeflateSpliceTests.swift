import FerryBytes
import FerryZip
import Foundation
import TestKit
import Testing

@Suite struct `A deflate splice` {
    @Test(arguments: Packing.all)
    func `unpacks to the new bytes, whatever packed the old ones`(packing: Packing) throws {
        for seed in UInt64(1)...6 {
            var random = SeededGenerator(seed: seed)
            let comment = Comment("\(packing), seed \(seed)")
            let longest = "\(packing)" == "zlib level 6 strategy 0" ? 2_000_000 : 400_000
            let count = [0, 1, 40_000, 110_000, 200_000, longest][Int(seed) - 1]
            let old = random.code(count)
            let archive = try OneEntryArchive(packed: packing.pack(old), of: old)
            let (content, boundaries) = try archive.boundaries()
            try #require(isSame(content, old), comment)

            let cut = Int.random(in: 0...count, using: &random)
            for (changed, cut) in [(0, cut), (4096, count), (Int.random(in: 0...count / 4 + 1, using: &random), cut)] {
                var new = Array(old[..<cut])
                for index in stride(from: 0, to: min(changed, cut), by: 1 + changed / 1000) {
                    new[index] = UInt8.random(in: 0...255, using: &random)
                }
                let tail = random.bytes(Int.random(in: 0...20_000, using: &random))
                let splice = new.withUnsafeBytes {
                    DeflateSplice(entry: archive.entry, boundaries: boundaries, content: $0, changedPrefix: changed)
                }
                let seam = boundaries.last { $0.uncompressedOffset <= cut }?.uncompressedOffset ?? 0
                let first = boundaries.first { $0.uncompressedOffset >= changed + 32768 }?.uncompressedOffset ?? .max
                #expect((splice != nil) == (seam > 0 && (changed == 0 || first < seam)), comment)
                guard let splice else { continue }
                let encoded = try splice.finish(tail: tail)
                check(encoded, original: archive.bytes, unpacksTo: new + tail, comment)
                #expect((splice.end == nil) == (changed > 0), comment)
                guard let end = splice.end else { continue }
                try checkEnd(encoded, original: archive.bytes, end, (new + tail)[seam...], &random, comment)
            }
        }
    }

    /// What follows the seam can be unpacked alone, and damage in it is found.
    private func checkEnd(
        _ encoded: EncodedEntry,
        original: [UInt8],
        _ seam: EntrySeam,
        _ expected: ArraySlice<UInt8>,
        _ random: inout SeededGenerator,
        _ comment: Comment
    ) throws {
        var builder = ZipBuilder()
        let packed = EncodedEntry(
            method: .deflated,
            crc32: encoded.crc32,
            uncompressedSize: encoded.uncompressedSize,
            pieces: [.bytes(encoded.packed(original: original))]
        )
        builder.add("entry", 0o100644, packed)
        var bytes = try builder.bytes()
        let entry = try ZipDirectory(MemorySource(bytes)).entries[0]
        #expect(seam.uncompressedOffset == expected.startIndex, comment)
        #expect(try Inflater().end(of: entry, after: seam, in: MemorySource(bytes)).elementsEqual(expected), comment)
        // The bits below the seam in its own byte belong to what is not read.
        let first = entry.dataOffset + seam.packedOffset + 1
        let place = Int.random(in: first..<entry.dataOffset + entry.compressedSize, using: &random)
        bytes[place] ^= 0x10
        // What fills the last byte up means nothing.
        guard place < entry.dataOffset + entry.compressedSize - 1 else { return }
        #expect(throws: ZipError.self, comment) {
            try Inflater().end(of: entry, after: seam, in: MemorySource(bytes))
        }
    }

    private func check(_ encoded: EncodedEntry, original: [UInt8], unpacksTo expected: [UInt8], _ comment: Comment) {
        let packed = encoded.packed(original: original)
        #expect(encoded.crc32 == zlibCRC(expected), comment)
        #expect(encoded.uncompressedSize == expected.count, comment)
        #expect(encoded.compressedSize == packed.count, comment)
        #expect(isSame(unpackWithZlib(packed, count: expected.count), expected), comment)
        #expect(isSame(unpackWithLibdeflate(packed, count: expected.count), expected), comment)
    }

    @Test func `works at every cut around a boundary`() throws {
        var random = SeededGenerator(seed: 7)
        let old = random.code(90_000)
        let archive = try OneEntryArchive(packed: Packing.flushed(every: 9000, flush: 5).pack(old), of: old)
        let (_, boundaries) = try archive.boundaries()
        #expect(Set(boundaries.map(\.phase)).count > 3, "boundaries at many bits of a byte")
        for boundary in boundaries.dropFirst() {
            for cut in boundary.uncompressedOffset - 1...boundary.uncompressedOffset + 1 where cut <= old.count {
                let splice = old[..<cut].withUnsafeBytes {
                    DeflateSplice(entry: archive.entry, boundaries: boundaries, content: $0, changedPrefix: 0)
                }
                guard let encoded = try splice?.finish(tail: [1, 2, 3]) else { continue }
                check(encoded, original: archive.bytes, unpacksTo: old[..<cut] + [1, 2, 3], "cut \(cut), seed 7")
            }
        }
    }

    @Test func `brings the head to every bit of a byte`() throws {
        var phases: Set<Int> = []
        for seed in UInt64(1)...40 where phases.count < 8 {
            var random = SeededGenerator(seed: seed)
            let old = random.code(120_000)
            let archive = try OneEntryArchive(packed: Packing.flushed(every: 34_000, flush: 5).pack(old), of: old)
            let (_, boundaries) = try archive.boundaries()
            let new = [9, 9, 9] + old[3...]
            let splice = new.withUnsafeBytes {
                DeflateSplice(entry: archive.entry, boundaries: boundaries, content: $0, changedPrefix: 3)
            }
            let encoded = try #require(try splice?.finish(tail: [5]))
            check(encoded, original: archive.bytes, unpacksTo: new + [5], "seed \(seed)")
            let first = try #require(boundaries.first { $0.uncompressedOffset >= 3 + 32768 })
            phases.insert(first.phase)
            if let unzip = Tool("unzip") {
                let folder = try TemporaryFolder()
                let source = MemorySource(archive.bytes)
                let output = try archiveBytes([.replace(archive.entry, encoded)], from: source)
                let path = try folder.write(output, to: "a.zip")
                let result = try unzip.run(["-p", path])
                #expect(result.status == 0, "seed \(seed): \(result.errors)")
                #expect(isSame(result.output, new + [5]), "seed \(seed)")
            }
        }
        #expect(phases == Set(0..<8))
    }

    @Test func `packs the head up to the first boundary that no old byte is seen from`() throws {
        var random = SeededGenerator(seed: 8)
        let old = random.code(150_000)
        let archive = try OneEntryArchive(packed: Packing.flushed(every: 9000, flush: 5).pack(old), of: old)
        let (_, boundaries) = try archive.boundaries()
        for (index, boundary) in boundaries.enumerated().dropLast(2) where boundary.uncompressedOffset > 32768 {
            for (beyond, expected) in [(0, boundary), (1, boundaries[index + 1])] {
                let changed = boundary.uncompressedOffset - 32768 + beyond
                let splice = old.withUnsafeBytes {
                    DeflateSplice(entry: archive.entry, boundaries: boundaries, content: $0, changedPrefix: changed)
                }
                let starts = try splice?.finish(tail: []).pieces.compactMap { piece in
                    if case .original(let range) = piece { range.lowerBound - archive.entry.dataOffset } else { nil }
                }
                #expect(starts == [(expected.compressedBit + 7) / 8])
            }
        }
    }

    @Test func `keeps most of the old bytes as they lie`() throws {
        var random = SeededGenerator(seed: 3)
        let old = random.code(1_000_000)
        let archive = try OneEntryArchive(packed: Packing.zlib(level: 9, strategy: 0).pack(old), of: old)
        let (_, boundaries) = try archive.boundaries()
        let splice = old.dropLast(20_000).withUnsafeBytes {
            DeflateSplice(entry: archive.entry, boundaries: boundaries, content: $0, changedPrefix: 4096)
        }
        let encoded = try #require(try splice?.finish(tail: Array(old.suffix(20_000))))
        let kept = encoded.pieces.reduce(0) { sum, piece in
            if case .original(let range) = piece { sum + range.count } else { sum }
        }
        #expect(kept > archive.entry.compressedSize / 2)
        #expect(encoded.compressedSize < archive.entry.compressedSize + archive.entry.compressedSize / 50)
    }

    @Test func `is not made of a stored entry`() throws {
        var builder = ZipBuilder()
        builder.addFile("a", Array(0...255), level: 0)
        let entry = try ZipDirectory(MemorySource(try builder.bytes())).entries[0]
        let splice = Array(UInt8(0)...200).withUnsafeBytes {
            DeflateSplice(entry: entry, boundaries: [], content: $0, changedPrefix: 0)
        }
        #expect(splice == nil)
    }
}

@Suite struct `A deflate prefix` {
    @Test(arguments: [[], [0], [1], [100_000], [1 << 20, 1 << 20, 5], [300, 0, 70_000]] as [[Int]], [0, 1, 30_000])
    func `unpacks to its chunks and its tail`(counts: [Int], tailBytes: Int) throws {
        var random = SeededGenerator(seed: UInt64(counts.count + tailBytes))
        for isRandom in [false, true] {
            let contents = counts.map { isRandom ? random.bytes($0) : random.code($0) }
            let tail = random.bytes(tailBytes)
            let chunks = contents.map { content in content.withUnsafeBytes { DeflatePrefix.encodeChunk($0, level: 6) } }
            let encoded = DeflatePrefix(chunks: chunks).finish(tail: tail)
            let expected = contents.flatMap(\.self) + tail
            let packed = encoded.packed()
            #expect(encoded.crc32 == zlibCRC(expected))
            #expect(encoded.uncompressedSize == expected.count)
            #expect(isSame(unpackWithZlib(packed, count: expected.count), expected))
            #expect(isSame(unpackWithLibdeflate(packed, count: expected.count), expected))
        }
    }

    @Test(arguments: Array(1...12)) func `ends each chunk with a byte at every level`(level: Int) throws {
        for seed in UInt64(0)..<12 {
            var random = SeededGenerator(seed: seed)
            let content = random.code(Int.random(in: 0...30_000, using: &random))
            let chunk = content.withUnsafeBytes { DeflatePrefix.encodeChunk($0, level: level) }
            let encoded = DeflatePrefix(chunks: [chunk, chunk], level: level).finish(tail: [7])
            let expected = content + content + [7]
            #expect(isSame(unpackWithZlib(encoded.packed(), count: expected.count), expected), "seed \(seed)")
        }
    }
}
