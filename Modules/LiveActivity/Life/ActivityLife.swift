#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The life of the one Live Activity that shows every install: what happens goes in, what is to be done comes out.
///
/// A pure value with no clock, task or file in it. ``LiveActivityKeeper`` is the thin actor around it.
///
/// **One activity.** At any time at most one is ours and current. A pushed start makes a second one on the phone, of which
/// we hear only when the app says so; from then on the new one is current and the old one is being ended in the same
/// step, never before: a start that is answered 200 and silently dropped must leave the old one standing. Two stand side
/// by side from the start to its adoption, and until the end of the old one got through. In the foreground the old one
/// is ended first, so there are never two. An activity that turns up although nothing was started, while a good one
/// stands, is ended at once.
///
/// **Who ended it.** An activity goes into ``LifeRecord/former`` before its end is sent. What is there, or past its eight
/// hours, was not swiped; everything else that leaves the screen was. A swipe, and one that happened while the app was
/// dead, blocks every start until a new install begins. A token that is void before its activity's time counts as a swipe
/// until the phone says otherwise. Where a relaunch finds the activity gone after its eight hours, nobody can tell a swipe
/// from the system's end; it counts as the system's.
public struct ActivityLife: Sendable {
    /// How many decisions are remembered.
    public static let maximumDecisions = 200

    /// The numbers that it keeps to.
    public let rules: LifeRules
    /// What the host can do.
    public let abilities: HostAbilities
    /// What must survive a relaunch.
    public internal(set) var record: LifeRecord
    /// What was decided and why, the newest last.
    public private(set) var decisions: [LifeDecision] = []
    /// How many there were in all, the forgotten ones too.
    public private(set) var decisionCount = 0
    /// When a ``LifeInput/tick`` is useful without any other input; `nil` when never.
    public private(set) var nextWake: Date?

    /// Whether it was heard what there is: before, nothing is done.
    private var isLaunched = false
    /// Whether the app is in front.
    var isInFront = false
    /// When the app began to come to the front.
    var latchedAt: Date?
    /// When the system last refused a request, and why.
    var refusal: (at: Date, why: String)?
    /// Whether what is owed to the activity is a fact.
    var owesFact = false
    /// What is to be done.
    var actions: [LifeAction] = []
    private var saved: LifeRecord

    /// A life that goes on from a record. Until it hears ``LifeInput/launched(found:)`` it only listens.
    ///
    /// - Parameters:
    ///   - record: What was saved last.
    ///   - abilities: What the host can do.
    ///   - rules: The numbers.
    ///   - now: The date, by which dates of a clock that was ahead are set right.
    public init(
        record: LifeRecord = LifeRecord(),
        abilities: HostAbilities,
        rules: LifeRules = LifeRules(),
        at now: Date
    ) {
        self.rules = rules
        self.abilities = abilities
        self.record = record.settled(at: now, rules)
        saved = record
    }

    /// Takes an input and says what is to be done, in order.
    public mutating func handle(_ input: LifeInput, at now: Date) -> [LifeAction] {
        actions.removeAll(keepingCapacity: true)
        apply(input, now)
        if case .launched = input { isLaunched = true }
        if isLaunched {
            settle(now)
            flushUpdate(now)
        }
        nextWake = wake(after: now)
        if record != saved {
            saved = record
            actions.insert(.save, at: 0)
        }
        return actions
    }

    /// Remembers something that the actor around it has to say.
    mutating func note(_ reason: LifeReason, _ now: Date) {
        // Trimmed rarely, as removing from the front moves everything.
        if decisions.count >= Self.maximumDecisions * 2 {
            decisions.removeFirst(decisions.count - Self.maximumDecisions)
        }
        decisions.append(LifeDecision(date: now, reason: reason))
        decisionCount += 1
    }

    /// How it stands.
    public var status: LifeStatus {
        LifeStatus(
            state: record.state,
            reason: record.reason,
            since: record.since,
            island: record.current?.id,
            deadline: record.current?.startedAt.addingTimeInterval(rules.activeLimit),
            installs: record.installs,
            nextWake: nextWake
        )
    }

    // MARK: Inputs

    private mutating func apply(_ input: LifeInput, _ now: Date) {
        switch input {
        case .installs(let running, let began):
            record.installs = min(max(running, 0), LifeRecord.maximumSeq)
            if began { record.dismissal = nil }
        case .contentChanged(let isUrgent):
            // The start that is under way has an older state in it.
            record.pending?.hasNews = true
            guard record.current != nil else { break }
            record.current?.owesUpdate = true
            if isUrgent { owesFact = true }
        case .launched(let found): launch(found, now)
        case .terminates: note(.terminates, now)
        case .willEnterForeground:
            latchedAt = now
            if rules.flaws.contains(.requestsTooEarly) { isInFront = true }
        case .didBecomeActive:
            isInFront = true
            latchedAt = nil
            refusal = nil
        case .didEnterBackground:
            isInFront = false
            latchedAt = nil
        case .tick: break
        case .availability(let availability): become(availability, now)
        case .pushToStartToken(let token):
            guard record.pushToStartToken != token else { break }
            record.pushToStartToken = token
            if token != nil { note(.startTokenCame, now) }
        case .adopted(let found): adopt(found, isOurRequest: false, now)
        case .requested(let found): adopt(found, isOurRequest: true, now)
        case .requestRefused(let why):
            if record.pending?.isRequest == true { record.pending = nil }
            refusal = (now, why)
            note(.requestRefused(why), now)
        case .updateToken(let id, let token): adopt(FoundIsland(id: id, token: token), isOurRequest: false, now)
        case .dismissed(let id): dismissed(id, now)
        case .ended(let id): ended(id, now)
        case .stale(let id):
            guard record.current?.id == id else { break }
            note(.wentStale(id), now)
            record.current?.owesUpdate = true
        case .answer(.start(let seq, let token), let answer): startAnswered(seq, token, answer, now)
        case .answer(.update(let id, let seq, let token), let answer): updateAnswered(id, seq, token, answer, now)
        case .answer(.end(let id, _), let answer): endAnswered(id, answer, now)
        case .widgetSaw(let seq): widgetSaw(seq, now)
        }
    }

    private mutating func become(_ availability: Availability, _ now: Date) {
        // Switching activities off in Settings takes the present one away, and that may be heard of first.
        if availability == .offInSettings, let swipe = record.dismissal,
            now.timeIntervalSince(swipe.at) <= rules.switchingRace
        {
            record.dismissal = nil
        }
        record.availability = availability
    }

    private mutating func widgetSaw(_ seq: Int, _ now: Date) {
        guard seq > 0, seq <= record.seq else { return note(.unknownSeq(seq), now) }
        // The widget may have drawn what we have not adopted yet; and one that was replaced tells nothing of this one.
        let first = record.current?.firstSeq ?? record.pending?.seq ?? 0
        guard seq >= first else { return }
        // Two widgets draw while one takes the other's place, and the older one may be heard last.
        record.liveness = LifeRecord.Liveness(seq: max(seq, record.liveness?.seq ?? 0), at: now)
        record.stuckRestarts = 0
        if let island = record.current, seq >= island.sentSeq { record.current?.behindSince = nil }
    }

    // MARK: Time

    /// The next moment, after now, at which a tick may change something.
    private func wake(after now: Date) -> Date? {
        var next: Date?
        func consider(_ date: Date?, _ seconds: TimeInterval = 0) {
            guard let date = date?.addingTimeInterval(seconds), date > now else { return }
            next = min(next ?? date, date)
        }
        for former in record.former where former.owesEnd { consider(former.notBefore) }
        guard record.availability == .on, record.installs > 0, record.dismissal == nil else { return next }
        if let island = record.current {
            consider(island.startedAt, rules.renewAfter)
            consider(island.startedAt, rules.activeLimit)
            if canRequest { consider(island.startedAt, rules.renewAfter - rules.renewalWarning) }
            if let since = stillSince(island) { consider(since, rules.stuckAfter) }
            if island.owesUpdate { consider(record.updateBackOff?.until) }
        }
        consider(record.backOff?.until)
        if let pending = record.pending {
            consider(pending.at, pending.isRequest ? rules.requestPatience : rules.answerPatience)
            consider(pending.at, rules.adoptionPatience)
        }
        consider(refusal?.at, rules.requestPatience)
        consider(latchedAt, rules.latchLimit)
        return next
    }
}
