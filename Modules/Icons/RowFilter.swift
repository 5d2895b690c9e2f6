/// The five filters that a row of a PNG is written through. Source: PNG (ISO/IEC 15948), “Filtering”.
///
/// Each predicts a byte from the one before it (of the pixel to the left), the one above, and the one above that before
/// it; what is written is the difference.
enum RowFilter: UInt8 {
    case none = 0
    case sub = 1
    case up = 2
    case average = 3
    case paeth = 4

    @inline(__always)
    func prediction(_ left: UInt8, _ above: UInt8, _ aboveLeft: UInt8) -> UInt8 {
        switch self {
        case .none: return 0
        case .sub: return left
        case .up: return above
        case .average: return UInt8((UInt16(left) + UInt16(above)) / 2)
        case .paeth:
            let estimate = Int(left) + Int(above) - Int(aboveLeft)
            let (toLeft, toAbove) = (abs(estimate - Int(left)), abs(estimate - Int(above)))
            let toAboveLeft = abs(estimate - Int(aboveLeft))
            if toLeft <= toAbove, toLeft <= toAboveLeft { return left }
            return toAbove <= toAboveLeft ? above : aboveLeft
        }
    }
}

/// The rows of one pass within the unpacked pixels, each after the byte of its filter.
struct FilteredRows {
    /// Where the first row's filter stands.
    let start: Int
    let rowBytes: Int
    let height: Int
    /// How far back a filter looks.
    let distance: Int

    private var stride: Int { rowBytes + 1 }
    /// Where what follows the pass begins.
    var end: Int { start + stride * height }

    /// Puts the samples in place of the differences; the filters' bytes stay.
    func undo(in bytes: inout [UInt8]) throws(IconError) {
        for row in 0..<height {
            let at = start + row * stride
            guard let filter = RowFilter(rawValue: bytes[at]) else {
                throw IconError(.badPixels, "Row \(row) of the pixels has the filter \(bytes[at]); there are 0 to 4.")
            }
            guard filter != .none else { continue }
            for index in at + 1..<at + stride {
                bytes[index] &+= prediction(filter, at: index, row: row, rowStart: at, bytes)
            }
        }
    }

    /// Puts the differences in place of the samples, by the filters that stand there.
    func apply(in bytes: inout [UInt8]) {
        // From the end, so that what a prediction looks at is still a sample.
        for row in (0..<height).reversed() {
            let at = start + row * stride
            guard let filter = RowFilter(rawValue: bytes[at]), filter != .none else { continue }
            for index in (at + 1..<at + stride).reversed() {
                bytes[index] &-= prediction(filter, at: index, row: row, rowStart: at, bytes)
            }
        }
    }

    @inline(__always)
    private func prediction(_ filter: RowFilter, at index: Int, row: Int, rowStart: Int, _ bytes: [UInt8]) -> UInt8 {
        let hasLeft = index - distance > rowStart
        return filter.prediction(
            hasLeft ? bytes[index - distance] : 0,
            row > 0 ? bytes[index - stride] : 0,
            hasLeft && row > 0 ? bytes[index - stride - distance] : 0
        )
    }

    /// Calls `body` with the place of each row's first sample.
    func forEachRow(_ body: (Int) -> Void) {
        for row in 0..<height { body(start + row * stride + 1) }
    }
}
