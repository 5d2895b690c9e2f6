import FerryBytes

/// What the first chunk of a PNG says about its pixels.
///
/// Layout: width and height (32 bits each), bit depth, colour type, compression, filter, interlace; big-endian.
/// Source: PNG (ISO/IEC 15948), `IHDR`.
struct PNGHeader: Sendable, Hashable {
    enum Color: UInt8, Sendable {
        case gray = 0
        case rgb = 2
        case palette = 3
        case grayAlpha = 4
        case rgba = 6

        /// Samples a pixel.
        var samples: Int {
            switch self {
            case .gray, .palette: 1
            case .grayAlpha: 2
            case .rgb: 3
            case .rgba: 4
            }
        }

        /// The bits that a sample may have.
        var depths: [Int] {
            switch self {
            case .gray: [1, 2, 4, 8, 16]
            case .palette: [1, 2, 4, 8]
            case .rgb, .grayAlpha, .rgba: [8, 16]
            }
        }

        var hasAlpha: Bool { self == .grayAlpha || self == .rgba }
    }

    /// The pixels that lie together: all of them, or one of Adam7's seven passes.
    struct Pass: Sendable, Hashable {
        let width: Int
        let height: Int
    }

    static let byteCount = 13

    let width: Int
    let height: Int
    /// Bits a sample.
    let depth: Int
    let color: Color
    let isInterlaced: Bool

    init(_ data: ArraySlice<UInt8>) throws(IconError) {
        let fields = ByteReader(data)
        let numbers: (width: UInt32, height: UInt32, rest: ArraySlice<UInt8>)
        do {
            numbers = (
                try fields.integer(at: 0, .big), try fields.integer(at: 4, .big), try fields.bytes(at: 8, count: 5)
            )
        } catch {
            throw IconError(.malformed, "The header has \(data.count) bytes, not \(Self.byteCount).")
        }
        guard data.count == Self.byteCount else {
            throw IconError(.malformed, "The header has \(data.count) bytes, not \(Self.byteCount).")
        }
        width = Int(numbers.width)
        height = Int(numbers.height)
        guard width > 0, height > 0 else {
            throw IconError(.malformed, "The header says \(width) × \(height) pixels, which is no picture.")
        }
        guard width <= PNGLimits.side, height <= PNGLimits.side, width * height <= PNGLimits.pixels else {
            throw IconError(
                .limit,
                "The header says \(width) × \(height) pixels; at most \(PNGLimits.side) a side and "
                    + "\(PNGLimits.pixels) in all are read."
            )
        }
        let rest = Array(numbers.rest)
        depth = Int(rest[0])
        guard let color = Color(rawValue: rest[1]), color.depths.contains(depth) else {
            throw IconError(.malformed, "The header says \(rest[0]) bits of the colour type \(rest[1]), which is none.")
        }
        self.color = color
        guard rest[2] == 0, rest[3] == 0, rest[4] <= 1 else {
            throw IconError(
                .unsupported,
                "The header says compression \(rest[2]), filter \(rest[3]) and interlace \(rest[4]); known are 0, 0, "
                    + "and 0 or 1."
            )
        }
        isInterlaced = rest[4] == 1
    }

    private var bitsPerPixel: Int { depth * color.samples }

    /// How far back a filter looks, in bytes.
    var filterDistance: Int { max(1, bitsPerPixel / 8) }

    /// Bytes of a row without its filter's.
    func rowBytes(_ width: Int) -> Int { (width * bitsPerPixel + 7) / 8 }

    /// The passes that have pixels, in order. Source: PNG, “Interlaced data order”.
    var passes: [Pass] {
        guard isInterlaced else { return [Pass(width: width, height: height)] }
        let grids = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
        return grids.map { left, top, across, down in
            Pass(width: max(0, width - left + across - 1) / across, height: max(0, height - top + down - 1) / down)
        }.filter { $0.width > 0 && $0.height > 0 }
    }

    /// What the packed pixels unpack to: all rows of all passes, each with the byte of its filter before it.
    var unpackedBytes: Int {
        passes.reduce(0) { $0 + $1.height * (1 + rowBytes($1.width)) }
    }
}
