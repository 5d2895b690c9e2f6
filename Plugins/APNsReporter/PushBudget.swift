import FerryLiveActivity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How many pushes the last hour had, and whether there is room for another.
///
/// What happens is told as long as there is any room. Numbers that only move are kept back a second each, and leave the
/// last fifth of an hour's pushes to what happens. Starts and ends are always sent, and count.
struct PushBudget {
    /// The least time between two pushes of numbers that moved, in seconds.
    static let pause: TimeInterval = 1
    private static let hour: TimeInterval = 3_600

    /// How many pushes there may be in any hour.
    let perHour: Int
    /// When the pushes of the last hour were sent, oldest first.
    private(set) var sent: [Date] = []

    init(perHour: Int) {
        self.perHour = perHour
    }

    /// How many pushes there were in the hour before `now`.
    func count(at now: Date) -> Int { sent.count { now.timeIntervalSince($0) < Self.hour } }

    /// Pushes that others sent.
    mutating func add(_ dates: [Date], at now: Date) {
        sent = (dates + sent).filter { $0 <= now && now.timeIntervalSince($0) < Self.hour }.sorted().suffix(perHour)
    }

    /// A push was answered.
    mutating func note(at now: Date) {
        sent.removeAll { now.timeIntervalSince($0) >= Self.hour || $0 > now }
        // More than that never decides anything.
        if sent.count >= perHour { sent.removeFirst(sent.count - perHour + 1) }
        sent.append(now)
    }

    /// When a push of that importance may be sent: now, or the date.
    func earliest(_ importance: LiveActivityPush.Importance, at now: Date) -> Date {
        let room = importance == .fact ? perHour : max(1, perHour - perHour / 5)
        let recent = sent.filter { now.timeIntervalSince($0) < Self.hour && $0 <= now }
        // The one whose hour must be over.
        var date = recent.count >= room ? recent[recent.count - room].addingTimeInterval(Self.hour) : now
        if importance == .progress, let last = recent.last {
            date = max(date, last.addingTimeInterval(Self.pause))
        }
        return date
    }
}
