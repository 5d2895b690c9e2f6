import FerryActivity
import FerryLiveActivity
import Foundation
import TestKit
import Testing

@testable import FerryWebReporter

@Suite(.timeLimit(.minutes(5))) struct `A reporter to the web` {
    private let clock = ManualClock()
    private let center: ActivityCenter

    init() {
        center = ActivityCenter(now: { [clock] in clock.date }, clock: clock)
    }

    /// A reporter that reads what the center says.
    private func attached(_ limits: WebLimits = WebLimits()) async -> WebReporter {
        let reporter = WebReporter(epoch: "e1", limits: limits, clock: clock)
        await center.attach(reporter, named: "web")
        return reporter
    }

    @Test func `passes the checks`() async throws {
        try await ReporterChecks.run(within: .seconds(60)) { WebReporter(clock: ContinuousClock()) }
    }

    @Test(arguments: History.all.filter { $0.events.count < 1_000 })
    func `tells a viewer the state, then every fact in order, numbered`(history: History) async throws {
        let reporter = await attached()
        let witness = RecordingReporter()
        await center.attach(witness, named: "witness")
        var viewer = try #require(Viewer(reporter))
        let first = await viewer.next()
        #expect(first?.type == "state")
        #expect(first?.id == "e1-0")
        #expect((first?.object["installs"] as? [Any])?.isEmpty == true)
        for event in history.events { await center.send(event) }
        await center.close(waitingAtMost: .seconds(1_000))
        let events = await viewer.rest()
        let facts = events.filter { $0.type == "fact" }
        #expect(facts.map(\.id) == (1...witness.facts.count).map { "e1-\($0)" })
        var lines = JSONLines(progressPerSecond: 0)
        let expected = witness.updates.filter { $0.fact != nil }.flatMap { lines.lines(for: $0) }
        for (fact, line) in zip(facts, expected) {
            // The line as the log has it, and the install after it.
            #expect(fact.data.hasPrefix(line.dropLast(2)))
            let id = fact.object["install"] as? String
            #expect((fact.object["installObject"] as? [String: Any])?["id"] as? String == id)
        }
        #expect(facts.last?.object["kind"] as? String == "closed")
        #expect(reporter.viewerCount == 1)
    }

    @Test func `merges progress to four events a second`() async throws {
        let reporter = await attached()
        await center.send(.added("a", title: "Lantern"))
        await center.send(.stage("a", .downloading))
        var viewer = try #require(Viewer(reporter))
        _ = await viewer.next()
        let witness = await center.subscribe()
        var updates = witness.makeAsyncIterator()
        for percent in 0..<200 {
            await center.send(.progress("a", .bytes(Int64(percent), of: 200)))
            _ = await updates.next()
            // The pacer and the beat.
            await clock.sleepers(2)
            clock.advance(by: .milliseconds(10))
        }
        await center.close(waitingAtMost: .seconds(1_000))
        let progress = await viewer.rest().filter { $0.type == "progress" }
        #expect(progress.count <= 9)
        #expect(progress.count >= 1)
        let last = (progress.last?.object["installs"] as? [[String: Any]])?.first
        #expect(last?["id"] as? String == "a")
        #expect((last?["progress"] as? [String: Any])?["completed"] as? Int == 199)
    }

    @Test func `shows the island that a phone would show`() async throws {
        let reporter = await attached()
        var viewer = try #require(Viewer(reporter))
        _ = await viewer.next()
        await center.send(.added("a", title: "Lantern"))
        await center.send(.icon("a", [0xFF, 0xD8, 0xFF, 0xD9]))
        await center.send(.stage("a", .signing))
        await center.close(waitingAtMost: .seconds(1_000))
        let events = await viewer.rest()
        let island = try #require(events.last { $0.type == "island" })
        let content = try JSONSerialization.data(withJSONObject: island.object["contentState"] as Any)
        let state = try JSONDecoder().decode(IslandState.self, from: content)
        #expect(state.items.map(\.title) == ["Lantern"])
        #expect(state.items.map(\.stage) == [.signing])
        #expect(state.icon == [0xFF, 0xD8, 0xFF, 0xD9])
        #expect(state.seq > 0)
        #expect(island.object["compactLeading"] as? String == "Lantern")
        #expect(island.object["compactTrailing"] as? String == "Signing")
        #expect((island.object["lockScreen"] as? [String: Any])?["title"] as? String == "Lantern")
    }

    @Test func `goes on after the last event that a viewer had`() async throws {
        let reporter = await attached()
        var first = try #require(Viewer(reporter))
        _ = await first.next()
        await center.send(.added("a", title: "Lantern"))
        await center.send(.held("a"))
        #expect(await first.next("fact")?.id == "e1-1")
        await clock.sleepers(2)
        clock.advance(by: .milliseconds(50))
        #expect(await first.next("fact")?.id == "e1-2")

        var again = try #require(Viewer(reporter, after: "e1-1"))
        #expect(await again.next()?.id == "e1-2")
        for foreign in ["e0-1", "e1-3", "e1--1", "e1-", "", "e1-x", "e1-99999999999999999999"] {
            var other = try #require(Viewer(reporter, after: foreign))
            let event = await other.next()
            #expect(event?.type == "state")
            #expect(event?.id == "e1-2")
        }
    }

    @Test func `begins with the state where what followed is no longer kept`() async throws {
        var limits = WebLimits()
        limits.facts = 10
        let reporter = await attached(limits)
        var slow = try #require(Viewer(reporter))
        _ = await slow.next()
        await center.send(.added("a", title: "Lantern"))
        for number in 1...30 { await center.send(.note("a", "Note \(number)")) }
        await center.close(waitingAtMost: .seconds(1_000))
        #expect(reporter.kept.facts <= 10)
        // It is too far behind, and closed.
        #expect(await slow.next() == nil)
        var again = try #require(Viewer(reporter, after: "e1-1"))
        let state = await again.next()
        #expect(state?.type == "state")
        #expect(state?.id == "e1-32")
        #expect((state?.object["installs"] as? [[String: Any]])?.count == 1)
        #expect(await again.rest() == [])
    }

    @Test func `says something after fifteen seconds of silence`() async throws {
        let reporter = await attached()
        let events = try #require(reporter.events())
        var iterator = events.makeAsyncIterator()
        _ = await iterator.next()
        await clock.sleepers(1)
        clock.advance(by: .seconds(15))
        #expect(await iterator.next() == Array(": \n\n".utf8))
    }

    @Test func `takes no more viewers than it may, and forgets those that are gone`() async throws {
        var limits = WebLimits()
        limits.viewers = 2
        let reporter = await attached(limits)
        do {
            let viewers = [reporter.events(), reporter.events()]
            #expect(viewers.allSatisfy { $0 != nil })
            #expect(reporter.events() == nil)
            #expect(reporter.viewerCount == 2)
            withExtendedLifetime(viewers) {}
        }
        #expect(reporter.viewerCount == 0)
        #expect(reporter.events() != nil)
    }

    @Test func `ends the reading of a viewer whose task is cancelled`() async throws {
        let reporter = await attached()
        let reading = Task {
            var count = 0
            if let events = reporter.events() { for await _ in events { count += 1 } }
            return count
        }
        while reporter.viewerCount == 0 { await Task.yield() }
        reading.cancel()
        #expect(await reading.value <= 1)
        while reporter.viewerCount > 0 { await Task.yield() }
    }

    @Test func `tells 500 viewers every fact in order`() async throws {
        let reporter = WebReporter(epoch: "e1", clock: ContinuousClock())
        let center = ActivityCenter(now: { Date() }, clock: ContinuousClock())
        await center.attach(reporter, named: "web")
        let counts = await withTaskGroup(of: [Int].self) { group in
            for _ in 0..<500 {
                guard let events = reporter.events() else { continue }
                group.addTask {
                    var numbers: [Int] = []
                    for await piece in events {
                        for event in Event.all(piece) where event.type != "island" && event.type != "progress" {
                            numbers.append(event.id.flatMap { Int($0.dropFirst(3)) } ?? -1)
                        }
                    }
                    return numbers
                }
            }
            let apps = (1...50).map { History.install(InstallID("app-\($0)"), title: "App \($0)") }
            for event in History.sideBySide(apps) { await center.send(event) }
            await center.close(waitingAtMost: .seconds(60))
            var all: [[Int]] = []
            for await numbers in group { all.append(numbers) }
            return all
        }
        #expect(counts.count == 500)
        // Six facts of each install, and the end; the first number is that of the state.
        for numbers in counts {
            let start = numbers.first ?? -1
            #expect(numbers == [start] + Array(start + 1..<302))
        }
        #expect(reporter.viewerCount == 0)
    }
}

@Suite struct `The log of events` {
    private func take(_ log: inout EventLog, _ cursor: inout EventLog.Cursor) -> EventLog.Take {
        log.take(&cursor, Array("\(log.need(cursor))\n\n".utf8))
    }

    @Test func `gives two viewers at one place the same bytes, not a copy`() {
        var log = EventLog(epoch: "e", limits: WebLimits())
        for number in 1...5 { log.addFact("{\"n\":\(number)}") }
        var cursors = [log.cursor(after: "e-1"), log.cursor(after: "e-1")]
        let pieces = cursors.indices.map { index -> [UInt8] in
            if case .bytes(let bytes) = take(&log, &cursors[index]) { bytes } else { [] }
        }
        #expect(pieces[0] == pieces[1])
        #expect(pieces[0].count > 100)
        let addresses = pieces.map { $0.withUnsafeBytes { $0.baseAddress } }
        #expect(addresses[0] == addresses[1])
    }

    @Test func `holds what moved back until the facts before it are read`() {
        var log = EventLog(epoch: "e", limits: WebLimits())
        var cursor = log.cursor(after: nil)
        #expect(take(&log, &cursor) == .bytes(Array("state\n\n".utf8)))
        log.addProgress("{\"p\":1}")
        log.addFact("{\"n\":1}")
        log.islandChanged()
        #expect(take(&log, &cursor) == .bytes(EventLog.event("fact", "{\"n\":1}", id: "e-1")))
        #expect(take(&log, &cursor) == .bytes(EventLog.event("progress", "{\"p\":1}")))
        #expect(take(&log, &cursor) == .bytes(Array("island\n\n".utf8)))
        #expect(take(&log, &cursor) == .wait)
        for number in 1...40 { log.addProgress("{\"p\":\(number)}") }
        #expect(take(&log, &cursor) == .bytes(Array("allProgress\n\n".utf8)))
        log.close()
        #expect(take(&log, &cursor) == .end)
    }

    @Test func `keeps no more facts and bytes than it may`() {
        var limits = WebLimits()
        limits.facts = 1_000
        limits.factBytes = 50_000
        var log = EventLog(epoch: "e", limits: limits)
        var cursor = log.cursor(after: nil)
        _ = take(&log, &cursor)
        for number in 1...5_000 {
            log.addFact("{\"text\":\"\(String(repeating: "x", count: number % 200))\"}")
            #expect(log.kept.facts <= 1_000 && log.kept.bytes <= 50_000)
        }
        #expect(log.last == 5_000)
        #expect(take(&log, &cursor) == .tooLate)
    }
}
