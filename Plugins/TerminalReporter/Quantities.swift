/// Numbers as people read them.
enum Quantities {
    private static let units = ["B", "kB", "MB", "GB", "TB"]

    /// `0 B`, `999 B`, `1.5 kB`, `48.0 MB`, `312 MB`.
    static func bytes(_ count: Double) -> String {
        let (power, unit) = unit(for: count)
        return number(count / power, isWhole: power == 1) + " " + unit
    }

    /// `19.2/48.0 MB`; without a total `19.2 MB`.
    static func bytes(_ count: Double, of total: Double?) -> String {
        guard let total else { return bytes(count) }
        let (power, unit) = unit(for: total)
        return number(count / power, isWhole: power == 1) + "/" + number(total / power, isWhole: power == 1) + " "
            + unit
    }

    /// `0.4s`, `9.5s`, `42s`, `1m 05s`, `3h 20m`, and `>99h` for more.
    static func time(_ seconds: Double) -> String {
        guard seconds > 0 else { return "0s" }
        if seconds < 9.95 { return number(seconds, isWhole: false) + "s" }
        return wholeTime(seconds)
    }

    /// As ``time(_:)`` in whole seconds, for what ticks.
    static func wholeTime(_ seconds: Double) -> String {
        guard seconds > 0 else { return "0s" }
        guard seconds < 99 * 3_600 else { return ">99h" }
        let seconds = Int(seconds.rounded())
        if seconds < 60 { return "\(seconds)s" }
        if seconds < 3_600 { return "\(seconds / 60)m \(twoDigits(seconds % 60))s" }
        return "\(seconds / 3_600)h \(twoDigits(seconds / 60 % 60))m"
    }

    private static func unit(for count: Double) -> (power: Double, name: String) {
        var power = 1.0
        var index = 0
        while count / power >= 999.5, index + 1 < units.count {
            power *= 1_000
            index += 1
        }
        return (power, units[index])
    }

    /// One digit after the point below 100, none above.
    private static func number(_ value: Double, isWhole: Bool) -> String {
        let value = min(max(value, 0), 999_999)
        if isWhole || value >= 99.95 { return String(Int(value.rounded())) }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : String(number)
    }
}
