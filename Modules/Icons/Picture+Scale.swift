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
        // At most 4 Mi pixels, each 16 bits of light times 8 bits of alpha: 46 bits.
        var sums = [UInt64](repeating: 0, count: newWidth * newHeight * 4)
        var row = [UInt64](repeating: 0, count: newWidth * 4)
        for y in 0..<height {
            for index in row.indices { row[index] = 0 }
            for x in 0..<width {
                let pixel = (y * width + x) * 4
                let alpha = UInt64(rgba[pixel + 3])
                guard alpha > 0 else { continue }
                let red = UInt64(Light.linear[Int(rgba[pixel])]) * alpha
                let green = UInt64(Light.linear[Int(rgba[pixel + 1])]) * alpha
                let blue = UInt64(Light.linear[Int(rgba[pixel + 2])]) * alpha
                for share in across[x] {
                    let at = share.index * 4
                    row[at] += red * share.weight
                    row[at + 1] += green * share.weight
                    row[at + 2] += blue * share.weight
                    row[at + 3] += alpha * share.weight
                }
            }
            for share in down[y] {
                let at = share.index * newWidth * 4
                for index in row.indices { sums[at + index] += row[index] * share.weight }
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

    /// A new pixel that an old one falls into, and how much of it.
    private struct Share {
        let index: Int
        let weight: UInt64
    }

    /// For each of `count` old pixels the one or two new ones; the weights of a new one come to `count`.
    private static func shares(of count: Int, in newCount: Int) -> [[Share]] {
        (0..<count).map { old in
            let (from, to) = (old * newCount, (old + 1) * newCount)
            let first = from / count
            let border = (first + 1) * count
            guard to > border else { return [Share(index: first, weight: UInt64(newCount))] }
            return [
                Share(index: first, weight: UInt64(border - from)),
                Share(index: first + 1, weight: UInt64(to - border)),
            ]
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
