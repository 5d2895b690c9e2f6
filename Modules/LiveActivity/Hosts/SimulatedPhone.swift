#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A phone that keeps Apple's rules for Live Activities, in virtual time and without a task: histories of days run in
/// microseconds.
///
/// The user, the network and the system act by its methods; what the app would be told comes out of
/// ``advance(to:)`` as inputs of ``ActivityLife``, late by a second, and not at all while the app is not running.
public struct SimulatedPhone: Sendable {
    /// Apple's numbers, as far as they are known, in seconds.
    public struct Rules: Sendable, Hashable {
        /// How long an activity is active. Apple: eight hours.
        public var activeLimit: TimeInterval = 8 * 3_600
        /// How long an ended one stays on the lock screen. Apple: four hours.
        public var lockScreenLimit: TimeInterval = 4 * 3_600
        /// How far ahead a timestamp may be. Public reports: eight hours.
        public var latestTimestamp: TimeInterval = 8 * 3_600
        /// How long the body of a push, or a state, may be. Apple: 4 KB.
        public var maximumBytes = 4_096
        /// How many starts may be pushed. Public reports: about ten, then silence.
        public var startBudget = 10
        /// After how long one more is granted; not documented.
        public var startRefill: TimeInterval = 2 * 3_600
        /// How many activities an app may have. Not documented; five have been seen.
        public var maximumIslands = 5
        /// How long a push is on its way, and a report to the app.
        public var delay: TimeInterval = 1
        /// How long after its start an activity has a token.
        public var tokenDelay: TimeInterval = 1
        /// Whether a pushed start lets the app run for a while, to report it. Not when the user has quit it.
        public var wakesApp = true
        /// Whether, when activities are switched off in Settings, their dismissal is told before the switch.
        public var tellsDismissalFirst = true
        /// Whether starts with an empty alert are dropped, as some report.
        public var dropsSilentStarts = false

        /// The numbers as they are reported.
        public init() {}
    }

    /// Where the app is.
    public enum Scene: Sendable, Hashable {
        /// It does not run.
        case notRunning
        /// It runs and is not seen.
        case background
        /// It is seen and not yet, or no longer, active: requests are refused.
        case inactive
        /// It is in front.
        case active
    }

    /// One activity.
    public struct Island: Sendable, Hashable {
        /// In which state it is.
        public enum State: Sendable, Hashable {
            /// In the Dynamic Island and on the lock screen.
            case active
            /// On the lock screen only.
            case ended
            /// Gone.
            case dismissed
        }

        /// Its name.
        public let id: IslandID
        /// When the system made it.
        public let madeAt: Date
        /// When its start was sent: in its attributes.
        public let startedAt: Date
        /// In which state it is.
        public internal(set) var state = State.active
        /// Its token; `nil` before it has one.
        public internal(set) var token: PushToken?
        /// The timestamp of the last push that it took.
        public internal(set) var timestamp: Int
        /// The number of its state.
        public internal(set) var seq: Int
        /// When it goes stale.
        public internal(set) var staleAt: Date?
        /// Whether it has.
        public internal(set) var isStale = false
        /// When it leaves the lock screen, once it has ended.
        public internal(set) var dismissAt: Date?
        /// Whether its widget has stopped drawing.
        public internal(set) var isHung = false
    }

    /// Why a request was refused.
    public enum Refusal: String, Error, Sendable, Hashable {
        /// The app is not in front.
        case visibility
        /// The user switched activities off.
        case denied
        /// There are too many.
        case targetMaximumExceeded
        /// The state and the attributes are too long.
        case attributesTooLarge
    }

    enum Effect: Sendable, Hashable {
        /// A push arrives; for the activity that had its token when it was sent.
        case deliver(SimulatedPush, to: IslandID?)
        case giveToken(IslandID)
        case tell(LifeInput)
    }

    /// Apple's numbers.
    public var rules: Rules
    /// The present moment.
    public private(set) var now: Date
    /// Every activity that is or was, the newest last; of those that are gone, the last few.
    public internal(set) var islands: [Island] = []
    /// Where the app is.
    public internal(set) var scene = Scene.notRunning
    /// Whether the user allows activities.
    public internal(set) var isEnabled = true
    /// Whether the app is installed.
    public internal(set) var isInstalled = true
    /// The token for starts; `nil` before the app ran once.
    public internal(set) var pushToStartToken: PushToken?
    /// Until when APNs answers 429.
    public var rateLimitedUntil: Date?
    /// What those answers say in `Retry-After`.
    public var retryAfter: TimeInterval?
    /// Until when nobody answers.
    public var unreachableUntil: Date?
    /// How many of the next starts are answered 200 and dropped.
    public var silentDrops = 0
    /// Whether the user quit the app: then no push wakes it.
    public internal(set) var isQuit = false
    /// How many starts are left.
    public internal(set) var startsLeft: Double
    /// The last state that the widget drew, in the store of the app group.
    public internal(set) var drawnSeq: Int?
    /// How often a second activity made the island minimal.
    public internal(set) var minimalCount = 0

    var effects: [(at: Date, order: Int, effect: Effect)] = []
    var lastNumber = 0

    /// A phone with the app installed and not running.
    public init(at now: Date, rules: Rules = Rules()) {
        self.now = now
        self.rules = rules
        startsLeft = Double(rules.startBudget)
    }

    /// The activities that are in the Dynamic Island.
    public var active: [Island] { islands.filter { $0.state == .active } }

    /// Whether two activities make the island minimal.
    public var isMinimal: Bool { active.count > 1 }

    // MARK: Time

    /// When something will happen by itself; `nil` when nothing will.
    public var nextEvent: Date? {
        var next: Date?
        func consider(_ date: Date?) {
            guard let date else { return }
            next = min(next ?? date, date)
        }
        for effect in effects { consider(effect.at) }
        for island in islands {
            switch island.state {
            case .active:
                consider(island.madeAt.addingTimeInterval(rules.activeLimit))
                if !island.isStale { consider(island.staleAt) }
            case .ended: consider(island.dismissAt)
            case .dismissed: break
            }
        }
        return next
    }

    /// Lets time pass and returns what the app is told meanwhile, each with its moment. A moment that has passed changes
    /// nothing.
    public mutating func advance(to date: Date) -> [(at: Date, input: LifeInput)] {
        var told: [(at: Date, input: LifeInput)] = []
        while let next = nextEvent, next <= date {
            move(to: max(next, now))
            happen(&told)
        }
        move(to: max(date, now))
        return told
    }

    private mutating func move(to date: Date) {
        let passed = date.timeIntervalSince(now)
        startsLeft = min(Double(rules.startBudget), startsLeft + passed / rules.startRefill)
        now = date
    }

    /// Everything that is due at this moment.
    private mutating func happen(_ told: inout [(at: Date, input: LifeInput)]) {
        for index in islands.indices {
            let island = islands[index]
            switch island.state {
            case .active:
                if island.madeAt.addingTimeInterval(rules.activeLimit) <= now {
                    end(index, dismissAt: now.addingTimeInterval(rules.lockScreenLimit))
                } else if !island.isStale, let date = island.staleAt, date <= now {
                    islands[index].isStale = true
                    tell(.stale(island.id))
                }
            case .ended:
                if let date = island.dismissAt, date <= now { dismiss(index) }
            case .dismissed: break
            }
        }
        let due = effects.filter { $0.at <= now }.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
        effects.removeAll { $0.at <= now }
        for effect in due {
            switch effect.effect {
            case .deliver(let push, let id): take(push, for: id)
            case .giveToken(let id): giveToken(id)
            case .tell(let input): if scene != .notRunning { told.append((now, input)) }
            }
        }
        if islands.count > 8, let index = islands.firstIndex(where: { $0.state == .dismissed }) {
            islands.remove(at: index)
        }
    }

    mutating func after(_ delay: TimeInterval, _ effect: Effect) {
        lastNumber += 1
        effects.append((now.addingTimeInterval(delay), lastNumber, effect))
    }

    /// Tells the app, which does not hear it if it is not running.
    mutating func tell(_ input: LifeInput, after delay: TimeInterval? = nil) {
        guard scene != .notRunning else { return }
        after(delay ?? rules.delay, .tell(input))
    }

    mutating func newToken() -> PushToken? {
        lastNumber += 1
        return PushToken(bytes: withUnsafeBytes(of: UInt64(lastNumber).bigEndian) { Array($0) })
    }

    // MARK: Activities

    mutating func make(startedAt: Date, timestamp: Int, seq: Int, staleAt: Date?) -> Island? {
        lastNumber += 1
        guard let id = IslandID(rawValue: "island-\(lastNumber)") else { return nil }
        let island = Island(
            id: id,
            madeAt: now,
            startedAt: startedAt,
            timestamp: timestamp,
            seq: seq,
            staleAt: staleAt
        )
        islands.append(island)
        if active.count == 2 { minimalCount += 1 }
        draw(islands.count - 1)
        tell(.adopted(found(island)))
        after(rules.tokenDelay, .giveToken(id))
        return island
    }

    func found(_ island: Island) -> FoundIsland {
        FoundIsland(
            id: island.id,
            token: island.token,
            startedAt: island.startedAt,
            seq: island.seq,
            isActive: island.state == .active,
            isStale: island.isStale
        )
    }

    private mutating func giveToken(_ id: IslandID) {
        guard let index = islands.firstIndex(where: { $0.id == id && $0.state == .active }) else { return }
        let token = newToken()
        islands[index].token = token
        if let token { tell(.updateToken(id, token)) }
    }

    private mutating func draw(_ index: Int) {
        guard !islands[index].isHung, islands[index].state == .active else { return }
        drawnSeq = islands[index].seq
        tell(.widgetSaw(seq: islands[index].seq))
    }

    mutating func update(_ index: Int, timestamp: Int, seq: Int, staleAt: Date?) {
        islands[index].timestamp = max(islands[index].timestamp, timestamp)
        islands[index].seq = seq
        islands[index].staleAt = staleAt
        islands[index].isStale = staleAt.map { $0 <= now } ?? false
        draw(index)
    }

    mutating func end(_ index: Int, dismissAt: Date?) {
        guard islands[index].state != .dismissed else { return }
        if islands[index].state == .active {
            islands[index].state = .ended
            tell(.ended(islands[index].id))
        }
        let latest = now.addingTimeInterval(rules.lockScreenLimit)
        islands[index].dismissAt = min(dismissAt ?? now, latest)
        if dismissAt.map({ $0 <= now }) ?? true { dismiss(index) }
    }

    mutating func dismiss(_ index: Int) {
        guard islands[index].state != .dismissed else { return }
        islands[index].state = .dismissed
        tell(.dismissed(islands[index].id))
    }

    private mutating func take(_ push: SimulatedPush, for id: IslandID?) {
        guard isInstalled else { return }
        if case .start(let startedAt, let hasAlert, let isSilent) = push.event {
            let isDropped = silentDrops > 0 || isSilent && rules.dropsSilentStarts
            if silentDrops > 0 { silentDrops -= 1 }
            guard hasAlert, !isDropped, isEnabled, startsLeft >= 1, isInTime(push, after: 0),
                active.count < rules.maximumIslands
            else { return }
            startsLeft -= 1
            if scene == .notRunning, rules.wakesApp, !isQuit { launch(into: .background) }
            _ = make(startedAt: startedAt, timestamp: push.timestamp, seq: push.seq, staleAt: push.staleAt)
            return
        }
        guard let index = islands.firstIndex(where: { $0.id == id && $0.state == .active }),
            isInTime(push, after: islands[index].timestamp)
        else { return }
        update(index, timestamp: push.timestamp, seq: push.seq, staleAt: push.staleAt)
        if case .end(let dismissAt) = push.event { end(index, dismissAt: dismissAt) }
    }

    /// Whether the phone takes a push with that timestamp.
    private func isInTime(_ push: SimulatedPush, after last: Int) -> Bool {
        push.timestamp >= last && Double(push.timestamp) <= now.timeIntervalSince1970 + rules.latestTimestamp
    }
}
