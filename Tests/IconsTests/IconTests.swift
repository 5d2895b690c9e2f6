import FerrySample
import Foundation
import TestKit
import Testing

@testable import FerryIcons

/// Pictures as icons are, and worse.
enum Painter {
    enum Kind: String, CaseIterable, Sendable {
        /// Every pixel another: nothing packs worse.
        case noise
        /// From one colour to another, with a disc on it.
        case gradient
        /// Waves of many lengths with a little noise.
        case photo
        /// Gray waves.
        case gray
        /// A shape with soft edges on nothing.
        case sticker
    }

    static let sides = [1, 29, 57, 60, 87, 120, 120, 152, 180]

    static func picture(_ kind: Kind, side: Int, seed: UInt64) -> Picture {
        var random = SeededGenerator(seed: seed)
        var rgba = random.bytes(side * side * 4)
        switch kind {
        case .noise:
            for pixel in 0..<side * side { rgba[pixel * 4 + 3] = 255 }
        case .gradient:
            let (one, other, disc) = (random.bytes(3), random.bytes(3), random.bytes(3))
            for pixel in 0..<side * side {
                let (x, y) = (pixel % side * 2 - side, pixel / side * 2 - side)
                let isDisc = x * x + y * y < side * side * 4 / 10
                for index in 0..<3 {
                    let mix = (Int(one[index]) * (side - y) + Int(other[index]) * (side + y)) / (2 * side)
                    rgba[pixel * 4 + index] = isDisc ? disc[index] : UInt8(mix)
                }
                rgba[pixel * 4 + 3] = 255
            }
        case .photo, .gray:
            paintWaves(&rgba, side, isGray: kind == .gray, &random)
        case .sticker:
            let color = random.bytes(3)
            for pixel in 0..<side * side {
                let (x, y) = (Double(pixel % side * 2 - side), Double(pixel / side * 2 - side))
                let inside = Double(side) * 0.9 - (x * x + y * y).squareRoot()
                for index in 0..<3 { rgba[pixel * 4 + index] = color[index] }
                rgba[pixel * 4 + 3] = UInt8(min(255, max(0, inside * 90)))
            }
        }
        return Picture(width: side, height: side, rgba: rgba)
    }

    /// Takes the random bytes that are there for the noise.
    private static func paintWaves(_ rgba: inout [UInt8], _ side: Int, isGray: Bool, _ random: inout SeededGenerator) {
        func waves() -> [Double] {
            let (phase, length) = (Double.random(in: 0...6, using: &random), Double.random(in: 2...12, using: &random))
            return (0..<side).map { sin(phase + length * Double($0) / Double(side)) }
        }
        let (across, down) = ((0..<6).map { _ in waves() }, (0..<6).map { _ in waves() })
        for y in 0..<side {
            for x in 0..<side {
                let at = (y * side + x) * 4
                for index in 0..<3 {
                    let place = isGray ? 0 : index
                    let level = across[place][x] * down[place][y] * 70 + across[place + 3][x] * down[place + 3][y] * 40
                    rgba[at + index] = UInt8(128 + level + Double(rgba[at + place] % 12))
                }
                if isGray {
                    rgba[at + 1] = rgba[at]
                    rgba[at + 2] = rgba[at]
                }
                rgba[at + 3] = 255
            }
        }
    }
}

/// A JPEG as `djpeg` reads it.
struct ReadJPEG {
    let width: Int
    let height: Int
    /// 3 bytes a pixel.
    let rgb: [UInt8]
    let isGray: Bool

    init(_ jpeg: [UInt8], by djpeg: Tool) throws {
        let result = try djpeg.run(["-pnm"], input: jpeg)
        // Three numbers and a line's end, after P5 for gray or P6 for colours.
        let fields = result.output.prefix(20).split(whereSeparator: { $0 == 0x20 || $0 == 0x0A })
            .map { String(decoding: $0, as: UTF8.self) }
        guard result.status == 0, result.errors.isEmpty, fields.count > 3, ["P5", "P6"].contains(fields[0]),
            let width = Int(fields[1]), let height = Int(fields[2])
        else { throw Crusher.Failure(text: result.errors) }
        self.width = width
        self.height = height
        isGray = fields[0] == "P5"
        let samples = result.output.suffix(width * height * (isGray ? 1 : 3))
        rgb = isGray ? samples.flatMap { [$0, $0, $0] } : Array(samples)
    }

    /// How far it is from a picture: the peak signal-to-noise ratio in decibels.
    func likeness(to picture: Picture) -> Double {
        var sum = 0.0
        for pixel in 0..<width * height {
            for index in 0..<3 {
                let difference = Double(rgb[pixel * 3 + index]) - Double(picture.rgba[pixel * 4 + index])
                sum += difference * difference
            }
        }
        let mean = sum / Double(rgb.count)
        return mean == 0 ? 100 : 10 * log10(255 * 255 / mean)
    }
}

@Suite(.timeLimit(.minutes(10))) struct `An icon as a JPEG` {
    static let djpeg = Tool("djpeg")

    @Test(.enabled(if: djpeg != nil, "djpeg is not there"), arguments: Painter.Kind.allCases)
    func `fits and is read by others`(kind: Painter.Kind) throws {
        let djpeg = try #require(Self.djpeg)
        // Forty of each kind: two hundred.
        for seed in UInt64(1)...40 {
            let side = Painter.sides[Int(seed) % Painter.sides.count]
            let picture = Painter.picture(kind, side: side, seed: seed)
            let jpeg = try Icon.jpeg(from: picture.png)
            #expect(jpeg.count <= 2_304, "\(kind) \(side) seed \(seed)")
            let read = try ReadJPEG(jpeg, by: djpeg)
            #expect(read.width == read.height && read.width <= min(side, 120), "\(kind) \(side) seed \(seed)")
            #expect(read.isGray == (kind == .gray) || side == 1, "\(kind) \(side) seed \(seed)")
            // Noise has nothing to keep; all else is still what it was, and not too small to see.
            guard kind != .noise else { continue }
            let likeness = read.likeness(to: picture.onWhite().scaled(to: read.width))
            #expect(likeness > 24, "\(kind) \(side) seed \(seed)")
            #expect(read.width >= min(side, 60), "\(kind) \(side) seed \(seed)")
        }
    }

    @Test(arguments: Painter.Kind.allCases) func `is the same each time`(kind: Painter.Kind) throws {
        let png = Painter.picture(kind, side: 87, seed: 5).png
        #expect(try Icon.jpeg(from: png) == Icon.jpeg(from: png))
    }

    @Test(.enabled(if: djpeg != nil, "djpeg is not there"), arguments: [700, 900, 1_500, 5_000, 20_000, 100_000])
    func `uses what it is given`(maximumBytes: Int) throws {
        let djpeg = try #require(Self.djpeg)
        let picture = Painter.picture(.photo, side: 180, seed: 9)
        let jpeg = try Icon.jpeg(from: picture.png, maximumBytes: maximumBytes)
        #expect(jpeg.count <= maximumBytes)
        let read = try ReadJPEG(jpeg, by: djpeg)
        if maximumBytes >= 5_000 {
            #expect(read.width == 120)
            #expect(read.likeness(to: picture.scaled(to: 120)) > 32)
        }
    }

    @Test(arguments: [Int.min, -1, 0, 1, 300]) func `is refused where there is no room for one`(
        maximumBytes: Int
    ) throws {
        let png = Painter.picture(.photo, side: 60, seed: 1).png
        let error = #expect(throws: IconError.self) { try Icon.jpeg(from: png, maximumBytes: maximumBytes) }
        #expect(error?.message == "No JPEG of the icon, however small, fits into \(maximumBytes) bytes.")
        #expect(error?.remedy == "Allow more bytes.")
    }

    @Test(.enabled(if: djpeg != nil, "djpeg is not there")) func `is white where it was transparent`() throws {
        let picture = Picture(width: 64, height: 64, rgba: [UInt8](repeating: 0, count: 64 * 64 * 4))
        let read = try ReadJPEG(Icon.jpeg(from: picture.png), by: #require(Self.djpeg))
        #expect(read.rgb.allSatisfy { $0 == 255 })
    }

    @Test(
        .enabled(if: djpeg != nil, "djpeg is not there"),
        arguments: [(300, 100, 120, 40), (7, 300, 3, 120), (1, 300, 1, 120)]
    )
    func `keeps its shape`(width: Int, height: Int, newWidth: Int, newHeight: Int) throws {
        let picture = Picture(width: width, height: height, rgba: [UInt8](repeating: 200, count: width * height * 4))
        let read = try ReadJPEG(Icon.jpeg(from: picture.png), by: #require(Self.djpeg))
        #expect(read.width == newWidth && read.height == newHeight)
    }

    @Test(.enabled(if: djpeg != nil, "djpeg is not there")) func `shows the sample app's lighthouse`() throws {
        let jpeg = try Icon.jpeg(from: SampleIcon.at3x)
        #expect(jpeg.count <= 2_304)
        let read = try ReadJPEG(jpeg, by: #require(Self.djpeg))
        let picture = try Picture(png: SampleIcon.at3x)
        #expect(picture.width == 180)
        #expect(read.likeness(to: picture.scaled(to: read.width)) > 26)
    }
}

@Suite(.timeLimit(.minutes(10))) struct `An icon made smaller` {
    @Test(
        .enabled(if: Crusher.python != nil, Crusher.absent),
        arguments: [
            (87, 87, 60, 60), (60, 60, 29, 29), (33, 21, 10, 6), (5, 40, 2, 16), (64, 64, 16, 16), (3, 2, 1, 1),
        ]
    )
    func `has the light that Python measures`(width: Int, height: Int, newWidth: Int, newHeight: Int) throws {
        var random = SeededGenerator(seed: UInt64(width * 100 + height))
        let picture = Picture(width: width, height: height, rgba: random.bytes(width * height * 4))
        let scaled = picture.scaled(to: max(newWidth, newHeight))
        #expect(scaled.width == newWidth && scaled.height == newHeight)
        let expected = try Crusher.scaled(picture.rgba, width, height, to: newWidth, newHeight)
        // Fractions and whole numbers may round to either side of a half.
        let differences = zip(scaled.rgba, expected).map { abs(Int($0) - Int($1)) }
        #expect(scaled.rgba.count == expected.count)
        #expect(differences.allSatisfy { $0 <= 1 })
        #expect(differences.count { $0 > 0 } <= differences.count / 50)
    }

    @Test func `is as bright from afar as it was`() {
        // Half the light of white is 188 of 255 in sRGB, not 128.
        let picture = Picture(width: 2, height: 1, rgba: [0, 0, 0, 255, 255, 255, 255, 255])
        #expect(picture.scaled(to: 1).rgba == [188, 188, 188, 255])
    }

    @Test func `takes no colour from what is not seen`() {
        let picture = Picture(width: 2, height: 1, rgba: [255, 0, 0, 255, 0, 255, 0, 0])
        #expect(picture.scaled(to: 1).rgba == [255, 0, 0, 128])
    }

    @Test(arguments: 0...255) func `keeps an even colour`(value: UInt8) {
        let picture = Picture(width: 7, height: 7, rgba: (0..<49).flatMap { _ in [value, 255 - value, 0, 255] })
        #expect(picture.scaled(to: 3).rgba == (0..<9).flatMap { _ in [value, 255 - value, 0, 255] })
    }

    @Test func `is never made larger`() throws {
        let picture = Painter.picture(.photo, side: 20, seed: 3)
        for side in [20, 21, 500, 0, -1, Int.max, Int.min] { #expect(picture.scaled(to: side) == picture) }
        #expect(try Picture(png: Icon.png(from: picture.png, side: 100)) == picture)
        let small = try Picture(png: Icon.png(from: picture.png, side: 8))
        #expect(small.width == 8 && small == picture.scaled(to: 8))
    }
}
