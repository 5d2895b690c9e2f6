extension Icon {
    /// The plain PNG of a PNG, crushed or not, as a square of `side` pixels: made smaller or larger, and in the middle
    /// where it is no square itself. Over-the-air installs ask for squares of 57 and 512.
    public static func square(from png: [UInt8], side: Int) throws(IconError) -> [UInt8] {
        try Picture(png: png).square(side).png
    }

    /// A plain drawn icon for an app that has none: `side` pixels, a light disc on blue.
    public static func drawn(side: Int) -> [UInt8] {
        var rgba: [UInt8] = []
        rgba.reserveCapacity(side * side * 4)
        for y in 0..<side {
            for x in 0..<side {
                // Twice the distance from the middle, so that all stays whole.
                let (across, down) = (2 * x + 1 - side, 2 * y + 1 - side)
                let isInside = (across * across + down * down) * 4 < side * side
                rgba += isInside ? [0xE8, 0xEE, 0xF7, 0xFF] : [0x3B, 0x6E, 0xB5, 0xFF]
            }
        }
        return Picture(width: side, height: side, rgba: rgba).png
    }
}

extension Picture {
    /// Itself in a square of `side` pixels, as large as fits, on nothing.
    func square(_ side: Int) -> Picture {
        let fitting = max(width, height) > side ? scaled(to: side) : enlarged(to: side)
        guard fitting.width != side || fitting.height != side else { return fitting }
        var square = [UInt8](repeating: 0, count: side * side * 4)
        let (left, top) = ((side - fitting.width) / 2, (side - fitting.height) / 2)
        for y in 0..<fitting.height {
            let from = y * fitting.width * 4
            let to = ((top + y) * side + left) * 4
            square.replaceSubrange(to..<to + fitting.width * 4, with: fitting.rgba[from..<from + fitting.width * 4])
        }
        return Picture(width: side, height: side, rgba: square)
    }

    /// Itself with `side` pixels on its longer side, each new pixel mixed of the four nearest, in 256ths.
    private func enlarged(to side: Int) -> Picture {
        let longest = max(width, height)
        guard longest > 0, side > longest else { return self }
        let newWidth = max(1, width * side / longest)
        let newHeight = max(1, height * side / longest)
        let across = Self.places(of: width, in: newWidth)
        let down = Self.places(of: height, in: newHeight)
        let rgba = [UInt8](unsafeUninitializedCapacity: newWidth * newHeight * 4) { new, count in
            count = newWidth * newHeight * 4
            self.rgba.withUnsafeBufferPointer { old in
                var place = 0
                for row in down {
                    for column in across {
                        Self.mix(old, width, row, column, into: new, at: place)
                        place += 4
                    }
                }
            }
        }
        return Picture(width: newWidth, height: newHeight, rgba: rgba)
    }

    /// Mixes one pixel of four. No array is made for it: there are a quarter of a million of them.
    private static func mix(
        _ old: UnsafeBufferPointer<UInt8>,
        _ width: Int,
        _ row: (first: Int, second: Int, part: Int),
        _ column: (first: Int, second: Int, part: Int),
        into new: UnsafeMutableBufferPointer<UInt8>,
        at place: Int
    ) {
        let (a, b) = ((row.first * width + column.first) * 4, (row.first * width + column.second) * 4)
        let (c, d) = ((row.second * width + column.first) * 4, (row.second * width + column.second) * 4)
        let (up, left) = (256 - row.part, 256 - column.part)
        // What is transparent has no color to give.
        let (ofA, ofB) = (Int(old[a + 3]) * up * left, Int(old[b + 3]) * up * column.part)
        let (ofC, ofD) = (Int(old[c + 3]) * row.part * left, Int(old[d + 3]) * row.part * column.part)
        let alpha = ofA + ofB + ofC + ofD
        var sample = 0
        while sample < 3 {
            let ab = Int(old[a + sample]) * ofA + Int(old[b + sample]) * ofB
            let cd = Int(old[c + sample]) * ofC + Int(old[d + sample]) * ofD
            new[place + sample] = alpha == 0 ? 0 : UInt8((ab + cd + alpha / 2) / alpha)
            sample += 1
        }
        new[place + 3] = UInt8((alpha + 32768) / 65536)
    }

    /// For each of `newCount` places the two old ones beside it, and how far it is from the first, in 256ths.
    private static func places(of count: Int, in newCount: Int) -> [(first: Int, second: Int, part: Int)] {
        (0..<newCount).map { index in
            let place = max(0, (2 * index + 1) * count * 128 / newCount - 128)
            let first = min(place / 256, count - 1)
            return (first, min(first + 1, count - 1), place % 256)
        }
    }
}
