import CPng
import FerryBytes

/// Pixels in sRGB with alpha, 8 bits a sample, not multiplied by it.
public struct Picture: Sendable, Hashable {
    /// Pixels in a row.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Red, green, blue and alpha of each pixel, row after row: `width` × `height` × 4 bytes.
    public let rgba: [UInt8]

    init(width: Int, height: Int, rgba: [UInt8]) {
        self.width = width
        self.height = height
        self.rgba = rgba
    }

    /// Reads a PNG, plain or crushed by Xcode.
    ///
    /// 16 bits are rounded to 8. Of colour management only a gamma is heeded, for icons are sRGB or nearly so.
    public init(png bytes: [UInt8]) throws(IconError) {
        let plain = CrushedPNG.isCrushed(bytes) ? try CrushedPNG(bytes).plain() : bytes
        let file = try PNGFile(plain)
        let (width, height) = (file.header.width, file.header.height)
        // As `CrushedPNG` does: no memory for pixels that cannot be there.
        guard file.header.unpackedBytes / 1_032 <= file.packedPixels.count else {
            throw IconError(.badPixels, "The packed pixels are too few for \(width) × \(height) pixels.")
        }
        // libpng sees only what bears on the pixels.
        let needed: Set = ["IHDR", "PLTE", "tRNS", "gAMA", "sRGB", "IDAT", "IEND"]
        var bare = PNGFile.signature
        for chunk in file.chunks where needed.contains(chunk.type) { bare += chunk.whole }

        var message = [UInt8](repeating: 0, count: 100)
        var isRead = false
        let rgba = bare.withUnsafeBytes { input in
            [UInt8](unsafeUninitializedCapacity: width * height * 4) { output, initialized in
                isRead = message.withUnsafeMutableBytes { message in
                    ferry_png_read(
                        input.baseAddress,
                        input.count,
                        UInt32(width),
                        UInt32(height),
                        output.baseAddress,
                        message.baseAddress?.assumingMemoryBound(to: CChar.self),
                        message.count
                    ) == 1
                }
                initialized = isRead ? width * height * 4 : 0
            }
        }
        guard isRead else {
            let reason = String(decoding: message.prefix { $0 != 0 }, as: UTF8.self).printable
            throw IconError(.badPixels, "The pixels cannot be read: \(reason).")
        }
        self.init(width: width, height: height, rgba: rgba)
    }

    /// Itself as a plain PNG.
    public var png: [UInt8] {
        var count = 0
        guard ferry_png_write(rgba, UInt32(width), UInt32(height), nil, &count) != 0 else {
            preconditionFailure("libpng cannot write \(width) × \(height) pixels")
        }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            guard ferry_png_write(rgba, UInt32(width), UInt32(height), buffer.baseAddress, &count) != 0 else {
                preconditionFailure("libpng writes \(width) × \(height) pixels only once")
            }
            initialized = count
        }
    }
}
