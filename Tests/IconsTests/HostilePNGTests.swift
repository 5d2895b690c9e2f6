import CZlib
import FerryBytes
import Foundation
import TestKit
import Testing

@testable import FerryIcons

/// A PNG as a list of chunks, whatever they are.
struct Chunks {
    var list: [(type: String, data: [UInt8])]

    /// A small crushed picture: RGBA, 4 × 3.
    static let crushed = Chunks(list: [
        ("CgBI", [0x50, 0, 0x20, 2]), ("IHDR", header(4, 3)), ("tEXt", Array("a\0b".utf8)),
        ("IDAT", raw(pixels(4, 3))), ("IEND", []),
    ])
    /// The same, plain.
    static let plain = Chunks(list: [
        ("IHDR", header(4, 3)), ("tEXt", Array("a\0b".utf8)), ("IDAT", zlib(pixels(4, 3))), ("IEND", []),
    ])

    static func header(
        _ width: Int,
        _ height: Int,
        depth: UInt8 = 8,
        color: UInt8 = 6,
        rest: [UInt8] = [0, 0, 0]
    ) -> [UInt8] {
        var header: [UInt8] = []
        header.append(UInt32(width), .big)
        header.append(UInt32(height), .big)
        return header + [depth, color] + rest
    }

    /// Rows with every filter.
    static func pixels(_ width: Int, _ height: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for row in 0..<height {
            bytes.append(UInt8(row % 5))
            for index in 0..<width * 4 { bytes.append(UInt8(truncatingIfNeeded: index * 37 + row)) }
        }
        return bytes
    }

    static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var count = compressBound(UInt(bytes.count))
        var packed = [UInt8](repeating: 0, count: Int(count))
        compress2(&packed, &count, bytes, UInt(bytes.count), 9)
        return Array(packed.prefix(Int(count)))
    }

    /// Without zlib's header and checksum.
    static func raw(_ bytes: [UInt8]) -> [UInt8] {
        Array(zlib(bytes).dropFirst(2).dropLast(4))
    }

    var bytes: [UInt8] {
        list.reduce(into: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { $0.appendChunk($1.type, $1.data) }
    }

    func changed(_ change: (inout [(type: String, data: [UInt8])]) -> Void) -> [UInt8] {
        var copy = self
        change(&copy.list)
        return copy.bytes
    }

    /// The place of a chunk in the list.
    subscript(type: String) -> Int { list.firstIndex { $0.type == type } ?? 0 }
}

@Suite(.timeLimit(.minutes(10))) struct `A damaged PNG` {
    private func fault(_ bytes: [UInt8]) -> IconError? {
        do throws(IconError) {
            _ = try Picture(png: bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test func `is made of one that is whole`() {
        #expect(fault(Chunks.crushed.bytes) == nil)
        #expect(fault(Chunks.plain.bytes) == nil)
    }

    @Test(arguments: [Chunks.crushed.bytes, Chunks.plain.bytes]) func `is refused wherever it was cut`(bytes: [UInt8]) {
        for count in 0..<bytes.count {
            let code = fault(Array(bytes.prefix(count)))?.code
            #expect(code == (count == 0 ? .notPNG : .truncated), "\(count) bytes")
            #expect(throws: IconError.self) { try Icon.png(from: Array(bytes.prefix(count))) }
            #expect(throws: IconError.self) { try Icon.jpeg(from: Array(bytes.prefix(count))) }
        }
        // What comes after the end is nobody's.
        #expect(fault(bytes + [1, 2, 3]) == nil)
    }

    @Test(arguments: [Chunks.crushed.bytes, Chunks.plain.bytes]) func `is refused whichever bit was flipped`(
        bytes: [UInt8]
    ) {
        for bit in 0..<bytes.count * 8 {
            var copy = bytes
            copy[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(fault(copy) != nil, "bit \(bit)")
        }
    }

    @Test(arguments: [Chunks.crushed, Chunks.plain]) func `does no harm though its checksums are right`(chunks: Chunks)
    {
        for index in chunks.list.indices {
            for bit in 0..<chunks.list[index].data.count * 8 {
                let bytes = chunks.changed { $0[index].data[bit / 8] ^= 1 << UInt8(bit % 8) }
                // Some are pictures, others are not; none traps.
                if let picture = try? Picture(png: bytes) {
                    #expect(picture.rgba.count == picture.width * picture.height * 4)
                    #expect(throws: Never.self) { try Icon.jpeg(from: bytes) }
                    #expect(throws: Never.self) { try Icon.png(from: bytes) }
                }
            }
        }
    }

    @Test(arguments: 1...20) func `does no harm whatever its pixels are packed as`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let junk = random.bytes(Int.random(in: 0..<200, using: &random))
            let kinds: [(UInt8, UInt8)] = [(0, 1), (0, 16), (2, 8), (3, 4), (4, 8), (6, 8), (6, 16)]
            let (color, depth) = kinds[Int.random(in: 0..<kinds.count, using: &random)]
            let header = Chunks.header(
                Int.random(in: 1..<40, using: &random),
                Int.random(in: 1..<40, using: &random),
                depth: depth,
                color: color,
                rest: [0, 0, UInt8.random(in: 0...1, using: &random)]
            )
            for (chunks, junk) in [(Chunks.crushed, junk), (Chunks.crushed, Chunks.raw(junk)), (Chunks.plain, junk)] {
                let bytes = chunks.changed {
                    $0[chunks["IHDR"]].data = header
                    $0[chunks["tEXt"]] = ("PLTE", [1, 2, 3])
                    $0[chunks["IDAT"]].data = junk
                }
                // Most are refused, and a few are pictures; none traps.
                if let picture = try? Picture(png: bytes) {
                    #expect(picture.rgba.count == picture.width * picture.height * 4)
                }
            }
        }
    }

    static let orders: [(String, IconError.Code, @Sendable (inout [(type: String, data: [UInt8])]) -> Void)] = [
        ("The picture begins with tEXt instead of its header, IHDR.", .malformed, { $0.swapAt(1, 2) }),
        (
            "The picture ends before its last part, IEND: 4 bytes are needed at offset 0x18, but only 0 are there.",
            .truncated, { $0.removeSubrange(1...) }
        ),
        ("The part CgBI comes again, or too late.", .malformed, { $0.insert(("CgBI", [0, 0, 0, 0]), at: 2) }),
        ("The part IHDR comes again, or too late.", .malformed, { $0.insert($0[1], at: 3) }),
        ("The picture has no pixels, IDAT.", .malformed, { $0.remove(at: 3) }),
        (
            "The pixels, IDAT, are interrupted by other parts.", .malformed,
            { $0.insert(contentsOf: [("tEXt", []), $0[3]], at: 4) }
        ),
        ("The end, IEND, has 1 bytes; it should have none.", .malformed, { $0[4].data = [0] }),
        ("The part ABCD is not known here, and changes the picture.", .unsupported, { $0[2] = ("ABCD", []) }),
        ("What begins at offset 0x31 is no part of a PNG.", .malformed, { $0[2].type = "a1cd" }),
        ("The header has 12 bytes, not 13.", .malformed, { $0[1].data.removeLast() }),
        ("The header has 14 bytes, not 13.", .malformed, { $0[1].data.append(0) }),
        ("The header says 0 × 3 pixels, which is no picture.", .malformed, { $0[1].data = Chunks.header(0, 3) }),
        ("The header says 4 × 0 pixels, which is no picture.", .malformed, { $0[1].data = Chunks.header(4, 0) }),
        (
            "The header says 4294967295 × 4294967295 pixels; at most 8192 a side and 4194304 in all are read.", .limit,
            { $0[1].data = Chunks.header(0xFFFF_FFFF, 0xFFFF_FFFF) }
        ),
        (
            "The header says 8193 × 1 pixels; at most 8192 a side and 4194304 in all are read.", .limit,
            { $0[1].data = Chunks.header(8_193, 1) }
        ),
        (
            "The header says 4096 × 1025 pixels; at most 8192 a side and 4194304 in all are read.", .limit,
            { $0[1].data = Chunks.header(4_096, 1_025) }
        ),
        (
            "The header says 8 bits of the colour type 5, which is none.", .malformed,
            { $0[1].data = Chunks.header(4, 3, color: 5) }
        ),
        (
            "The header says 4 bits of the colour type 6, which is none.", .malformed,
            { $0[1].data = Chunks.header(4, 3, depth: 4) }
        ),
        (
            "The header says compression 1, filter 0 and interlace 0; known are 0, 0, and 0 or 1.", .unsupported,
            { $0[1].data = Chunks.header(4, 3, rest: [1, 0, 0]) }
        ),
        (
            "The header says compression 0, filter 0 and interlace 2; known are 0, 0, and 0 or 1.", .unsupported,
            { $0[1].data = Chunks.header(4, 3, rest: [0, 0, 2]) }
        ),
        (
            "The pixels refer to a palette, PLTE, which is not there.", .malformed,
            { $0[1].data = Chunks.header(4, 3, color: 3) }
        ),
        ("The palette has 4 bytes, not three for each colour.", .malformed, { $0[2] = ("PLTE", [1, 2, 3, 4]) }),
        (
            "The palette has 771 bytes, not three for each colour.", .malformed,
            { $0[2] = ("PLTE", .init(repeating: 0, count: 771)) }
        ),
        ("The palette, PLTE, comes twice or too late.", .malformed, { $0.insert(("PLTE", [1, 2, 3]), at: 4) }),
        ("The transparency, tRNS, comes twice or too late.", .malformed, { $0.insert(("tRNS", [1]), at: 4) }),
        // Pixels.
        (
            "The packed pixels end after 50 of 51 bytes.", .badPixels,
            { $0[3].data = Chunks.raw(Chunks.pixels(4, 3).dropLast()) }
        ),
        (
            "The packed pixels go on after the 51 bytes that the header asks for.", .badPixels,
            { $0[3].data = Chunks.raw(Chunks.pixels(4, 3) + [0]) }
        ),
        // A hundred million bytes of nothing, packed into a hundred thousand.
        (
            "The packed pixels go on after the 51 bytes that the header asks for.", .badPixels,
            { $0[3].data = Chunks.raw(.init(repeating: 0, count: 100_000_000)) }
        ),
        ("The packed pixels are damaged after 0 of 51 bytes.", .badPixels, { $0[3].data = [0xFF, 0xFF] }),
        ("The packed pixels end after 0 of 51 bytes.", .badPixels, { $0[3].data = [] }),
        (
            "Row 1 of the pixels has the filter 5; there are 0 to 4.", .badPixels,
            {
                var pixels = Chunks.pixels(4, 3)
                pixels[17] = 5
                $0[3].data = Chunks.raw(pixels)
            }
        ),
        // Memory for millions of pixels is not taken on the word of a header.
        (
            "The pixels are 3 packed bytes, too few for 2048 × 2048 pixels.", .badPixels,
            {
                $0[1].data = Chunks.header(2_048, 2_048)
                $0[3].data = [1, 2, 3]
            }
        ),
    ]

    @Test(arguments: orders.indices) func `is refused with what is wrong and where`(index: Int) throws {
        let (message, code, change) = Self.orders[index]
        let error = try #require(fault(Chunks.crushed.changed(change)))
        #expect(error.code == code)
        #expect(error.message == message)
        #expect(error.remedy?.isEmpty == false)
    }

    @Test func `is refused where a part is longer than the file`() {
        var bytes = Chunks.crushed.bytes
        for length in [UInt32(0xFFFF_FFFF), 0x8000_0000, 0x7FFF_FFFF, 200] {
            bytes.store(length, at: 24, .big)
            #expect(fault(bytes)?.code == .truncated)
        }
    }

    @Test func `is refused past the limits of a file`() {
        #expect(fault([UInt8](repeating: 0x89, count: PNGLimits.fileBytes + 1))?.code == .limit)
        let many = Chunks.crushed.changed {
            $0.insert(contentsOf: Array(repeating: (type: "tEXt", data: [UInt8]()), count: 65_536), at: 2)
        }
        #expect(fault(many)?.message == "The picture has more than 65536 parts.")
    }

    @Test(
        arguments: [[], Array("\u{89}PNG".utf8), Array("<!DOCTYPE html>".utf8), [0xFF, 0xD8, 0xFF, 0xE0]] as [[UInt8]]
    )
    func `is told from what is none`(bytes: [UInt8]) {
        let error = fault(bytes)
        #expect(
            error?.description
                == "The picture does not begin as a PNG does. Give a PNG, as Xcode puts it into apps or any other."
        )
    }
}
