#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension Picture {
    /// Itself on white, without transparency.
    func onWhite() -> Picture {
        var rgba = rgba
        for pixel in stride(from: 0, to: rgba.count, by: 4) where rgba[pixel + 3] != 255 {
            let alpha = UInt32(rgba[pixel + 3])
            for index in pixel..<pixel + 3 {
                rgba[index] = UInt8((UInt32(rgba[index]) * alpha + 255 * (255 - alpha) + 127) / 255)
            }
            rgba[pixel + 3] = 255
        }
        return Picture(width: width, height: height, rgba: rgba)
    }

    /// Itself with `side` pixels on its longer side, in its own shape; never larger than it is.
    ///
    /// Each new pixel is the mean of the area that it covers, weighted by alpha and taken in linear light, in whole
    /// numbers: the same everywhere.
    func scaled(to side: Int) -> Picture {
        let longest = max(width, height)
        guard side > 0, side < longest else { return self }
        let newWidth = max(1, (width * side + longest / 2) / longest)
        let newHeight = max(1, (height * side + longest / 2) / longest)
        let across = Self.shares(of: width, in: newWidth)
        let down = Self.shares(of: height, in: newHeight)
        var sums = [UInt64](repeating: 0, count: newWidth * newHeight * 4)
        var row = [UInt64](repeating: 0, count: newWidth * 4)
        rgba.withUnsafeBufferPointer { old in
            sums.withUnsafeMutableBufferPointer { sums in
                row.withUnsafeMutableBufferPointer { row in
                    for y in 0..<height {
                        row.update(repeating: 0)
                        Self.add(
                            UnsafeBufferPointer(rebasing: old[y * width * 4..<(y + 1) * width * 4]),
                            to: row,
                            across
                        )
                        for share in [down[y].first, down[y].second] where share.weight > 0 {
                            let at = share.index * newWidth * 4
                            for index in 0..<row.count { sums[at + index] += row[index] * share.weight }
                        }
                    }
                }
            }
        }
        let area = UInt64(width * height)
        var scaled = [UInt8](repeating: 0, count: sums.count)
        for pixel in stride(from: 0, to: sums.count, by: 4) {
            let alpha = sums[pixel + 3]
            guard alpha > 0 else { continue }
            for index in pixel..<pixel + 3 { scaled[index] = Light.encoded((sums[index] + alpha / 2) / alpha) }
            scaled[pixel + 3] = UInt8((alpha + area / 2) / area)
        }
        return Picture(width: newWidth, height: newHeight, rgba: scaled)
    }

    /// Adds a row of old pixels to the new ones that they fall into.
    ///
    /// A sum is at most 16 bits of light times 8 of alpha times the 22 of ``PNGLimits/pixels``.
    private static func add(
        _ old: UnsafeBufferPointer<UInt8>,
        to row: UnsafeMutableBufferPointer<UInt64>,
        _ across: [Shares]
    ) {
        Light.linear.withUnsafeBufferPointer { linear in
            across.withUnsafeBufferPointer { across in
                for x in 0..<across.count {
                    let alpha = UInt64(old[x * 4 + 3])
                    guard alpha > 0 else { continue }
                    let red = UInt64(linear[Int(old[x * 4])]) * alpha
                    let green = UInt64(linear[Int(old[x * 4 + 1])]) * alpha
                    let blue = UInt64(linear[Int(old[x * 4 + 2])]) * alpha
                    var share = across[x].first
                    while share.weight > 0 {
                        let at = share.index * 4
                        row[at] += red * share.weight
                        row[at + 1] += green * share.weight
                        row[at + 2] += blue * share.weight
                        row[at + 3] += alpha * share.weight
                        guard share.index == across[x].first.index else { break }
                        share = across[x].second
                    }
                }
            }
        }
    }

    /// A new pixel that an old one falls into, and how much of it.
    private struct Share {
        let index: Int
        let weight: UInt64
    }

    /// The one or two new pixels that an old one falls into; a weight of 0 is none.
    private struct Shares {
        let first: Share
        let second: Share
    }

    /// For each of `count` old pixels its share of the new ones; the weights of a new one come to `count`.
    private static func shares(of count: Int, in newCount: Int) -> [Shares] {
        (0..<count).map { old in
            let (from, to) = (old * newCount, (old + 1) * newCount)
            let first = from / count
            let border = (first + 1) * count
            return Shares(
                first: Share(index: first, weight: UInt64(min(to, border) - from)),
                second: Share(index: first + 1, weight: UInt64(max(0, to - border)))
            )
        }
    }
}

/// sRGB's curve in 16 bits. Source: IEC 61966-2-1.
private enum Light {
    /// The light of each 8-bit sample.
    static let linear: [UInt16] = (0...255).map { sample in
        let value = Double(sample) / 255
        let light = value <= 0.040_45 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        return UInt16((light * 65_535).rounded())
    }

    /// The sample whose light is nearest.
    static func encoded(_ light: UInt64) -> UInt8 {
        var (low, high) = (0, 255)
        while low < high {
            let middle = (low + high) / 2
            // Whether the next one is nearer.
            if light * 2 > UInt64(linear[middle]) + UInt64(linear[middle + 1]) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return UInt8(low)
    }
}
