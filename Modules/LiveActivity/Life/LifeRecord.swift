#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// All that the life of an activity must know after a relaunch.
///
/// JSON of a few hundred bytes. Unknown fields are passed over, missing and unreadable ones are as in a fresh record, and
/// what cannot be is set right: a record never makes a launch fail.
public struct LifeRecord: Sendable, Hashable {
    /// The version that is written; others are read as far as they are understood.
    public static let currentVersion = 1
    /// The highest number of a state, as `IslandState.maximumCount`; after it comes 1.
    public static let maximumSeq = 500_000_000
    /// How many former activities are remembered.
    public static let maximumFormer = 32
    /// How many bytes of a record are read.
    public static let maximumBytes = 1 << 20

    /// The activity that stands.
    public struct Island: Sendable, Hashable {
        /// Its name.
        public var id: IslandID
        /// When it was started: its eight hours run from here.
        public var startedAt: Date
        /// When it was adopted here: the grace of its widget runs from here.
        public var adoptedAt: Date
        /// The token for its updates.
        public var token: PushToken?
        /// The number of its first state: what its widget drew cannot be older. 0 where that is unknown.
        public var firstSeq = 0
        /// The number of the last state that got through to it.
        public var sentSeq = 0
        /// The last `aps.timestamp` that was sent to it.
        public var lastTimestamp = 0
        /// Since when its widget has something to draw that it has not drawn.
        public var behindSince: Date?
        /// Whether it is not worth keeping, as a launch found.
        public var isUnusable = false
        /// Whether something new could not be sent yet.
        public var owesUpdate = false
    }

    /// An activity that stood before.
    public struct Former: Sendable, Hashable {
        /// Its name.
        public var id: IslandID
        /// When it was started.
        public var startedAt: Date
        /// When its last token came, for its end; never for an update.
        public var token: PushToken?
        /// Whether we end it ourselves, written before the end is sent: its dismissal is then no swipe.
        public var isEndedByUs: Bool
        /// Whether the end is still to be sent.
        public var owesEnd = false
        /// Before when the end is not tried again.
        public var notBefore: Date?
        /// Until when its last state stays on the lock screen, if it was left there.
        public var lingersUntil: Date?
        /// The last `aps.timestamp` that was sent to it.
        public var lastTimestamp = 0
    }

    /// A start that is under way.
    public struct Pending: Sendable, Hashable {
        /// The number of its state, which names it.
        public var seq: Int
        /// When it was sent.
        public var at: Date
        /// Whether it is a request on this device and not a push.
        public var isRequest: Bool
        /// Whether it was answered 200.
        public var isAnswered = false
        /// Whether something happened that is not in its state.
        public var hasNews = false
    }

    /// That the user swiped an activity away.
    public struct Dismissal: Sendable, Hashable {
        /// Which.
        public var island: IslandID
        /// When we heard of it.
        public var at: Date
        /// Whether it is only presumed, as the token is void and nobody said why.
        public var isPresumed: Bool
    }

    /// Until when something is not tried.
    public struct BackOff: Sendable, Hashable {
        /// Until when.
        public var until: Date
        /// The wait that the next 429 doubles, in seconds.
        public var step: TimeInterval
        /// The answer that it is for; 0 for none.
        public var status: Int
    }

    /// What the widget drew last.
    public struct Liveness: Sendable, Hashable {
        /// The number of the state.
        public var seq: Int
        /// When we heard of it.
        public var at: Date
    }

    /// The version that it was read from.
    public var version = LifeRecord.currentVersion
    /// Whether activities are wanted and allowed.
    public var availability = Availability.on
    /// How many installs run.
    public var installs = 0
    /// The number of the last state that was sent.
    public var seq = 0
    /// The activity that stands.
    public var current: Island?
    /// Those that stood before, the newest last.
    public var former: [Former] = []
    /// The start that is under way.
    public var pending: Pending?
    /// The user's swipe, until a new install begins.
    public var dismissal: Dismissal?
    /// Until when no start is pushed.
    public var backOff: BackOff?
    /// Until when no update is pushed.
    public var updateBackOff: BackOff?
    /// The token for starts.
    public var pushToStartToken: PushToken?
    /// How many starts in a row were answered 200 and adopted by nobody.
    public var unadoptedStarts = 0
    /// What the widget of the present activity drew last.
    public var liveness: Liveness?
    /// How often in a row a stuck widget was restarted.
    public var stuckRestarts = 0
    /// Since when the activity that stands is due and cannot be renewed.
    public var renewalFailedAt: Date?
    /// Whether the user was told to tap, and the notification may still be there.
    public var isNoticeShown = false
    /// The state, for those who only read the record.
    public var state = LifeState.off
    /// Why it is that.
    public var reason = LifeReason.noInstalls
    /// Since when.
    public var since = LifeRecord.never

    /// A date before everything.
    static let never = Date(timeIntervalSince1970: 0)

    /// A record of nothing.
    public init() {}

    /// Reads a record; `nil` for what is no JSON object.
    public init?(json: Data) {
        guard json.count <= Self.maximumBytes, let record = try? JSONDecoder().decode(LifeRecord.self, from: json)
        else {
            return nil
        }
        self = record
    }

    /// The record as JSON; its dates are seconds since 1970.
    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return try encoder.encode(self)
    }

    /// The record with everything that cannot be set right, as seen at `now`: counts, and dates from a clock that was
    /// ahead.
    func settled(at now: Date, _ rules: LifeRules) -> LifeRecord {
        var record = self
        record.version = Self.currentVersion
        record.installs = min(max(installs, 0), Self.maximumSeq)
        record.seq = min(max(seq, 0), Self.maximumSeq)
        record.unadoptedStarts = min(max(unadoptedStarts, 0), 1_000)
        record.stuckRestarts = min(max(stuckRestarts, 0), 1_000)
        record.former = Array(former.suffix(Self.maximumFormer))
        for index in record.former.indices {
            if let date = record.former[index].notBefore {
                record.former[index].notBefore = min(date, now.addingTimeInterval(rules.longestRetryAfter))
            }
        }
        record.backOff = backOff?.settled(at: now, rules)
        record.updateBackOff = updateBackOff?.settled(at: now, rules)
        if let island = current {
            record.current?.startedAt = min(island.startedAt, now)
            record.current?.adoptedAt = min(island.adoptedAt, now)
            record.current?.behindSince = island.behindSince.map { min($0, now) }
            let latest = LifeClock.seconds(now.addingTimeInterval(rules.activeLimit / 2))
            if island.lastTimestamp > latest { record.current?.lastTimestamp = 0 }
        }
        if let pending { record.pending?.at = min(pending.at, now) }
        if let liveness { record.liveness?.at = min(liveness.at, now) }
        return record
    }
}

extension LifeRecord.BackOff {
    fileprivate func settled(at now: Date, _ rules: LifeRules) -> LifeRecord.BackOff {
        LifeRecord.BackOff(
            until: min(until, now.addingTimeInterval(rules.longestRetryAfter)),
            step: step.isFinite ? min(max(step, 0), rules.longestBackOff) : rules.baseBackOff,
            status: status
        )
    }
}

/// Dates as whole seconds.
enum LifeClock {
    /// Whole seconds since 1970, within 0 and the year 2300.
    static func seconds(_ date: Date) -> Int {
        let seconds = date.timeIntervalSince1970
        guard seconds > 0 else { return 0 }
        return Int(min(seconds, 10_413_792_000))
    }
}
