/// A date and a time of day as MS-DOS kept them: from 1980 on, to two seconds, in no time zone.
///
/// `date`: years since 1980 (7 bits), month (4), day (5); `time`: hours (5), minutes (6), seconds halved (5).
public struct DOSDateTime: Sendable, Hashable {
    /// The day, packed.
    public var date: UInt16
    /// The time of day, packed.
    public var time: UInt16

    /// Takes the two fields as they are stored.
    public init(date: UInt16, time: UInt16) {
        self.date = date
        self.time = time
    }

    /// Packs a date and a time; years outside 1980…2107 become the nearest of these.
    public init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        func clamped(_ value: Int, _ range: ClosedRange<Int>) -> Int {
            Swift.min(Swift.max(value, range.lowerBound), range.upperBound)
        }
        let day = clamped(day, 1...31)
        date = UInt16(clamped(year, 1980...2107) - 1980) << 9 | UInt16(clamped(month, 1...12)) << 5 | UInt16(day)
        time =
            UInt16(clamped(hour, 0...23)) << 11 | UInt16(clamped(minute, 0...59)) << 5
            | UInt16(clamped(second, 0...59) / 2)
    }

    /// The first day that there is, for output that must not depend on when it was made.
    public static let earliest = DOSDateTime(year: 1980, month: 1, day: 1)
}
