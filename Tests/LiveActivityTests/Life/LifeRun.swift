import Foundation

@testable import FerryLiveActivity

/// A rule that was broken.
struct Broken: Error, Hashable, CustomStringConvertible {
    enum Rule: String, Sendable, Hashable, CaseIterable {
        case twoActivities, noActivity, leftNothing, swipeUndone, swipeMistaken, startInBackOff, startsStacked,
            notRenewed
        case pushToReplaced, endNotRetried, requestNotInFront, widgetMisjudged, seqRepeated, recordLost
    }

    var rule: Rule
    var at: Double
    var what: String

    var description: String { "\(rule) at \(at) s: \(what)" }
}

/// Plays a history to a life and a simulated phone, and checks every rule after every step.
struct LifeRun {
    /// What happened, to see that a history has what it is for.
    struct Counts {
        var pushedStarts = 0
        var requests = 0
        var adoptions = 0
        var renewals = 0
        var swipes = 0
        var silentDrops = 0
        var stuckRestarts = 0
        var refusals = 0
        var launches = 0
        var overlaps = 0

        static func += (left: inout Counts, right: Counts) {
            left.pushedStarts += right.pushedStarts
            left.requests += right.requests
            left.adoptions += right.adoptions
            left.renewals += right.renewals
            left.swipes += right.swipes
            left.silentDrops += right.silentDrops
            left.stuckRestarts += right.stuckRestarts
            left.refusals += right.refusals
            left.launches += right.launches
            left.overlaps += right.overlaps
        }
    }

    static let epoch = Date(timeIntervalSince1970: 1_750_000_000)

    let history: LifeHistory
    let rules: LifeRules
    /// Whether records go through JSON at each launch.
    let goesThroughJSON: Bool
    var phone: SimulatedPhone
    var life: ActivityLife?
    var witness: LifeWitness
    var counts = Counts()
    private var saved: LifeRecord?
    private var answers: [(at: Date, input: LifeInput)] = []
    private var installs = 0
    private var isOn = true
    private var crashes = false
    private var wasRunning = false
    /// What becomes of the app on its way to the front.
    private var scene: (at: Date, scene: SimulatedPhone.Scene)?

    init(_ history: LifeHistory, rules: LifeRules = LifeRules(), goesThroughJSON: Bool = false) {
        self.history = history
        self.rules = rules
        self.goesThroughJSON = goesThroughJSON
        phone = SimulatedPhone(at: Self.epoch, rules: history.phone)
        witness = LifeWitness(history, LifeRules())
        if history.place == .server {
            life = ActivityLife(abilities: abilities, rules: rules, at: Self.epoch)
        }
    }

    /// Plays it all; throws the first rule that is broken.
    static func play(
        _ history: LifeHistory,
        rules: LifeRules = LifeRules(),
        goesThroughJSON: Bool = false
    ) throws(Broken) -> Counts {
        var run = LifeRun(history, rules: rules, goesThroughJSON: goesThroughJSON)
        try run.play()
        return run.counts
    }

    /// The last decisions of the life in a history, for the report of a failure.
    static func decisions(of history: LifeHistory, rules: LifeRules = LifeRules()) -> String {
        var run = LifeRun(history, rules: rules)
        try? run.play()
        let decisions = run.life?.decisions.suffix(24) ?? []
        return decisions.map { "    " + $0.text { "\($0.timeIntervalSince(epoch))" } }.joined(separator: "\n")
    }

    private var abilities: HostAbilities {
        switch history.place {
        case .app: [.requests, .isOnDevice, .hearsWidget]
        case .appThatPushes: [.requests, .isOnDevice, .hearsWidget, .pushesStarts]
        case .server: [.pushesStarts, .hearsWidget]
        }
    }

    mutating func play() throws(Broken) {
        let end = Self.epoch.addingTimeInterval(LifeHistory.days * 86_400)
        var index = 0
        while true {
            var next = end
            if index < history.moments.count { next = min(next, date(history.moments[index].at)) }
            if let event = phone.nextEvent { next = min(next, event) }
            if let answer = answers.first { next = min(next, answer.at) }
            if let scene { next = min(next, scene.at) }
            let tick = nextTick
            if let tick { next = min(next, tick) }
            guard next < end else {
                try witness.before(self, at: end)
                break
            }
            let now = max(next, phone.now)

            try witness.before(self, at: now)
            for told in phone.advance(to: now) { try hear(told.input, now) }
            try notice(now)
            if let scene, scene.at <= now {
                self.scene = nil
                if scene.scene == .active { phone.becomeActive() } else { phone.enterBackground() }
            }
            while let answer = answers.first, answer.at <= now {
                answers.removeFirst()
                try feed(answer.input, now)
            }
            while index < history.moments.count, date(history.moments[index].at) <= now {
                try happen(history.moments[index].what, now)
                try notice(now)
                index += 1
            }
            if let tick, tick <= now { try feed(.tick, now) }
            try witness.after(self, at: now)
        }
        counts.overlaps = phone.minimalCount
    }

    private func date(_ offset: Double) -> Date { Self.epoch.addingTimeInterval(offset) }

    /// The next tick of a timer that rings every so many seconds and is looked at when the life asked for it.
    private var nextTick: Date? {
        guard let wake = life?.nextWake else { return nil }
        let offset = wake.timeIntervalSince(Self.epoch)
        return date((offset / history.tick).rounded(.up) * history.tick)
    }

    // MARK: What happens

    private mutating func happen(_ what: Happening, _ now: Date) throws(Broken) {
        switch what {
        case .installBegins:
            guard life != nil else { break }
            installs += 1
            try feed(.installs(running: installs, began: true), now)
        case .installEnds:
            guard life != nil, installs > 0 else { break }
            installs -= 1
            try feed(.contentChanged(isUrgent: true), now)
            try feed(.installs(running: installs, began: false), now)
        case .content(let isUrgent): try feed(.contentChanged(isUrgent: isUrgent), now)
        case .comesToFront:
            phone.enterForeground()
            scene = (now.addingTimeInterval(0.4), .active)
        case .comesToFrontAndLeaves:
            phone.enterForeground()
            scene = (now.addingTimeInterval(0.4), .background)
        case .leavesFront:
            scene = nil
            phone.enterBackground()
        case .launches(let inFront):
            guard phone.scene == .notRunning else { break }
            phone.launch(into: inFront ? .inactive : .background)
            try notice(now)
            if inFront { scene = (now.addingTimeInterval(0.4), .active) }
        case .isKilled(let byUser):
            if history.place != .server { try feed(.terminates, now) }
            phone.kill(byUser: byUser)
            try notice(now)
        case .isSwiped:
            let active = phone.active
            guard let id = phone.swipe() else { break }
            if active.contains(where: { $0.id == id }) {
                witness.swiped.insert(id)
                counts.swipes += 1
            }
        case .startTokenRotates: phone.rotatePushToStartToken()
        case .tokensRotate: phone.rotateTokens()
        case .limitsRate(let seconds, let retryAfter):
            phone.rateLimitedUntil = now.addingTimeInterval(seconds)
            phone.retryAfter = retryAfter
        case .isUnreachable(let seconds): phone.unreachableUntil = now.addingTimeInterval(seconds)
        case .dropsStarts(let count):
            phone.silentDrops = count
            counts.silentDrops += count
        case .widgetsHang: phone.hangWidgets()
        case .settings(let isAllowed):
            witness.vanishing(phone.active)
            phone.allow(isAllowed)
        case .ourSwitch(let isOn):
            guard life != nil else { break }
            self.isOn = isOn
            try feed(.availability(availability), now)
        case .processRestarts:
            if history.place == .server {
                try restart(now)
            } else {
                phone.kill()
                try notice(now)
                phone.launch(into: .background)
                try notice(now)
            }
        case .crashesAtNextAct: crashes = true
        case .isUninstalled:
            witness.vanishing(phone.active)
            phone.uninstall()
            try notice(now)
        case .isReinstalled: phone.reinstall()
        case .tick: try feed(.tick, now)
        }
    }

    private var availability: Availability {
        if !isOn { return .off }
        return phone.isEnabled || history.place == .server ? .on : .offInSettings
    }

    /// The app began or ended to run, whoever did it.
    private mutating func notice(_ now: Date) throws(Broken) {
        let isRunning = phone.scene != .notRunning
        guard isRunning != wasRunning else { return }
        wasRunning = isRunning
        if !isRunning {
            witness.appEnded(now)
            if history.place != .server {
                life = nil
                answers = []
            }
            return
        }
        counts.launches += 1
        if history.place != .server { revive(now) }
        for input in phone.atLaunch { try hear(input, now) }
        // An app resumes the installs that it had.
        if history.place != .server { try feed(.installs(running: installs, began: false), now) }
    }

    /// The process of a server ends and begins.
    private mutating func restart(_ now: Date) throws(Broken) {
        try feed(.terminates, now)
        answers = []
        revive(now)
        try feed(.launched(found: nil), now)
        try feed(.installs(running: installs, began: false), now)
    }

    private mutating func revive(_ now: Date) {
        var record = saved ?? LifeRecord()
        if goesThroughJSON, let json = try? record.json(), let read = LifeRecord(json: json) { record = read }
        life = ActivityLife(record: record, abilities: abilities, rules: rules, at: now)
    }

    // MARK: The life

    /// What the phone tells. A server hears nothing of scenes.
    private mutating func hear(_ input: LifeInput, _ now: Date) throws(Broken) {
        switch input {
        case .willEnterForeground, .didBecomeActive, .didEnterBackground:
            if history.place == .server { return }
        case .availability(let news):
            return try feed(.availability(isOn ? news : .off), now)
        default: break
        }
        try feed(input, now)
    }

    private mutating func feed(_ input: LifeInput, _ now: Date) throws(Broken) {
        guard var life else { return }
        try witness.told(input, life, phone, at: now)
        let before = life.record
        // Held once only, or each input would copy its log of decisions.
        self.life = nil
        let actions = life.handle(input, at: now)
        self.life = life
        if life.record != before, actions.first != .save {
            throw witness.broken(.recordLost, now, "\(input) changed the record and nothing was saved")
        }
        if before.current?.id != life.record.current?.id, life.record.current != nil {
            counts.adoptions += 1
            if before.current != nil { counts.renewals += 1 }
        }
        if life.record.stuckRestarts > before.stuckRestarts { counts.stuckRestarts += 1 }
        for action in actions {
            try witness.willDo(action, life, phone, at: now)
            act(action, now)
            if crashes, action != .save {
                crashes = false
                witness.crashed()
                if history.place == .server {
                    answers = []
                    revive(now)
                    try feed(.launched(found: nil), now)
                    try feed(.installs(running: installs, began: false), now)
                } else {
                    phone.kill()
                    try notice(now)
                }
                return
            }
        }
    }

    private mutating func act(_ action: LifeAction, _ now: Date) {
        let isOnDevice = history.place != .server
        switch action {
        case .save: saved = life?.record
        case .request(let start):
            counts.requests += 1
            do throws(SimulatedPhone.Refusal) {
                later(.requested(try phone.request(start)), 0, now)
            } catch {
                counts.refusals += 1
                later(.requestRefused(error.rawValue), 0, now)
            }
        case .pushStart(let start, let token):
            counts.pushedStarts += 1
            let answer = phone.push(SimulatedPush(start, to: token))
            later(.answer(.start(seq: start.seq, token), answer), history.answerDelay, now)
        case .update(let update):
            if isOnDevice { phone.update(update) }
            let answer = isOnDevice ? .ok : SimulatedPush(update).map { phone.push($0) } ?? .none
            later(.answer(.update(update.island, seq: update.seq, update.token), answer), history.answerDelay, now)
        case .end(let end):
            if isOnDevice { phone.end(end) }
            let answer = isOnDevice ? .ok : SimulatedPush(end).map { phone.push($0) } ?? .none
            later(.answer(.end(end.island, end.token), answer), history.answerDelay, now)
        case .notifyTapToUpdate, .withdrawNotice: break
        }
    }

    /// Answers in the next step at the earliest, as an actor does.
    private mutating func later(_ input: LifeInput, _ delay: Double, _ now: Date) {
        answers.append((now.addingTimeInterval(delay), input))
        answers.sort { $0.at < $1.at }
    }
}
