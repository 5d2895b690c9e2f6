import CZlib
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The sample app's icon: a lighthouse at dusk over three waves, drawn by arithmetic.
package enum SampleIcon {
    /// 120 pixels a side, for `@2x`.
    package static let at2x = png(side: 120)
    /// 180 pixels a side, for `@3x`.
    package static let at3x = png(side: 180)

    private typealias Color = SIMD3<Float>

    /// The icon as a PNG of 8 bits a channel without transparency, which icons must not have.
    package static func png(side: Int) -> [UInt8] {
        var rows: [UInt8] = []
        rows.reserveCapacity(side * (side * 3 + 1))
        for y in 0..<side {
            rows.append(0)
            for x in 0..<side {
                // Two by two points a pixel, for smooth edges.
                var sum = Color(repeating: 0)
                for point in 0..<4 {
                    let (u, v) = (Float(x) + Float(point & 1) * 0.5 + 0.25, Float(y) + Float(point >> 1) * 0.5 + 0.25)
                    sum += color(u / Float(side), v / Float(side))
                }
                let mean = sum * 63.75
                rows += [UInt8(mean.x), UInt8(mean.y), UInt8(mean.z)]
            }
        }
        var header: [UInt8] = []
        header.append(UInt32(side), .big)
        header.append(UInt32(side), .big)
        header += [8, 2, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", header) + chunk("IDAT", deflated(rows)) + chunk("IEND", [])
    }

    /// The colour at a place, from 0 to 1 each way; channels go from 0 to 1 too.
    private static func color(_ x: Float, _ y: Float) -> Color {
        if let wave = wave(x, y) { return wave }
        if let tower = tower(x, y) { return tower }
        let dusk = mix(Color(0.10, 0.13, 0.36), Color(0.98, 0.55, 0.38), y * y * 1.6)
        // The beam goes to the left and fades.
        let away = 0.60 - x
        let spread = abs(y - 0.285 + away * 0.08)
        let beam = away > 0 && spread < 0.025 + away * 0.16 ? 0.55 * (1 - away / 0.62) : 0
        // The sun sets at the left, behind the water.
        let toSun = ((x - 0.26) * (x - 0.26) + (y - 0.70) * (y - 0.70)).squareRoot()
        let sun: Float = toSun < 0.13 ? 1 : max(0, 0.5 - toSun)
        return mix(mix(dusk, Color(1, 0.82, 0.45), sun), Color(1, 0.95, 0.75), max(0, beam))
    }

    private static func wave(_ x: Float, _ y: Float) -> Color? {
        let waves: [(height: Float, size: Float, phase: Float, color: Color)] = [
            (0.88, 0.020, 4.1, Color(0.04, 0.22, 0.42)), (0.80, 0.022, 2.2, Color(0.07, 0.36, 0.55)),
            (0.72, 0.018, 0.4, Color(0.16, 0.52, 0.66)),
        ]
        for wave in waves {
            let crest = wave.height + wave.size * sinf(x * 13 + wave.phase)
            if y > crest {
                return y - crest < 0.014 ? mix(wave.color, Color(1, 1, 1), 0.45) : wave.color
            }
        }
        return nil
    }

    private static func tower(_ x: Float, _ y: Float) -> Color? {
        let off = abs(x - 0.63)
        switch y {
        case 0.15..<0.22 where off < (y - 0.14) * 1.0:  // roof
            return Color(0.75, 0.16, 0.20)
        case 0.22..<0.33 where off < 0.055:  // lamp
            return off < 0.012 || off > 0.046 ? Color(0.20, 0.16, 0.28) : Color(1, 0.90, 0.55)
        case 0.33..<0.36 where off < 0.10:  // gallery
            return Color(0.20, 0.16, 0.28)
        case 0.36..<0.86 where off < 0.062 + (y - 0.36) * 0.11:
            let stripe = Int((y - 0.36) / 0.09) & 1 == 0 ? Color(0.97, 0.95, 0.92) : Color(0.84, 0.22, 0.24)
            // Darker away from the sun.
            return stripe * (1 - max(0, x - 0.60) * 2.6)
        default: return nil
        }
    }

    private static func mix(_ one: Color, _ other: Color, _ share: Float) -> Color {
        one + (other - one) * min(1, max(0, share))
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        var bytes: [UInt8] = []
        bytes.append(UInt32(data.count), .big)
        bytes += body
        bytes.append(UInt32(crc32(0, body, UInt32(body.count))), .big)
        return bytes
    }

    private static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var count = compressBound(UInt(bytes.count))
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            // It fails only where the room is too small, which the bound rules out.
            compress2(buffer.baseAddress, &count, bytes, UInt(bytes.count), 9)
            initialized = Int(count)
        }
    }
}
