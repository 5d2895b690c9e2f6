#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension Date {
    /// The date as ISO 8601 in UTC with milliseconds, `2025-06-15T15:06:40.000Z`; `nil` outside the years 1 to 9999.
    package var isoText: String? {
        let milliseconds = (timeIntervalSince1970 * 1_000).rounded()
        guard milliseconds >= -62_135_596_800_000, milliseconds < 253_402_300_800_000 else { return nil }
        let (days, time) = Int(milliseconds).flooredDivision(by: 86_400_000)
        let (year, month, day) = Self.civil(days: days)
        let parts = [time / 3_600_000, time / 60_000 % 60, time / 1_000 % 60].map { $0.digits(2) }
        return "\(year.digits(4))-\(month.digits(2))-\(day.digits(2))T\(parts.joined(separator: ":"))"
            + ".\((time % 1_000).digits(3))Z"
    }

    /// The day that many days after 1970-01-01 in the Gregorian calendar.
    ///
    /// Years are counted from March here, so that the leap day is the last of its year; 400 of them have 146,097 days.
    private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}

extension Int {
    fileprivate func flooredDivision(by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    fileprivate func digits(_ count: Int) -> String {
        let text = String(self)
        return String(repeating: "0", count: Swift.max(count - text.count, 0)) + text
    }
}
