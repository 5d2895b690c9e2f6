/// Which bytes of a file are there: ranges in order, none of which touches another.
package struct ByteMap: Equatable {
    package private(set) var ranges: [Range<Int64>] = []

    /// No bytes.
    package init() {}

    /// The first `count` bytes.
    package init(front count: Int64) {
        if count > 0 { ranges = [0..<count] }
    }

    /// `nil` where the ranges are out of order, empty, below zero, or touch each other.
    package init?(sorted ranges: [Range<Int64>]) {
        var end: Int64 = -1
        for range in ranges {
            guard range.lowerBound > end, range.lowerBound >= 0, !range.isEmpty else { return nil }
            end = range.upperBound
        }
        self.ranges = ranges
    }

    /// Whether there is no byte.
    var isEmpty: Bool { ranges.isEmpty }

    /// How many bytes are there.
    var count: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

    /// How many bytes are there without a gap from the first one on.
    var front: Int64 {
        guard let first = ranges.first, first.lowerBound == 0 else { return 0 }
        return first.upperBound
    }

    /// Where the last range ends.
    var end: Int64 { ranges.last?.upperBound ?? 0 }

    /// Adds a range, which may lie over others.
    package mutating func insert(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        var (lower, upper) = (range.lowerBound, range.upperBound)
        var index = ranges.firstIndex { $0.upperBound >= lower } ?? ranges.count
        let first = index
        while index < ranges.count, ranges[index].lowerBound <= upper {
            lower = min(lower, ranges[index].lowerBound)
            upper = max(upper, ranges[index].upperBound)
            index += 1
        }
        ranges.replaceSubrange(first..<index, with: [lower..<upper])
    }

    /// What is missing below `total`.
    package func gaps(below total: Int64) -> [Range<Int64>] {
        var gaps: [Range<Int64>] = []
        var position: Int64 = 0
        for range in ranges where position < total {
            if range.lowerBound > position { gaps.append(position..<min(range.lowerBound, total)) }
            position = range.upperBound
        }
        if position < total { gaps.append(position..<total) }
        return gaps
    }

    /// What of it lies below `limit`.
    func below(_ limit: Int64) -> ByteMap {
        var map = ByteMap()
        map.ranges = ranges.filter { $0.lowerBound < limit }.map { $0.lowerBound..<min($0.upperBound, limit) }
        return map
    }
}
