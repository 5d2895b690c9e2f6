import FerryPropertyList
import FoundationEssentials

/// The signs before good and bad news.
struct Marks {
    let good: String
    let bad: String
    let warning: String

    /// In colour where it is to be styled.
    init(_ styled: Bool) {
        func mark(_ sign: String, _ colour: Int) -> String { styled ? "\u{1B}[\(colour)m\(sign)\u{1B}[0m" : sign }
        good = mark("✓", 32)
        bad = mark("✗", 31)
        warning = mark("!", 33)
    }
}

/// Names on the left, what they are on the right; a fact without a value is left out, one without a name goes on above it.
///
/// Values are shown as they are: what came from outside must be ``Swift/StringProtocol/printable`` already.
func factLines(_ facts: [(name: String, value: String?)]) -> [String] {
    facts.compactMap { name, value in
        value.map { "  " + name + String(repeating: " ", count: max(1, 14 - name.count)) + $0 }
    }
}

/// Rows of a table as lines: each column as wide as its widest cell, save what a row ends with.
func tableLines(_ rows: [[String]]) -> [String] {
    var widths: [Int] = []
    for row in rows {
        for (column, cell) in row.dropLast().enumerated() {
            if column == widths.count { widths.append(0) }
            widths[column] = max(widths[column], cell.count)
        }
    }
    return rows.map { row in
        let cells = row.enumerated().map { column, cell in
            column == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
        }
        return cells.joined(separator: "  ")
    }
}

/// Whole days from `now` to the end, in seconds since 1970, rounded down; negative once it has passed.
func wholeDays(until end: Int64, _ now: Int64) -> Int {
    Int(((Double(end) - Double(now)) / 86400).rounded(.down))
}

/// The date, if it lies in the years 0 to 9999: a binary property list can say others, which no calendar has.
func calendarDate(_ secondsSince1970: Double) -> Date? {
    let bounds = -62_167_219_200.0..<253_402_300_800.0
    return bounds.contains(secondsSince1970) ? Date(timeIntervalSince1970: secondsSince1970) : nil
}

/// The day of a date, in UTC.
func dayText(_ date: Date) -> String {
    String(PropertyListDate(secondsSince1970: date.timeIntervalSince1970).text.prefix(10))
}

/// How long something still lasts, for people.
func lastingText(_ daysLeft: Int) -> String {
    switch daysLeft {
    case ..<0: "expired \(-daysLeft) \(daysLeft == -1 ? "day" : "days") ago"
    case 0: "ends today"
    case 1: "1 day left"
    default: "\(daysLeft) days left"
    }
}
