/// Dates in UTC, from and to seconds since 1970, without a calendar of the system.
enum CalendarText {
    /// `2026-11-30 05:38:38 UTC`.
    static func utc(_ seconds: Int64) -> String {
        let clamped = min(max(seconds, 0), 253_402_300_799)
        let (year, month, day) = date(daysSince1970: clamped / 86_400)
        let rest = clamped % 86_400
        return "\(year)-\(two(month))-\(two(day)) \(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60)) UTC"
    }

    /// Seconds since 1970 of an HTTP date as servers must write it (RFC 9110 §5.6.7, IMF-fixdate):
    /// `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` for anything else.
    static func seconds(httpDate text: String) -> Int64? {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT", let day = number(parts[1], 2),
            (1...31).contains(day), let month = months.firstIndex(of: String(parts[2])), let year = number(parts[3], 4),
            year >= 1970
        else { return nil }
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard time.count == 3, let hour = number(time[0], 2), hour < 24, let minute = number(time[1], 2), minute < 60,
            let second = number(time[2], 2), second <= 60
        else { return nil }
        return days(year, Int64(month) + 1, day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static func number(_ text: Substring, _ digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int64(text)
    }

    private static func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }

    /// Days from 1970-01-01 to a day of the Gregorian calendar, years counted from March on.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func date(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
