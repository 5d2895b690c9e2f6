/// A version as people number them, for putting one before the other: `1.10` is later than `1.9`, and `2.0` than `2.0-beta`.
///
/// Runs of digits are compared as numbers of any length, runs of letters as text; what stands between them does not count,
/// and zeros at the end count no more than their absence.
struct VersionNumber: Comparable {
    private enum Part: Equatable {
        /// Letters: `beta`. They come before the end of a shorter version, as a test version comes before the version.
        case word([UInt8])
        /// Digits without leading zeros.
        case number([UInt8])
    }

    private let parts: [Part]

    init(_ text: String) {
        var parts: [Part] = []
        var run: [UInt8] = []
        var isNumber = false
        func end() {
            guard !run.isEmpty else { return }
            // `2.0-beta` is `2-beta`, as `2.0` is `2`.
            while !isNumber, parts.last == .number([]) { parts.removeLast() }
            parts.append(isNumber ? .number(Array(run.drop { $0 == UInt8(ascii: "0") })) : .word(run))
            run = []
        }
        for byte in text.utf8 {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            let lower = byte | 0x20
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lower) || byte >= 0x80
            if !run.isEmpty, isDigit != isNumber || !(isDigit || isLetter) { end() }
            guard isDigit || isLetter else { continue }
            isNumber = isDigit
            run.append(isDigit || byte >= 0x80 ? byte : lower)
        }
        end()
        // The letter of `v1.2`.
        if parts.count > 1, parts.first == .word([UInt8(ascii: "v")]) { parts.removeFirst() }
        while parts.last == .number([]) { parts.removeLast() }
        self.parts = parts
    }

    static func < (one: VersionNumber, other: VersionNumber) -> Bool {
        for index in 0..<max(one.parts.count, other.parts.count) {
            let left = index < one.parts.count ? one.parts[index] : nil
            let right = index < other.parts.count ? other.parts[index] : nil
            if left == right { continue }
            switch (left, right) {
            case (.number(let left)?, .number(let right)?):
                return left.count == right.count ? left.lexicographicallyPrecedes(right) : left.count < right.count
            case (.word(let left)?, .word(let right)?): return left.lexicographicallyPrecedes(right)
            // A word is before the end, the end before a number.
            case (.word?, _): return true
            case (_, .word?): return false
            case (nil, _): return true
            case (_, nil): return false
            }
        }
        return false
    }
}
