import FerryPropertyList

/// Reads the dates that people publish.
enum PublishedDate {
    /// The instant that `text` says, to the second; `nil` where it says none.
    ///
    /// `2024-03-05`, `2024-03-05T14:00:00`, with a fraction or without seconds, with a space for the `T`, with `Z`,
    /// `+02:00`, `+0200` or no zone (UTC); or seconds or milliseconds since 1970 as digits.
    static func date(_ text: String) -> PropertyListDate? {
        var scan = Scan(text)
        guard text.utf8.count <= 64 else { return nil }
        if let number = Double(text), scan.isNumber { return date(number) }
        guard let year = scan.digits(4...4), scan.take("-"), let month = scan.digits(1...2), scan.take("-"),
            let day = scan.digits(1...2)
        else { return nil }
        var (hour, minute, second, offset) = (0, 0, 0, 0)
        if scan.take("T") || scan.take("t") || scan.take(" ") {
            guard let hours = scan.digits(1...2), scan.take(":"), let minutes = scan.digits(2...2) else { return nil }
            (hour, minute) = (hours, minutes)
            if scan.take(":") {
                guard let seconds = scan.digits(2...2) else { return nil }
                second = min(seconds, 59)
                if scan.take(".") || scan.take(",") {
                    guard scan.digits(1...18) != nil else { return nil }
                }
            }
            guard let zone = scan.zone() else { return nil }
            offset = zone
        }
        guard scan.isAtEnd, let date = date(year, month, day, hour, minute, second) else { return nil }
        return PropertyListDate(secondsSince1970: date.secondsSince1970 - Double(offset))
    }

    /// The instant so many seconds, or milliseconds, after 1970; `nil` for what can be neither.
    static func date(_ number: Double) -> PropertyListDate? {
        // Less is a year or a mistake. Seconds reach the year 5138, milliseconds begin in 1973.
        guard number >= 1e8, number < 1e14 else { return nil }
        let seconds = number < 1e11 ? number : number / 1000
        return PropertyListDate(secondsSince1970: seconds.rounded(.down))
    }

    /// A date that the calendar has.
    private static func date(_ parts: Int...) -> PropertyListDate? {
        let texts = parts.map { $0 < 10 ? "0\($0)" : "\($0)" }
        guard parts.count == 6, let year = texts.first else { return nil }
        let padded = String(repeating: "0", count: max(0, 4 - year.count)) + year
        return PropertyListDate("\(padded)-\(texts[1])-\(texts[2])T\(texts[3]):\(texts[4]):\(texts[5])Z")
    }
}

/// One walk over a date's text.
private struct Scan {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Whether there are only digits, and at most one point among them.
    var isNumber: Bool {
        rest.allSatisfy { isDigit($0) || $0 == UInt8(ascii: ".") } && rest.first.map(isDigit) == true
    }

    mutating func take(_ letter: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == letter.value else { return false }
        rest.removeFirst()
        return true
    }

    /// So many digits, as a number.
    mutating func digits(_ counts: ClosedRange<Int>) -> Int? {
        let found = rest.prefix(counts.upperBound).prefix { isDigit($0) }
        guard found.count >= counts.lowerBound else { return nil }
        rest.removeFirst(found.count)
        return found.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// The seconds that the zone is before UTC; 0 where there is none.
    mutating func zone() -> Int? {
        if isAtEnd || take("Z") || take("z") { return 0 }
        let sign = take("+") ? 1 : take("-") ? -1 : 0
        guard sign != 0, let hours = digits(2...2) else { return nil }
        _ = take(":")
        let minutes = isAtEnd ? 0 : digits(2...2)
        guard let minutes, hours < 24, minutes < 60 else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
