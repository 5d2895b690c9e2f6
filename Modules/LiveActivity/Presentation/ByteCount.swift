/// Bytes as people read them: decimal units, one digit after the point below 100, as the terminal writes them.
enum ByteCount {
    private static let units = ["B", "kB", "MB", "GB", "TB", "PB"]

    /// `0 B`, `999 B`, `1.5 kB`, `312 MB`; of a total `19.2/48.0 MB`, in the total's unit.
    static func text(_ count: Double, of total: Double?, decimal: String) -> String {
        var power = 1.0
        var index = 0
        while (total ?? count) / power >= 999.5, index + 1 < units.count {
            power *= 1_000
            index += 1
        }
        let parts = [count, total].compactMap { $0.map { number($0 / power, isWhole: index == 0, decimal) } }
        return parts.joined(separator: "/") + " " + units[index]
    }

    private static func number(_ value: Double, isWhole: Bool, _ decimal: String) -> String {
        let value = min(max(value, 0), 999_999)
        if isWhole || value >= 99.95 { return String(Int(value.rounded())) }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10)\(decimal)\(tenths % 10)"
    }
}
