import CZlib
import FerryBytes

/// The chunks of a PNG, plain or crushed, once their order, lengths and checksums were found to be right.
///
/// Layout: 8 bytes of signature; then chunks of a length (32 bits, big-endian), four letters, so many bytes, and the
/// CRC-32 of letters and bytes. Source: PNG (ISO/IEC 15948), “Datastream structure”.
struct PNGFile: Sendable {
    struct Chunk: Sendable {
        /// The four letters.
        let type: String
        let data: ArraySlice<UInt8>
        /// With length, type and checksum.
        let whole: ArraySlice<UInt8>
    }

    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// Apple's chunk before the header, which says that all the rest is otherwise too.
    static let crushedMark = "CgBI"

    let header: PNGHeader
    let isCrushed: Bool
    /// All chunks up to the end, in order.
    let chunks: [Chunk]

    init(_ bytes: [UInt8]) throws(IconError) {
        guard bytes.count <= PNGLimits.fileBytes else {
            throw IconError(.limit, "The picture has \(bytes.count) bytes; at most \(PNGLimits.fileBytes) are read.")
        }
        guard bytes.starts(with: Self.signature) else {
            let isCut = !bytes.isEmpty && Self.signature.starts(with: bytes)
            throw isCut
                ? IconError(.truncated, "The picture ends after \(bytes.count) bytes, within its signature.")
                : IconError(.notPNG, "The picture does not begin as a PNG does.")
        }
        chunks = try Self.chunks(of: bytes)
        isCrushed = chunks.first?.type == Self.crushedMark
        let body = chunks.dropFirst(isCrushed ? 1 : 0)
        guard let first = body.first, first.type == "IHDR" else {
            throw IconError(
                .malformed,
                "The picture begins with \(body.first?.type ?? "nothing") instead of its header, IHDR."
            )
        }
        header = try PNGHeader(first.data)
        try Self.checkOrder(body.dropFirst(), header)
    }

    /// The packed pixels, in one piece.
    var packedPixels: [UInt8] {
        Array(chunks.lazy.filter { $0.type == "IDAT" }.map(\.data).joined())
    }

    private static func chunks(of bytes: [UInt8]) throws(IconError) -> [Chunk] {
        var reader = ByteReader(bytes)
        var chunks: [Chunk] = []
        do {
            try reader.move(to: signature.count)
            while chunks.last?.type != "IEND" {
                guard chunks.count < PNGLimits.chunks else {
                    throw IconError(.limit, "The picture has more than \(PNGLimits.chunks) parts.")
                }
                let start = reader.offset
                let length = Int(try reader.next(UInt32.self, .big))
                let letters = try reader.next(4)
                guard letters.allSatisfy({ ($0 | 0x20) >= UInt8(ascii: "a") && ($0 | 0x20) <= UInt8(ascii: "z") })
                else {
                    throw IconError(.malformed, "What begins at offset \(place(start)) is no part of a PNG.")
                }
                let type = String(decoding: letters, as: UTF8.self)
                let data = try reader.next(length)
                let expected = try reader.next(UInt32.self, .big)
                let actual = (letters + data).withUnsafeBytes { buffer in
                    crc32(0, buffer.bindMemory(to: UInt8.self).baseAddress, UInt32(buffer.count))
                }
                guard actual == UInt(expected) else {
                    throw IconError(.checksum, "The checksum of the part \(type) at offset \(place(start)) is wrong.")
                }
                let whole = try reader.bytes(at: start, count: reader.offset - start)
                chunks.append(Chunk(type: type, data: data, whole: whole))
            }
        } catch let error as IconError {
            throw error
        } catch {
            throw IconError(.truncated, "The picture ends before its last part, IEND: \(error).")
        }
        return chunks
    }

    /// Checks what follows the header.
    private static func checkOrder(_ chunks: ArraySlice<Chunk>, _ header: PNGHeader) throws(IconError) {
        var hasPalette = false
        var hasTransparency = false
        var pixels = (begun: false, ended: false)
        for chunk in chunks {
            if chunk.type != "IDAT", pixels.begun { pixels.ended = true }
            switch chunk.type {
            case "IHDR", crushedMark:
                throw IconError(.malformed, "The part \(chunk.type) comes again, or too late.")
            case "PLTE":
                guard !hasPalette, !hasTransparency, !pixels.begun else {
                    throw IconError(.malformed, "The palette, PLTE, comes twice or too late.")
                }
                guard chunk.data.count % 3 == 0, (3...768).contains(chunk.data.count) else {
                    throw IconError(.malformed, "The palette has \(chunk.data.count) bytes, not three for each colour.")
                }
                hasPalette = true
            case "tRNS":
                guard !hasTransparency, !pixels.begun else {
                    throw IconError(.malformed, "The transparency, tRNS, comes twice or too late.")
                }
                hasTransparency = true
            case "IDAT":
                guard !pixels.ended else {
                    throw IconError(.malformed, "The pixels, IDAT, are interrupted by other parts.")
                }
                pixels.begun = true
            case "IEND":
                guard chunk.data.isEmpty else {
                    throw IconError(.malformed, "The end, IEND, has \(chunk.data.count) bytes; it should have none.")
                }
            default:
                // A capital letter in front: what does not know this part must not go on.
                guard chunk.type.utf8.first.map({ $0 & 0x20 != 0 }) == true else {
                    throw IconError(.unsupported, "The part \(chunk.type) is not known here, and changes the picture.")
                }
            }
        }
        guard header.color != .palette || hasPalette else {
            throw IconError(.malformed, "The pixels refer to a palette, PLTE, which is not there.")
        }
        guard pixels.begun else { throw IconError(.malformed, "The picture has no pixels, IDAT.") }
    }

    private static func place(_ offset: Int) -> String { "0x" + String(offset, radix: 16) }
}

extension [UInt8] {
    /// Appends a chunk of a PNG.
    mutating func appendChunk(_ type: String, _ data: [UInt8]) {
        let body = Array(type.utf8) + data
        append(UInt32(data.count), .big)
        append(contentsOf: body)
        append(UInt32(crc32(0, body, UInt32(body.count))), .big)
    }
}
