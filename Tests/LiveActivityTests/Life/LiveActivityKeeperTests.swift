import Foundation
import Synchronization
import TestKit
import Testing

@testable import FerryLiveActivity

/// A keeper with a simulated phone, in virtual time.
private struct Bench {
    let clock = ManualClock(start: LifeBench.start)
    let host: SimulatedHost
    let store: MemoryLifeStore
    let keeper: LiveActivityKeeper

    init(
        _ abilities: HostAbilities = LifeBench.appThatPushes,
        store: MemoryLifeStore = MemoryLifeStore(),
        phone: SimulatedPhone? = nil
    ) {
        var new = SimulatedPhone(at: LifeBench.start)
        new.launch()
        host = SimulatedHost(phone ?? new, abilities: abilities)
        self.store = store
        keeper = LiveActivityKeeper(host: host, store: store, clock: clock, now: { [clock] in clock.date })
    }

    /// Moves phone and clock on.
    func advance(by seconds: Double) async {
        clock.advance(by: .seconds(seconds))
        await host.advance(to: clock.date)
    }

    /// Waits until it is so and the keeper has done everything; `false` when it ended before.
    func wait(_ keeper: LiveActivityKeeper? = nil, for isSo: @Sendable (LiveActivityKeeper) async -> Bool) async -> Bool
    {
        let keeper = keeper ?? self.keeper
        for await _ in await keeper.statuses() {
            if await keeper.isIdle, await isSo(keeper) { return true }
        }
        return false
    }

    /// Runs the keeper while something else happens.
    func run(_ keeper: LiveActivityKeeper? = nil, _ body: () async throws -> Void) async rethrows {
        let keeper = keeper ?? self.keeper
        let task = Task { await keeper.run() }
        do {
            try await body()
        } catch {
            task.cancel()
            await task.value
            throw error
        }
        task.cancel()
        await task.value
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A keeper` {
    @Test func `carries one activity through start, renewal and end`() async throws {
        let bench = Bench()
        try await bench.run {
            await bench.keeper.send(.installs(running: 1, began: true))
            await bench.host.with { $0.becomeActive() }
            await bench.advance(by: 1)
            #expect(await bench.wait { await $0.status.state == .running })
            await bench.advance(by: 3)
            let first = try #require(await bench.host.with { $0.active.first?.id })
            #expect(await bench.wait { await $0.record.liveness != nil })

            // Seven hours later, in front: the alarm that the life asked for renews it, nothing else does.
            await bench.clock.sleepers(1)
            bench.clock.advance(by: .seconds(7 * 3_600))
            #expect(await bench.wait { await $0.status.island.map { $0 != first } ?? false })
            #expect(await bench.host.with { $0.active.count } == 1)

            await bench.keeper.send(.installs(running: 0, began: false))
            #expect(await bench.wait { await $0.status.state == .off })
            #expect(await bench.host.with { $0.active.isEmpty })
            #expect(await bench.host.with { $0.minimalCount } == 0)
        }
        #expect(bench.store.record?.installs == 0)
    }

    @Test func `goes on after a relaunch as if nothing had been`() async throws {
        let first = Bench(LifeBench.server)
        await first.run {
            await first.advance(by: 2)
            await first.keeper.send(.installs(running: 1, began: true))
            #expect(await first.wait { await $0.status.state == .awaitingAdoption })
            await first.advance(by: 4)
            #expect(await first.wait { await $0.record.current?.token != nil })
        }
        let record = try #require(first.store.record)
        let second = Bench(LifeBench.server, store: MemoryLifeStore(record), phone: await first.host.with { $0 })
        await second.run {
            #expect(await second.wait { await $0.status.state == .running })
            #expect(await second.keeper.record.current?.id == record.current?.id)
            #expect(await second.host.with { $0.active.count } == 1)
        }
    }

    @Test func `saves before it acts`() async {
        let store = MemoryLifeStore()
        let clock = ManualClock()
        let host = Onlooker(store)
        let keeper = LiveActivityKeeper(host: host, store: store, clock: clock, now: { clock.date })
        await keeper.send(.installs(running: 1, began: true))
        await keeper.run()
        #expect(host.seen?.pending?.isRequest == true)
        #expect(store.record?.current?.id == "one")
    }

    @Test func `lets nobody wait for a host that hangs`() async {
        let bench = Bench(LifeBench.server)
        let host = HangingHost()
        let keeper = LiveActivityKeeper(
            host: host,
            store: MemoryLifeStore(),
            clock: bench.clock,
            now: { bench.clock.date }
        )
        await bench.run(keeper) {
            await keeper.send(.installs(running: 1, began: true))
            await host.asked()
            // A thousand percentages while the start hangs: none waits, and they become one update.
            await keeper.send(.adopted(FoundIsland(id: "one", token: "aa01")))
            for _ in 0..<1_000 { await keeper.send(.contentChanged(isUrgent: false)) }
            await host.release()
            #expect(await bench.wait(keeper) { await $0.status.state == .running })
        }
        #expect(await host.updates == 1)
    }

    @Test func `works without a store that works, and says so`() async {
        struct BrokenStore: LifeStore {
            struct Full: Error, CustomStringConvertible { let description = "no space" }
            func load() async throws -> LifeRecord? { throw Full() }
            func save(_ record: LifeRecord) async throws { throw Full() }
        }
        let bench = Bench()
        await bench.host.with { $0.becomeActive() }
        let keeper = LiveActivityKeeper(
            host: bench.host,
            store: BrokenStore(),
            clock: bench.clock,
            now: { bench.clock.date }
        )
        await bench.run(keeper) {
            await keeper.send(.installs(running: 1, began: true))
            await bench.advance(by: 1)
            #expect(await bench.wait(keeper) { await $0.status.state == .running })
        }
        let reasons = await keeper.decisions.map(\.reason)
        #expect(reasons.contains(.recordDamaged))
        #expect(reasons.contains(.recordNotSaved("no space")))
    }

    @Test func `tells the user once to tap, and takes it back`() async {
        let bench = Bench(LifeBench.app)
        await bench.run {
            await bench.host.with { $0.becomeActive() }
            await bench.advance(by: 1)
            await bench.keeper.send(.installs(running: 1, began: true))
            #expect(await bench.wait { await $0.status.state == .running })
            await bench.host.with { $0.enterBackground() }
            await bench.advance(by: 4)
            #expect(await bench.wait { await $0.record.liveness != nil })
            await bench.clock.sleepers(1)
            await bench.advance(by: 7.5 * 3_600)
            #expect(await bench.wait { await $0.status.state == .renewalFailed })
            #expect(await bench.host.isNoticeShown)
            for _ in 0..<5 { await bench.keeper.send(.tick) }
            await bench.host.with { $0.enterForeground() }
            await bench.host.with { $0.becomeActive() }
            await bench.advance(by: 1)
            #expect(await bench.wait { await $0.status.state == .running })
            #expect(await !bench.host.isNoticeShown)
            #expect(await bench.host.notices == 1)
        }
    }

    @Test func `starts nothing for installs of the last process that are gone`() async {
        var record = LifeRecord()
        record.installs = 5
        record.pushToStartToken = "5555"
        let bench = Bench(LifeBench.server, store: MemoryLifeStore(record))
        await bench.keeper.send(.installs(running: 0, began: false))
        await bench.run {
            #expect(await bench.wait { await $0.status.reason == .noInstalls })
            #expect(await bench.keeper.record.seq == 0)
        }
    }

    @Test func `stops when its task is cancelled`() async {
        let bench = Bench()
        let task = Task { await bench.keeper.run() }
        await bench.keeper.send(.installs(running: 1, began: true))
        task.cancel()
        await task.value
    }
}

/// A host whose first push hangs until it is released.
private actor HangingHost: LiveActivityHost {
    nonisolated let abilities: HostAbilities = [.pushesStarts]
    nonisolated let events: AsyncStream<LifeInput>
    private let event: AsyncStream<LifeInput>.Continuation
    private var held: CheckedContinuation<Void, Never>?
    private var watcher: CheckedContinuation<Void, Never>?
    private(set) var updates = 0

    init() {
        (events, event) = AsyncStream.makeStream()
    }

    func launch() async -> [LifeInput] { [.pushToStartToken("5555"), .launched(found: nil)] }

    func pushStart(_ start: IslandStart, to token: PushToken) async -> PushAnswer {
        await withCheckedContinuation { continuation in
            held = continuation
            watcher?.resume()
            watcher = nil
        }
        return .ok
    }

    func update(_ update: IslandUpdate) async -> PushAnswer {
        updates += 1
        return .ok
    }

    func end(_ end: IslandEnd) async -> PushAnswer { .ok }

    func asked() async {
        guard held == nil else { return }
        await withCheckedContinuation { watcher = $0 }
    }

    func release() {
        held?.resume()
        held = nil
    }

    nonisolated func finish() { event.finish() }
}

/// A host that looks into the store when it is asked for something.
private final class Onlooker: LiveActivityHost {
    let abilities: HostAbilities = [.requests, .isOnDevice]
    let events = AsyncStream<LifeInput> { $0.finish() }
    private let store: MemoryLifeStore
    private let record = Mutex<LifeRecord?>(nil)

    /// What the store held.
    var seen: LifeRecord? { record.withLock { $0 } }

    init(_ store: MemoryLifeStore) {
        self.store = store
    }

    func launch() async -> [LifeInput] { [.launched(found: []), .didBecomeActive] }

    func request(_ start: IslandStart) async throws(HostRefusal) -> FoundIsland {
        record.withLock { $0 = store.record }
        return FoundIsland(id: "one", startedAt: start.startedAt)
    }

    func update(_ update: IslandUpdate) async -> PushAnswer { .ok }
    func end(_ end: IslandEnd) async -> PushAnswer { .ok }
}
