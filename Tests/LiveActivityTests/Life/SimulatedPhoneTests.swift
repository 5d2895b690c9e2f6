import Foundation
import Testing

@testable import FerryLiveActivity

private let hour = 3_600.0

/// A phone with the app on it, in front, and what it was told.
private struct Bench {
    var phone = SimulatedPhone(at: LifeBench.start)
    var told: [LifeInput] = []

    init(rules: SimulatedPhone.Rules = SimulatedPhone.Rules()) {
        phone = SimulatedPhone(at: LifeBench.start, rules: rules)
        phone.launch()
        phone.becomeActive()
        advance(to: 5)
    }

    @discardableResult
    mutating func advance(to seconds: Double) -> [LifeInput] {
        let told = phone.advance(to: LifeBench.start.addingTimeInterval(seconds)).map(\.input)
        self.told += told
        return told
    }

    func start(_ seq: Int = 1) -> IslandStart {
        IslandStart(
            seq: seq,
            timestamp: Int(phone.now.timeIntervalSince1970),
            startedAt: phone.now,
            staleAt: phone.now.addingTimeInterval(7.5 * hour),
            isSilent: false
        )
    }

    /// Requests an activity and waits for its token.
    mutating func request() throws -> (id: IslandID, token: PushToken) {
        let id = try phone.request(start()).id
        advance(to: phone.now.timeIntervalSince(LifeBench.start) + 3)
        let token = try #require(phone.islands.last?.token)
        return (id, token)
    }

    mutating func push(
        _ event: SimulatedPush.Event,
        to token: PushToken,
        after seconds: Double = 0,
        seq: Int = 2,
        bytes: Int = 400
    ) -> Int {
        let timestamp = Int(phone.now.timeIntervalSince1970 + seconds)
        let push = SimulatedPush(event, to: token, timestamp: timestamp, seq: seq, bytes: bytes)
        let status = phone.push(push).status
        advance(to: phone.now.timeIntervalSince(LifeBench.start) + 2)
        return status
    }

    mutating func pushStart(hasAlert: Bool = true, isSilent: Bool = false, after seconds: Double = 0) -> Int {
        guard let token = phone.pushToStartToken else { return 0 }
        return push(.start(startedAt: phone.now, hasAlert: hasAlert, isSilent: isSilent), to: token, after: seconds)
    }
}

@Suite struct `A simulated phone` {
    @Test func `grants requests in front only`() throws {
        var bench = Bench()
        bench.phone.enterBackground()
        #expect(throws: SimulatedPhone.Refusal.visibility) { try bench.phone.request(bench.start()) }
        bench.phone.enterForeground()
        #expect(throws: SimulatedPhone.Refusal.visibility) { try bench.phone.request(bench.start()) }
        bench.phone.becomeActive()
        let found = try bench.phone.request(bench.start())
        #expect(throws: SimulatedPhone.Refusal.attributesTooLarge) {
            try bench.phone.request(bench.start(), bytes: 4_097)
        }
        #expect(bench.advance(to: 20).contains(.adopted(found)))
    }

    @Test func `keeps an activity for eight hours, and four more on the lock screen`() throws {
        var bench = Bench()
        let (id, _) = try bench.request()
        let made = try #require(bench.phone.islands.last?.madeAt).timeIntervalSince(LifeBench.start)
        bench.advance(to: made + 7.5 * hour + 2)
        #expect(bench.told.contains(.stale(id)))
        bench.advance(to: made + 8 * hour - 1)
        #expect(bench.phone.active.map(\.id) == [id])
        bench.advance(to: made + 8 * hour + 2)
        #expect(bench.phone.active.isEmpty)
        #expect(bench.told.last == .ended(id))
        bench.advance(to: made + 12 * hour - 1)
        #expect(bench.phone.islands.last?.state == .ended)
        bench.advance(to: made + 12 * hour + 2)
        #expect(bench.told.last == .dismissed(id))
    }

    @Test(arguments: [(-1, 1), (0, 2), (28_800, 2), (28_860, 1)] as [(Double, Int)])
    func `drops what is stamped too early or too late`(offset: Double, seq: Int) throws {
        var bench = Bench()
        let (_, token) = try bench.request()
        #expect(bench.push(.update, to: token, seq: 1) == 200)
        bench.phone.islands[0].timestamp = Int(bench.phone.now.timeIntervalSince1970)
        #expect(bench.push(.update, to: token, after: offset, seq: 2) == 200)
        #expect(bench.phone.islands.last?.seq == seq)
    }

    @Test(arguments: [(4_096, 200), (4_097, 413)] as [(Int, Int)])
    func `takes four kilobytes`(bytes: Int, status: Int) throws {
        var bench = Bench()
        let (_, token) = try bench.request()
        #expect(bench.push(.update, to: token, bytes: bytes) == status)
    }

    @Test func `takes about ten starts, answers the rest and drops them`() {
        var bench = Bench()
        bench.phone.rules.maximumIslands = 100
        var made = 0
        for _ in 0..<20 {
            #expect(bench.pushStart() == 200)
            made = bench.phone.active.count
        }
        #expect(made == 10)
        // And some more with time.
        bench.advance(to: 3 * hour)
        #expect(bench.pushStart() == 200)
        #expect(bench.phone.active.count == 11)
    }

    @Test func `answers a start without an alert, and drops it`() {
        var bench = Bench()
        #expect(bench.pushStart(hasAlert: false) == 200)
        #expect(bench.phone.active.isEmpty)
        #expect(bench.pushStart(isSilent: true) == 200)
        #expect(bench.phone.active.count == 1)
        bench.phone.rules.dropsSilentStarts = true
        #expect(bench.pushStart(isSilent: true) == 200)
        #expect(bench.phone.active.count == 1)
        bench.phone.silentDrops = 1
        #expect(bench.pushStart() == 200)
        #expect(bench.phone.active.count == 1)
        #expect(bench.pushStart() == 200)
        #expect(bench.phone.active.count == 2)
    }

    @Test func `makes the island minimal for two activities, and counts it`() {
        var bench = Bench()
        _ = bench.pushStart()
        #expect(!bench.phone.isMinimal)
        _ = bench.pushStart()
        #expect(bench.phone.isMinimal)
        bench.phone.swipe()
        #expect(!bench.phone.isMinimal)
        _ = bench.pushStart()
        #expect(bench.phone.minimalCount == 2)
    }

    @Test func `forgets tokens that were replaced, and those of activities that are gone`() throws {
        var bench = Bench()
        let (id, token) = try bench.request()
        bench.phone.rotateTokens()
        #expect(bench.push(.update, to: token) == 410)
        let new = try #require(bench.phone.islands.last?.token)
        #expect(bench.told.contains(.updateToken(id, new)))
        #expect(bench.push(.update, to: new) == 200)
        bench.phone.swipe(id)
        #expect(bench.push(.update, to: new) == 410)
        let start = try #require(bench.phone.pushToStartToken)
        bench.phone.rotatePushToStartToken()
        #expect(bench.push(.start(startedAt: bench.phone.now, hasAlert: true), to: start) == 410)
        #expect(bench.pushStart() == 200)
        bench.phone.uninstall()
        #expect(bench.push(.start(startedAt: bench.phone.now, hasAlert: true), to: start) == 410)
    }

    @Test func `tells of a swipe and of our own end in the same words`() throws {
        var bench = Bench()
        let (id, _) = try bench.request()
        bench.phone.end(IslandEnd(island: id, token: nil, seq: 3, timestamp: 0, dismissAt: nil))
        bench.phone.swipe(id)
        bench.advance(to: 60)
        #expect(bench.told.filter { $0 == .dismissed(id) }.count == 1)
    }

    @Test func `says 429 for as long as it was told to, and nothing where there is no net`() {
        var bench = Bench()
        bench.phone.rateLimitedUntil = bench.phone.now.addingTimeInterval(100)
        bench.phone.retryAfter = 77
        #expect(bench.phone.push(SimulatedPush(bench.start(), to: "00")).retryAfter == 77)
        bench.advance(to: 200)
        #expect(bench.pushStart() == 200)
        bench.phone.unreachableUntil = bench.phone.now.addingTimeInterval(100)
        #expect(bench.pushStart() == 0)
    }

    @Test func `keeps activities when the app ends, and tells it nothing meanwhile`() throws {
        var bench = Bench()
        let (id, _) = try bench.request()
        bench.phone.kill(byUser: true)
        bench.phone.rotateTokens()
        bench.phone.swipe(id)
        #expect(bench.advance(to: 100).isEmpty)
        #expect(bench.pushStart() == 200)
        #expect(bench.phone.scene == .notRunning)
        bench.phone.launch(into: .background)
        #expect(
            bench.phone.atLaunch.contains { if case .launched(let found) = $0 { found?.count == 1 } else { false } }
        )
        bench.phone.kill()
        #expect(bench.pushStart() == 200)
        #expect(bench.phone.scene == .background)
    }

    @Test func `takes every activity away when they are switched off in Settings`() throws {
        for isDismissalFirst in [true, false] {
            var rules = SimulatedPhone.Rules()
            rules.tellsDismissalFirst = isDismissalFirst
            var bench = Bench(rules: rules)
            let (id, _) = try bench.request()
            bench.phone.allow(false)
            let told = bench.advance(to: 60)
            #expect(Set(told) == [.dismissed(id), .availability(.offInSettings)])
            #expect((told.first == .dismissed(id)) == isDismissalFirst)
            #expect(throws: SimulatedPhone.Refusal.denied) { try bench.phone.request(bench.start()) }
            #expect(bench.pushStart() == 200)
            #expect(bench.phone.active.isEmpty)
        }
    }

    @Test func `hears nothing of a widget that hangs`() throws {
        var bench = Bench()
        let (_, token) = try bench.request()
        #expect(bench.told.contains(.widgetSaw(seq: 1)))
        bench.phone.hangWidgets()
        _ = bench.push(.update, to: token, seq: 2)
        bench.advance(to: 60)
        #expect(!bench.told.contains(.widgetSaw(seq: 2)))
        #expect(bench.phone.drawnSeq == 1)
    }
}

@Suite struct `An app group` {
    @Test(arguments: ["", "group.", "org.example.app", "Group.org.example", String(repeating: "group.", count: 50)])
    func `is none by any other name`(text: String) {
        // A widget that wrote into the standard defaults, or a suite named after its bundle, would never be heard.
        #expect(AppGroup(text) == nil)
    }

    @Test func `is named as it is`() {
        #expect(AppGroup("group.org.example")?.identifier == "group.org.example")
    }
}
