/// An instant in a property list, without any calendar but the Gregorian one and any zone but UTC.
public struct PropertyListDate: Sendable, Hashable {
    /// Seconds since 2001-01-01T00:00:00Z, the form in which binary property lists hold it.
    public var secondsSince2001: Double

    private static let unixEpoch: Double = 978_307_200
    private static let secondsADay = 86_400

    /// The instant so many seconds after 2001-01-01T00:00:00Z.
    public init(secondsSince2001: Double) {
        self.secondsSince2001 = secondsSince2001
    }

    /// The instant so many seconds after 1970-01-01T00:00:00Z.
    public init(secondsSince1970: Double) {
        secondsSince2001 = secondsSince1970 - Self.unixEpoch
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    public var secondsSince1970: Double { secondsSince2001 + Self.unixEpoch }

    /// Reads `YYYY-MM-DDTHH:MM:SSZ`, the one form that XML property lists have; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        let form = Array("dddd-dd-ddTdd:dd:ddZ".utf8)
        let digits = Array(text.utf8)
        guard digits.count == form.count else { return nil }
        var numbers: [Int] = [0]
        for (expected, byte) in zip(form, digits) {
            if expected == UInt8(ascii: "d") {
                guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int(byte - UInt8(ascii: "0"))
            } else {
                guard byte == expected else { return nil }
                numbers.append(0)
            }
        }
        let (year, month, day) = (numbers[0], numbers[1], numbers[2])
        guard (1...12).contains(month), (1...Self.daysInMonth(month, year)).contains(day),
            numbers[3] < 24, numbers[4] < 60, numbers[5] < 60
        else { return nil }
        let seconds = numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        self.init(secondsSince1970: Double(Self.days(year, month, day) * Self.secondsADay + seconds))
    }

    /// `YYYY-MM-DDTHH:MM:SSZ`, rounded down to the second.
    ///
    /// What lies outside the years 0 to 9999, which the form cannot say, comes out as the nearest that it can.
    public var text: String {
        let first = Double(Self.days(0, 1, 1) * Self.secondsADay)
        let last = Double(Self.days(10_000, 1, 1) * Self.secondsADay - 1)
        let exact = secondsSince1970.isNaN ? 0 : secondsSince1970
        let seconds = Int(min(max(exact.rounded(.down), first), last))
        var day = seconds / Self.secondsADay
        var rest = seconds % Self.secondsADay
        if rest < 0 {
            rest += Self.secondsADay
            day -= 1
        }
        let (year, month, dayOfMonth) = Self.civil(day)
        let date = "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(dayOfMonth, 2))"
        return date + "T\(Self.padded(rest / 3600, 2)):\(Self.padded(rest / 60 % 60, 2)):\(Self.padded(rest % 60, 2))Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func daysInMonth(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1970-01-01; years begin in March here, so that the leap day comes last in one.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = (month <= 2 ? year - 1 : year) + 400
        let era = shifted / 400
        let yearOfEra = shifted % 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return (era - 1) * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The inverse of `days` for the years that ``text`` can say.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468 + 146_097
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = (shiftedMonth + 2) % 12 + 1
        return (
            (era - 1) * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }
}
