import CZlib
import FerryBytes

/// A PNG as Xcode crushes it for apps, which no other program reads, and the way back.
///
/// In front of the header there is a chunk `CgBI`; the pixels are packed by deflate without zlib's header and checksum
/// (RFC 1951, not 1950); red and blue are exchanged; and colours are multiplied by their alpha. Palettes and samples of
/// gray stay in their order.
public struct CrushedPNG: Sendable {
    private let file: PNGFile

    /// Reads the chunks of a crushed PNG; throws for a plain one too.
    public init(_ bytes: [UInt8]) throws(IconError) {
        file = try PNGFile(bytes)
        guard file.isCrushed else {
            throw IconError(.notPNG, "The picture is a plain PNG; there is nothing to undo.")
        }
    }

    /// Whether the bytes begin as a crushed PNG does.
    public static func isCrushed(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: PNGFile.signature) && bytes.dropFirst(12).starts(with: PNGFile.crushedMark.utf8)
    }

    /// Pixels in a row.
    public var width: Int { file.header.width }
    /// Rows.
    public var height: Int { file.header.height }
    /// Bits a sample: 1, 2, 4, 8 or 16.
    public var bitDepth: Int { file.header.depth }
    /// Whether the pixels come in seven passes, the roughest first.
    public var isInterlaced: Bool { file.header.isInterlaced }

    /// The plain PNG of the same pixels: size, bits, colour type, interlacing and further chunks stay.
    ///
    /// Each colour is divided by its alpha and rounded to the nearest, so that multiplying it again gives the very bytes
    /// that were crushed. Where alpha is 0 the colour is lost; it becomes black.
    public func plain() throws(IconError) -> [UInt8] {
        var pixels = try unpacked()
        let header = file.header
        if header.color == .rgb || header.color.hasAlpha {
            var start = 0
            for pass in header.passes {
                let rows = FilteredRows(
                    start: start,
                    rowBytes: header.rowBytes(pass.width),
                    height: pass.height,
                    distance: header.filterDistance
                )
                try rows.undo(in: &pixels)
                rows.forEachRow { header.color.restore(&pixels, from: $0, count: pass.width, depth: header.depth) }
                rows.apply(in: &pixels)
                start = rows.end
            }
        }
        let packed = Self.packed(pixels)
        var bytes = PNGFile.signature
        var hasPixels = false
        for chunk in file.chunks {
            switch chunk.type {
            // `iDOT` says where within Apple's pixels a second thread may begin.
            case PNGFile.crushedMark, "iDOT": break
            case "IDAT":
                if !hasPixels { bytes.appendChunk("IDAT", packed) }
                hasPixels = true
            default: bytes += chunk.whole
            }
        }
        return bytes
    }

    /// The rows with their filters. What more than the header says would come is not unpacked.
    private func unpacked() throws(IconError) -> [UInt8] {
        let expected = file.header.unpackedBytes
        var packed = file.packedPixels
        // Deflate makes at most 1,032 bytes of one: nothing is set aside for pixels that cannot be there.
        guard expected / 1_032 <= packed.count else {
            throw IconError(
                .badPixels,
                "The pixels are \(packed.count) packed bytes, too few for \(width) × \(height) pixels."
            )
        }
        var stream = z_stream()
        guard ferry_inflateInit2(&stream, -15) == Z_OK else {
            preconditionFailure("zlib has no memory for a decompressor")
        }
        defer { inflateEnd(&stream) }
        var status: Int32 = Z_OK
        var made = 0
        var bytes = packed.withUnsafeMutableBufferPointer { input in
            [UInt8](unsafeUninitializedCapacity: expected + 1) { output, initialized in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                // One more than there should be, to see whether there is more.
                stream.avail_out = UInt32(expected + 1)
                status = inflate(&stream, Z_FINISH)
                made = expected + 1 - Int(stream.avail_out)
                initialized = made
            }
        }
        // A stream without its last mark is none the worse, once all pixels are there.
        guard status == Z_STREAM_END || status == Z_BUF_ERROR || status == Z_OK else {
            throw IconError(.badPixels, "The packed pixels are damaged after \(made) of \(expected) bytes.")
        }
        guard made <= expected else {
            throw IconError(.badPixels, "The packed pixels go on after the \(expected) bytes that the header asks for.")
        }
        guard made == expected else {
            throw IconError(.badPixels, "The packed pixels end after \(made) of \(expected) bytes.")
        }
        bytes.removeLast(bytes.count - expected)
        return bytes
    }

    private static func packed(_ bytes: [UInt8]) -> [UInt8] {
        var count = compressBound(UInt(bytes.count))
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            // It fails only where the room is too small, which the bound rules out.
            compress2(buffer.baseAddress, &count, bytes, UInt(bytes.count), Z_DEFAULT_COMPRESSION)
            initialized = Int(count)
        }
    }
}

extension PNGHeader.Color {
    /// Exchanges red and blue, and takes alpha out of the colours, in a row of `count` pixels.
    fileprivate func restore(_ bytes: inout [UInt8], from start: Int, count: Int, depth: Int) {
        let sampleBytes = depth / 8
        let pixelBytes = samples * sampleBytes
        for pixel in 0..<count {
            let at = start + pixel * pixelBytes
            if samples >= 3 {
                for byte in 0..<sampleBytes { bytes.swapAt(at + byte, at + 2 * sampleBytes + byte) }
            }
            guard hasAlpha else { continue }
            let alphaAt = at + pixelBytes - sampleBytes
            if depth == 8 {
                let alpha = UInt32(bytes[alphaAt])
                guard alpha != 255 else { continue }
                for index in at..<alphaAt {
                    let whole = alpha == 0 ? 0 : min(255, (UInt32(bytes[index]) * 255 + alpha / 2) / alpha)
                    bytes[index] = UInt8(whole)
                }
            } else {
                let alpha = UInt64(bytes[alphaAt]) << 8 | UInt64(bytes[alphaAt + 1])
                guard alpha != 65_535 else { continue }
                for index in stride(from: at, to: alphaAt, by: 2) {
                    let value = UInt64(bytes[index]) << 8 | UInt64(bytes[index + 1])
                    let whole = alpha == 0 ? 0 : min(65_535, (value * 65_535 + alpha / 2) / alpha)
                    bytes[index] = UInt8(whole >> 8)
                    bytes[index + 1] = UInt8(truncatingIfNeeded: whole)
                }
            }
        }
    }
}
