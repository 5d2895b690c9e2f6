import Dispatch
import Foundation
import Synchronization
import TestKit
import Testing

@testable import FerryActivity

private func center(_ clock: ManualClock = ManualClock(), maximumUnreadFacts: Int = 100_000) -> ActivityCenter {
    ActivityCenter(now: { clock.date }, clock: clock, maximumUnreadFacts: maximumUnreadFacts)
}

extension ActivityCenter {
    fileprivate func send(_ events: [ActivityEvent]) {
        for event in events { send(event) }
    }
}

private struct Broken: Error, CustomStringConvertible {
    let description = "the disk is full"
}

/// Throws at its third update.
private struct ThrowingReporter: Reporter {
    func report(_ updates: ActivityUpdates) async throws {
        var count = 0
        for await _ in updates {
            count += 1
            if count == 3 { throw Broken() }
        }
    }
}

/// Takes its time on a clock over each update.
private final class SlowReporter: Reporter {
    let clock: ManualClock
    let seen = Mutex<[ActivityUpdate]>([])

    init(clock: ManualClock) {
        self.clock = clock
    }

    func report(_ updates: ActivityUpdates) async throws {
        for await update in updates {
            seen.withLock { $0.append(update) }
            try await clock.sleep(for: .seconds(1))
        }
    }
}

/// Never reads and does not heed its cancellation until `gate` opens.
private struct StuckReporter: Reporter {
    let gate: AsyncStream<Void>

    func report(_ updates: ActivityUpdates) async throws {
        let gate = gate
        await Task.detached { for await _ in gate {} }.value
    }
}

/// Stands in a write that nobody reads, as it were, until `gate` opens.
private final class BlockingReporter: Reporter {
    let gate = DispatchSemaphore(value: 0)

    func report(_ updates: ActivityUpdates) async throws {
        for await update in updates where update.fact == nil || update.fact != .closed { wait() }
    }

    private func wait() { gate.wait() }
}

@Suite(.timeLimit(.minutes(10))) struct `An activity center` {
    @Test func `goes on when more reporters block than the machine has cores`() async throws {
        let center = center()
        let blocked = (0..<ProcessInfo.processInfo.activeProcessorCount + 6).map { _ in BlockingReporter() }
        for (number, reporter) in blocked.enumerated() { await center.attach(reporter, named: "\(number)") }
        let free = RecordingReporter()
        await center.attach(free, named: "free")
        for number in 0..<100 { await center.send(.added(InstallID("\(number)"), title: "\(number)")) }
        while free.updates.count < 100 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(await center.activity.count == 100)
        for reporter in blocked { for _ in 0..<200 { reporter.gate.signal() } }
        await center.close(waitingAtMost: .seconds(60))
    }

    @Test func `gives a hundred reporters every fact in order`() async throws {
        let center = center()
        let reporters = (0..<100).map { _ in RecordingReporter() }
        for (number, reporter) in reporters.enumerated() { await center.attach(reporter, named: "\(number)") }
        // 50 installs of 200 events each.
        let installs = (0..<50).map { number -> [ActivityEvent] in
            let id = InstallID("\(number)")
            let progress = (0..<196).map { ActivityEvent.progress(id, .bytes(Int64($0), of: 196)) }
            return [.added(id, title: "\(number)"), .stage(id, .downloading)] + progress
                + [.stage(id, .signing), .finished(id, .installed(location: nil))]
        }
        let events = History.sideBySide(installs)
        #expect(events.count == 10_000)
        for event in events { await center.send(event) }
        let last = await center.activity
        await center.close(waitingAtMost: .seconds(1))
        let expected = events.compactMap { event -> Fact? in
            switch event {
            case .added(let id, _): .added(id)
            case .stage(let id, let stage): .stageChanged(id, stage)
            case .finished(let id, let outcome): .finished(id, outcome)
            default: nil
            }
        }
        for (number, reporter) in reporters.enumerated() {
            // Compared outside of the macro, which would print a thousand facts.
            let updates = reporter.updates
            let isComplete = updates.compactMap(\.fact) == expected + [.closed]
            #expect(isComplete && reporter.hasEnded, "reporter \(number)")
            #expect(updates.map(\.sequence) == updates.indices.map { UInt64($0) + 1 })
            let endsAsTheCenter = updates.last?.activity == last
            #expect(endsAsTheCenter, "reporter \(number)")
        }
    }

    @Test func `tells a slow reporter all facts and the latest progress`() async {
        let clock = ManualClock()
        let center = center(clock)
        let slow = SlowReporter(clock: clock)
        await center.attach(slow, named: "slow")
        await center.send(.added("a", title: "A"))
        await clock.sleepers(1)
        await center.send(.stage("a", .downloading))
        for byte in 0...1_000 { await center.send(.progress("a", .bytes(Int64(byte), of: 1_000))) }
        await center.send(.stage("a", .signing))
        #expect(await center.activity["a"]?.stage == .signing)
        for _ in 0..<2 {
            clock.advance(by: .seconds(1))
            await clock.sleepers(1)
        }
        #expect(
            slow.seen.withLock { $0.map(\.fact) } == [
                .added("a"), .stageChanged("a", .downloading), .stageChanged("a", .signing),
            ]
        )
        clock.advance(by: .seconds(1))
        await center.close(waitingAtMost: .zero)
    }

    @Test func `detaches a reporter that throws and tells the others`() async {
        let center = center()
        let recording = RecordingReporter()
        await center.attach(recording, named: "recording")
        await center.attach(ThrowingReporter(), named: "log")
        let updates = await center.subscribe()
        await center.send(History.batch.events)
        for await update in updates {
            guard case .reporterDetached(let name, let reason) = update.fact else { continue }
            #expect(name == "log")
            #expect(reason == "the disk is full")
            break
        }
        await center.send(.added("later", title: "Later"))
        await center.close(waitingAtMost: .seconds(1))
        #expect(recording.facts.contains(.reporterDetached(name: "log", reason: "the disk is full")))
        #expect(recording.facts.suffix(2) == [.added("later"), .closed])
    }

    @Test func `bounds what a subscriber that never reads costs`() async {
        let center = center(maximumUnreadFacts: 100)
        let idle = await center.subscribe(named: "idle")
        let recording = RecordingReporter()
        await center.attach(recording, named: "recording")
        await center.send(.added("a", title: "A"))
        for sent in stride(from: 2, through: 4_000, by: 2) {
            await center.send(.held("a"))
            await center.send(.released("a"))
            // The other reader keeps up.
            while recording.facts.count + 50 < sent { await Task.yield() }
            #expect(await center.keptFacts <= 100)
        }
        await center.close(waitingAtMost: .seconds(1))
        var read = 0
        for await _ in idle { read += 1 }
        #expect(read == 0)
        #expect(
            recording.facts.contains(.reporterDetached(name: "idle", reason: "it was more than 100 facts behind"))
        )
        #expect(recording.facts.count == 4_003)
    }

    @Test func `keeps nothing for updates that nobody holds any more`() async {
        let center = center()
        for _ in 0..<10 { _ = await center.subscribe() }
        await center.send(History.many.events)
        #expect(await center.keptFacts == 0)
    }

    @Test func `starts a late subscriber with the present installs`() async {
        let center = center()
        await center.send([
            .added("a", title: "A"), .added("b", title: "B"), .stage("a", .signing), .note("a", "old profile"),
            .held("a"), .finished("b", .cancelled), .progress("a", .steps(1, of: 2)),
        ])
        var updates = await center.subscribe().makeAsyncIterator()
        var facts: [Fact] = []
        while facts.count < 6, let update = await updates.next() {
            if let fact = update.fact { facts.append(fact) }
            if facts.count == 6 { #expect(await update.activity == center.activity) }
        }
        #expect(
            facts == [
                .added("a"), .added("b"), .stageChanged("a", .signing), .note("a", "old profile"), .held("a"),
                .finished("b", .cancelled),
            ]
        )
    }

    @Test func `closes at once when nobody reads, and does nothing afterwards`() async {
        let center = center()
        await center.send(.added("a", title: "A"))
        await center.close(waitingAtMost: .seconds(1_000))
        await center.send(.added("b", title: "B"))
        let recording = RecordingReporter()
        await center.attach(recording, named: "late")
        await center.close(waitingAtMost: .seconds(1_000))
        #expect(await center.activity.installs.map(\.id) == ["a"])
        #expect(recording.updates.isEmpty)
        var facts: [Fact?] = []
        for await update in await center.subscribe() { facts.append(update.fact) }
        #expect(facts == [.added("a"), .closed])
    }

    @Test func `waits for reporters no longer than it was told`() async {
        let clock = ManualClock()
        let center = center(clock)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        await center.attach(StuckReporter(gate: gate), named: "stuck")
        let recording = RecordingReporter()
        await center.attach(recording, named: "recording")
        let closed = Mutex(false)
        async let closing: Void = {
            await center.close(waitingAtMost: .seconds(5))
            closed.withLock { $0 = true }
        }()
        await clock.sleepers(1)
        // The one that reads ends by itself, in time of its own that the clock knows nothing of.
        while !recording.hasEnded { try? await Task.sleep(for: .milliseconds(1)) }
        clock.advance(by: .seconds(4))
        #expect(!closed.withLock { $0 })
        clock.advance(by: .seconds(1))
        await closing
        opener.finish()
    }

    @Test func `ends the updates when it goes away`() async {
        var facts: [Fact?] = []
        var center: ActivityCenter? = center()
        await center?.send(.added("a", title: "A"))
        guard let updates = await center?.subscribe() else { return }
        let reading = Task {
            var facts: [Fact?] = []
            for await update in updates { facts.append(update.fact) }
            return facts
        }
        while await center?.unread(updates) != 0 { await Task.yield() }
        center = nil
        facts = await reading.value
        #expect(facts == [.added("a")])
    }

    @Test func `ends the updates of a task that is cancelled`() async {
        let center = center()
        let updates = await center.subscribe()
        let reading = Task { for await _ in updates {} }
        await center.send(.added("a", title: "A"))
        reading.cancel()
        await reading.value
    }

    @Test func `measures rates and dates on its clock, without held time`() async throws {
        let clock = ManualClock()
        let center = center(clock)
        func install() async throws -> Install { try #require(await center.activity["a"]) }
        await center.send([
            .added("a", title: "A"), .stage("a", .downloading), .progress("a", .bytes(0, of: 10_000)),
        ])
        #expect(try await install().bytesPerSecond == nil)
        #expect(try await install().finishAt == nil)
        clock.advance(by: .seconds(2))
        await center.send(.progress("a", .bytes(2_000, of: 10_000)))
        #expect(try await install().bytesPerSecond == 1_000)
        #expect(try await install().finishAt == clock.date + 8)
        #expect(await center.activity.finishAt == clock.date + 8)

        await center.send(.held("a"))
        #expect(try await install().bytesPerSecond == nil)
        #expect(try await install().finishAt == nil)
        clock.advance(by: .seconds(600))
        await center.send(.released("a"))
        #expect(try await install().bytesPerSecond == 1_000)
        await center.send(.progress("a", .bytes(2_000, of: 10_000)))
        clock.advance(by: .seconds(1))
        await center.send(.progress("a", .bytes(3_000, of: 10_000)))
        #expect(try await install().bytesPerSecond == 1_000)
        #expect(try await install().finishAt == clock.date + 7)

        await center.send(.stage("a", .signing))
        #expect(try await install().bytesPerSecond == nil)
        #expect(await center.activity.finishAt == nil)
    }

    @Test func `cuts texts that are too long between letters`() async throws {
        let center = center()
        let family = "👩‍👩‍👧‍👦"
        await center.send(.added("a", title: String(repeating: family, count: 1_000)))
        let title = try #require(await center.activity["a"]?.title)
        #expect(title == String(repeating: family, count: 4_093 / family.utf8.count) + "…")
        #expect(title.utf8.count <= 4_096)
    }
}
