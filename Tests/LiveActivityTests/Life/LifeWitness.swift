import Foundation

@testable import FerryLiveActivity

/// Watches what a life is told and what it does, and knows by itself what would be right.
struct LifeWitness {
    private struct End {
        var at: Date
        var isThrough: Bool
        var notBefore: Date
    }

    private struct Attempt {
        var seq: Int
        var at: Date
        var isRequest: Bool
        var isAnswered = false
    }

    private let history: LifeHistory
    private let rules: LifeRules
    /// Activities that the user swiped while they were active.
    var swiped: Set<IslandID> = []
    /// Activities that may have gone without a word: switched off in Settings, or the app removed.
    private var vanished: Set<IslandID> = []
    /// Activities whose token was answered to be void.
    private var void: Set<IslandID> = []

    /// What the life was told of and must take for present, with the dates of their starts.
    private var known: [IslandID: Date] = [:]
    private var tokens: [IslandID: PushToken] = [:]
    /// What was known at a time when none was wanted: its end may come late.
    private var unwanted: Set<IslandID> = []
    private var ends: [IslandID: End] = [:]
    private var swipe: (island: IslandID, at: Date)?
    private var installs = 0
    private var availability = Availability.on
    private var isInFront = false
    private var latchedAt: Date?
    private var startToken: PushToken?
    private var backOffUntil: Date?
    private var step = 0.0
    private var lastStatus = 0
    private var unadopted = 0
    private var attempt: Attempt?
    private var refusedAt: Date?
    private var lastSeq = 0
    /// The last activity, which was ended in this step.
    private var lastEnded: IslandID?
    private var noneSince: Date?
    private var dueSince: Date?
    private var appRunsSince: Date?

    init(_ history: LifeHistory, _ rules: LifeRules) {
        self.history = history
        self.rules = rules
    }

    private var isOnDevice: Bool { history.place != .server }
    private var canPush: Bool { history.place != .app }
    private var slack: Double { history.tick + history.answerDelay + 5 }

    func broken(_ rule: Broken.Rule, _ now: Date, _ what: String) -> Broken {
        Broken(rule: rule, at: now.timeIntervalSince(LifeRun.epoch), what: what)
    }

    mutating func vanishing(_ islands: [SimulatedPhone.Island]) {
        for island in islands { vanished.insert(island.id) }
    }

    /// What would have followed did not.
    mutating func crashed() {
        lastEnded = nil
    }

    mutating func appEnded(_ now: Date) {
        appRunsSince = nil
        if isOnDevice {
            isInFront = false
            latchedAt = nil
            attempt = attempt.flatMap { $0.isRequest ? nil : $0 }
        }
    }

    // MARK: What the life hears

    mutating func told(_ input: LifeInput, _ life: ActivityLife, _ phone: SimulatedPhone, at now: Date) throws(Broken) {
        switch input {
        case .installs(let running, let began):
            installs = running
            if began { swipe = nil }
        case .availability(let news):
            if news == .offInSettings, let swipe, now.timeIntervalSince(swipe.at) <= rules.switchingRace {
                self.swipe = nil
            }
            availability = news
        case .launched(let found):
            isInFront = false
            latchedAt = isOnDevice ? now : nil
            refusedAt = nil
            if attempt?.isRequest == true { attempt = nil }
            guard let found else { break }
            appRunsSince = now
            for id in known.keys.sorted(by: { $0.rawValue < $1.rawValue }) where !found.contains(where: { $0.id == id })
            {
                let before = swipe
                gone(id, life, phone, now)
                // What is gone while activities are off may have been swiped or switched off: it is taken for the latter.
                if availability != .on { swipe = before }
            }
            for island in found {
                if island.isActive { came(island, phone, now) } else { known[island.id] = nil }
            }
        case .willEnterForeground: latchedAt = now
        case .didBecomeActive:
            isInFront = true
            latchedAt = nil
            refusedAt = nil
        case .didEnterBackground:
            isInFront = false
            latchedAt = nil
        case .pushToStartToken(let token): startToken = token
        case .adopted(let found), .requested(let found):
            if case .requested = input { attempt = nil }
            came(found, phone, now)
        case .requestRefused:
            attempt = nil
            refusedAt = now
        case .updateToken(let id, let token): came(FoundIsland(id: id, token: token), phone, now)
        case .dismissed(let id): gone(id, life, phone, now)
        case .ended(let id):
            known[id] = nil
            void.remove(id)
        case .answer(.start(let seq, let token), let answer): startAnswered(seq, token, answer, now)
        case .answer(.update(let id, _, _), let answer):
            if answer.isTokenVoid { void.insert(id) }
        case .answer(.end(let id, _), let answer):
            let isThrough = answer.status == 200 || answer.isTokenVoid
            ends[id]?.isThrough = isThrough
            ends[id]?.notBefore = now.addingTimeInterval(max(answer.retryAfter ?? 0, rules.baseBackOff))
        case .contentChanged, .terminates, .tick, .stale, .widgetSaw: break
        }
    }

    private mutating func came(_ found: FoundIsland, _ phone: SimulatedPhone, _ now: Date) {
        if let token = found.token { tokens[found.id] = token }
        if ends[found.id] != nil || known[found.id] != nil { return }
        let truth = phone.islands.first { $0.id == found.id }
        if truth == nil || truth?.state == .active { known[found.id] = found.startedAt ?? truth?.startedAt ?? now }
        if attempt?.isAnswered == false { lastStatus = 0 }
        attempt = nil
        unadopted = 0
        if lastStatus == 200 || lastStatus == 0 || backOffUntil.map({ $0 <= now }) ?? true {
            (step, backOffUntil) = (0, nil)
        }
    }

    private mutating func gone(_ id: IslandID, _ life: ActivityLife, _ phone: SimulatedPhone, _ now: Date) {
        let truth = phone.islands.first { $0.id == id }
        let startedAt = known[id] ?? truth?.startedAt ?? now
        known[id] = nil
        let isReplaced = life.record.current?.id != id && life.record.former.contains { $0.id == id }
        guard swiped.contains(id), ends[id] == nil, !isReplaced,
            now.timeIntervalSince(startedAt) < rules.activeLimit
        else { return }
        swipe = (id, now)
    }

    private mutating func startAnswered(_ seq: Int, _ token: PushToken, _ answer: PushAnswer, _ now: Date) {
        let isOurs = attempt?.seq == seq
        switch answer.status {
        case 200:
            guard isOurs else { return }
            attempt?.isAnswered = true
            unadopted += 1
            step = 300
            backOffUntil = now.addingTimeInterval(unadopted >= 4 ? 3_600 : 300)
        case 410:
            if startToken == token { startToken = nil }
            (step, backOffUntil) = (0, nil)
        case 429:
            step = min(max(step * 2, 300), 3_600)
            backOffUntil = now.addingTimeInterval(max(step, answer.retryAfter ?? 0))
        default:
            step = max(step, 300)
            backOffUntil = now.addingTimeInterval(step)
        }
        if answer.status != 200, isOurs { attempt = nil }
        lastStatus = answer.status
    }

    // MARK: What the life does

    mutating func willDo(
        _ action: LifeAction,
        _ life: ActivityLife,
        _ phone: SimulatedPhone,
        at now: Date
    ) throws(Broken) {
        switch action {
        case .request(let start):
            lastEnded = nil
            try mayStart(life, phone, now)
            try fresh(start.seq, now)
            guard isInFront else { throw broken(.requestNotInFront, now, "the life was not told that it is in front") }
            if let other = phone.active.first(where: { known[$0.id] != nil && ends[$0.id] == nil }) {
                throw broken(.twoActivities, now, "a request while \(other.id) stands")
            }
            attempt = Attempt(seq: start.seq, at: now, isRequest: true)
        case .pushStart(let start, _):
            try mayStart(life, phone, now)
            try fresh(start.seq, now)
            if let backOffUntil, now < backOffUntil {
                let early = backOffUntil.timeIntervalSince(now)
                throw broken(.startInBackOff, now, "a start \(early) s too early, after \(lastStatus)")
            }
            if let attempt, !attempt.isAnswered, now.timeIntervalSince(attempt.at) < rules.answerPatience {
                throw broken(.startsStacked, now, "a start upon one that is not answered")
            }
            // It was never answered.
            if let attempt, !attempt.isAnswered, !attempt.isRequest { step = max(step, rules.baseBackOff) }
            attempt = Attempt(seq: start.seq, at: now, isRequest: false)
        case .update(let update):
            try fresh(update.seq, now)
            if ends[update.island] != nil {
                throw broken(.pushToReplaced, now, "an update to \(update.island), which was ended")
            }
        case .end(let end):
            try fresh(end.seq, now)
            let isWanted = installs > 0 && availability == .on && life.record.dismissal == nil
            let age = known[end.island].map { now.timeIntervalSince($0) } ?? .infinity
            let isLast = age < rules.activeLimit && !known.keys.contains { $0 != end.island && ends[$0] == nil }
            if isWanted, isLast, !unwanted.contains(end.island), ends[end.island] == nil { lastEnded = end.island }
            let wait = now.addingTimeInterval(rules.baseBackOff)
            ends[end.island] = End(at: now, isThrough: false, notBefore: wait)
        case .save, .notifyTapToUpdate, .withdrawNotice: break
        }
    }

    private mutating func fresh(_ seq: Int, _ now: Date) throws(Broken) {
        // Updates of one step may have the same state; nothing may have an older one.
        guard seq >= lastSeq else { throw broken(.seqRepeated, now, "\(seq) after \(lastSeq)") }
        lastSeq = seq
    }

    private func mayStart(_ life: ActivityLife, _ phone: SimulatedPhone, _ now: Date) throws(Broken) {
        if let swipe { throw broken(.swipeUndone, now, "a start although \(swipe.island) was swiped away") }
        guard installs > 0, availability == .on else { throw broken(.swipeUndone, now, "a start that nobody wants") }
        let causes = life.decisions.suffix(3).map(\.reason)
        let isStuck =
            causes.contains { if case .started(_, .stuckWidget) = $0 { true } else { false } }
            || causes.contains { if case .pushedStart(_, .stuckWidget, _) = $0 { true } else { false } }
        guard isStuck, let since = appRunsSince, now.timeIntervalSince(since) > rules.stuckAfter + 60 else { return }
        let isHung = phone.islands.contains { known[$0.id] != nil && $0.isHung } || phone.islands.last?.isHung == true
        if !isHung { throw broken(.widgetMisjudged, now, "no widget hangs") }
    }

    // MARK: Before and after each step

    /// Nothing happened since the last step: whatever was due then is overdue if its time has passed.
    func before(_ run: LifeRun, at now: Date) throws(Broken) {
        if let since = noneSince, now > blocked(since).addingTimeInterval(slack) {
            throw broken(.noActivity, now, "none since \(since.timeIntervalSince(LifeRun.epoch)) s")
        }
        if let since = dueSince, now > blocked(since).addingTimeInterval(slack) {
            throw broken(.notRenewed, now, "due since \(since.timeIntervalSince(LifeRun.epoch)) s")
        }
        for (id, end) in ends where run.life != nil {
            guard let island = run.phone.active.first(where: { $0.id == id }) else { continue }
            let isReachable = isOnDevice || tokens[id] != nil && tokens[id] == island.token
            let due = end.isThrough ? end.at.addingTimeInterval(3) : max(end.at.addingTimeInterval(300), end.notBefore)
            if isReachable, now > due.addingTimeInterval(slack) {
                throw broken(.endNotRetried, now, "\(id) was ended and stands")
            }
        }
    }

    /// When at the earliest something had to be done about what is wrong since then.
    private func blocked(_ since: Date) -> Date {
        var date = since
        if let attempt {
            let patience: Double =
                attempt.isRequest
                ? rules.requestPatience
                : attempt.isAnswered ? (isInFront && isOnDevice ? rules.adoptionPatience : 0) : rules.answerPatience
            date = max(date, attempt.at.addingTimeInterval(patience))
        }
        if let latchedAt { date = max(date, latchedAt.addingTimeInterval(rules.latchLimit)) }
        if isInFront, isOnDevice {
            if let refusedAt { date = max(date, refusedAt.addingTimeInterval(rules.requestPatience)) }
            // A lost answer opens a back-off, which a request does not care about.
            return date
        }
        if let backOffUntil { date = max(date, backOffUntil) }
        // An answer that never came counts as no answer, whose wait is the base.
        if let attempt, !attempt.isRequest, !attempt.isAnswered {
            date = max(date, attempt.at.addingTimeInterval(rules.answerPatience + max(step, rules.baseBackOff) + slack))
        }
        return date
    }

    mutating func after(_ run: LifeRun, at now: Date) throws(Broken) {
        if let lastEnded { throw broken(.leftNothing, now, "\(lastEnded) was ended and nothing is there in its place") }
        guard let life = run.life else {
            (noneSince, dueSince) = (nil, nil)
            return
        }
        if installs == 0 || availability != .on || life.record.dismissal != nil { unwanted.formUnion(known.keys) }
        if let dismissal = life.record.dismissal {
            let isRight =
                dismissal.isPresumed
                ? void.contains(dismissal.island)
                : swiped.contains(dismissal.island) || vanished.contains(dismissal.island)
            if !isRight { throw broken(.swipeMistaken, now, "\(dismissal.island) was not swiped away") }
        }
        if let swipe, life.record.dismissal == nil {
            throw broken(.swipeUndone, now, "the swipe of \(swipe.island) is forgotten")
        }
        let standing = run.phone.active.filter { island in
            known[island.id] != nil && ends[island.id] == nil && (isOnDevice || tokens[island.id] != nil)
        }
        if standing.count > 1 {
            throw broken(.twoActivities, now, standing.map(\.id.rawValue).joined(separator: ", "))
        }
        if isOnDevice, let island = run.phone.active.first(where: { ends[$0.id] != nil }) {
            throw broken(.twoActivities, now, "\(island.id) stands although it was ended")
        }

        let canStart = isInFront && isOnDevice || canPush && startToken != nil
        let isWanted =
            installs > 0 && availability == .on && run.phone.isEnabled && run.phone.isInstalled && swipe == nil
            && life.record.dismissal == nil
        let present = known.filter { ends[$0.key] == nil && now.timeIntervalSince($0.value) < rules.activeLimit }
        noneSince = isWanted && canStart && present.isEmpty ? noneSince ?? now : nil
        let isDue = run.phone.active.contains { island in
            present[island.id].map { now.timeIntervalSince($0) >= rules.renewAfter } ?? false
        }
        dueSince = isWanted && canStart && isDue ? dueSince ?? now : nil
    }
}
