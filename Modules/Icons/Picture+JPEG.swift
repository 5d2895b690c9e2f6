import CTurbo

extension Picture {
    /// The longer sides that are tried, in pixels, and the qualities at which one is good enough to look no further.
    private static let sides = [120, 96, 72, 60, 48, 40, 32, 24, 16]
    private static let qualities = [60, 35, 1]
    private static let bestQuality = 90

    /// The largest and best JPEG of at most `maximumBytes` bytes.
    func jpeg(maximumBytes: Int) throws(IconError) -> [UInt8] {
        let flat = onWhite()
        let longest = min(max(width, height), Self.sides[0])
        let sides = [longest] + Self.sides.filter { $0 < longest }
        var found: [Int: (bytes: [UInt8], quality: Int)] = [:]
        for wanted in Self.qualities {
            for side in sides {
                if found[side] == nil {
                    found[side] = JPEGMaker(flat.scaled(to: side)).best(maximumBytes: maximumBytes, Self.bestQuality)
                }
                if let jpeg = found[side], jpeg.quality >= wanted { return jpeg.bytes }
            }
        }
        throw IconError(.noRoom, "No JPEG of the icon, however small, fits into \(maximumBytes) bytes.")
    }
}

/// Makes JPEGs of one picture.
private final class JPEGMaker {
    private let width: Int32
    private let height: Int32
    private let rgb: [UInt8]
    private let isGray: Bool
    private let handle: tjhandle

    init(_ picture: Picture) {
        width = Int32(picture.width)
        height = Int32(picture.height)
        var rgb: [UInt8] = []
        rgb.reserveCapacity(picture.rgba.count / 4 * 3)
        var isGray = true
        for pixel in stride(from: 0, to: picture.rgba.count, by: 4) {
            let (red, green, blue) = (picture.rgba[pixel], picture.rgba[pixel + 1], picture.rgba[pixel + 2])
            isGray = isGray && red == green && green == blue
            rgb += [red, green, blue]
        }
        self.rgb = rgb
        self.isGray = isGray
        guard let handle = tjInitCompress() else {
            preconditionFailure("turbojpeg has no memory for a compressor")
        }
        self.handle = handle
    }

    deinit {
        tjDestroy(handle)
    }

    /// The best quality that fits; `nil` where none does.
    func best(maximumBytes: Int, _ bestQuality: Int) -> (bytes: [UInt8], quality: Int)? {
        // Where there is room for the best, there may be some for colours as sharp as the light.
        let samplings = isGray ? [ferry_jpeg_gray] : [ferry_jpeg_444, ferry_jpeg_420]
        for sampling in samplings {
            let bytes = encoded(sampling, bestQuality)
            if bytes.count <= maximumBytes { return (bytes, bestQuality) }
        }
        var best: (bytes: [UInt8], quality: Int)?
        var (low, high) = (1, bestQuality - 1)
        while low <= high {
            let quality = (low + high) / 2
            let bytes = encoded(isGray ? ferry_jpeg_gray : ferry_jpeg_420, quality)
            if bytes.count <= maximumBytes {
                best = (bytes, quality)
                low = quality + 1
            } else {
                high = quality - 1
            }
        }
        return best
    }

    private func encoded(_ sampling: Int32, _ quality: Int) -> [UInt8] {
        var count = tjBufSize(width, height, sampling)
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            guard
                ferry_jpeg_encode(handle, rgb, width, height, sampling, Int32(quality), buffer.baseAddress, &count) == 0
            else {
                preconditionFailure(
                    "turbojpeg refuses \(width) × \(height): \(String(cString: tjGetErrorStr2(handle)))"
                )
            }
            initialized = Int(count)
        }
    }
}
