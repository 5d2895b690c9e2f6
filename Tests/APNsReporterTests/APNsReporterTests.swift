import FerryAPNs
import FerryActivity
import FerryLiveActivity
import FerryStandInAPNs
import Foundation
import TestKit
import Testing

@testable import FerryAPNsReporter

@Suite(.timeLimit(.minutes(10))) struct `A reporter to a phone` {
    @Test func `shows an install from its start to its end in one activity`() async throws {
        let quay = try Quay()
        try await quay.adopt()
        await quay.center.send(.progress("a", .bytes(50, of: 100)))
        await quay.pushes { $0.contains { $0.state?.percent == 50 } }
        await quay.center.send(.stage("a", .signing))
        await quay.pushes { $0.last?.state?.items.first?.stage == .signing }
        await quay.center.send(.finished("a", .installed(location: nil)))
        await quay.center.close(waitingAtMost: .seconds(60))

        let pushes = quay.delivered
        for push in pushes { push.check() }
        let start = try #require(pushes.first)
        #expect(start.event == "start")
        #expect(start.token == Quay.startToken)
        #expect(start.priority == "10")
        #expect(pushes.count { $0.event == "start" } == 1)
        #expect(pushes.dropFirst().allSatisfy { $0.token == Quay.updateToken })
        #expect(pushes.dropFirst().allSatisfy { $0.collapseID == Quay.island })
        // Each is newer than the one before, for the phone as for the widget.
        #expect(zip(pushes, pushes.dropFirst()).allSatisfy { ($0.state?.seq ?? 0) < ($1.state?.seq ?? 0) })
        #expect(zip(pushes, pushes.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp })
        let end = try #require(pushes.last)
        #expect(end.event == "end")
        #expect(end.state?.isFinished == true)
        #expect(end.state?.installedCount == 1)
        #expect((1...14_400).contains((end.dismissal ?? 0) - end.timestamp))
        #expect(quay.server.ledger.connections == 1)
        #expect(quay.server.ledger.providerTokens == 1)
    }

    @Test func `sends nothing before a token is known, and says so`() async throws {
        let quay = try Quay()
        try await quay.begin()
        try await quay.journal("no token yet")
        #expect(quay.server.ledger.requests == 0)
        // Then the app reports it, from another process as it were.
        try quay.reportStartToken()
        await quay.pushes { !$0.isEmpty }
        await quay.center.close(waitingAtMost: .seconds(60))
    }

    @Test func `passes the checks`() async throws {
        let quay = try Quay()
        try quay.reportStartToken()
        try await ReporterChecks.run(within: .seconds(90)) { try quay.reporter() }
        for push in quay.delivered { push.check() }
    }

    @Test func `goes on in the next process with the activity that stands`() async throws {
        let quay = try Quay()
        try await quay.adopt()
        await quay.center.send(.progress("a", .bytes(50, of: 100)))
        await quay.pushes { $0.contains { $0.event == "update" } }
        let last = try #require(quay.delivered.last?.state?.seq)
        // The first process goes as if it were killed: with an install that has not ended.
        await quay.center.close(waitingAtMost: .seconds(60))

        let center = ActivityCenter(now: { Date() }, clock: ContinuousClock())
        await center.attach(try quay.reporter(), named: "apns")
        await center.send(.added("c", title: "Mole"))
        await quay.pushes { $0.last?.state?.items.first?.title == "Mole" }
        await center.close(waitingAtMost: .seconds(60))
        #expect(quay.delivered.count { $0.event == "start" } == 1)
        #expect(quay.delivered.last?.token == Quay.updateToken)
        #expect((quay.delivered.last?.state?.seq ?? 0) > last)
    }

    @Test func `shows after the adoption what happened before it`() async throws {
        let quay = try Quay()
        try quay.reportStartToken()
        try await quay.begin(lastWait: .milliseconds(300))
        await quay.pushes { $0.contains { $0.event == "start" } }
        await quay.center.send(.stage("a", .signing))
        try await Task.sleep(for: .milliseconds(50))
        try quay.reportIsland()
        await quay.pushes { $0.contains { $0.event == "update" && $0.state?.items.first?.stage == .signing } }
        await quay.center.close(waitingAtMost: .seconds(60))
    }

    @Test func `ends an activity that is adopted when all is over`() async throws {
        let quay = try Quay()
        try quay.reportStartToken()
        try await quay.begin()
        await quay.pushes { $0.contains { $0.event == "start" } }
        await quay.center.send(.finished("a", .installed(location: nil)))
        async let close: Void = quay.center.close(waitingAtMost: .seconds(60))
        try await Task.sleep(for: .milliseconds(50))
        try quay.reportIsland()
        await close
        #expect(quay.delivered.last?.event == "end")
        #expect(quay.delivered.last?.token == Quay.updateToken)
    }

    @Test func `starts nothing for the installs of a process that was killed`() async throws {
        let quay = try Quay()
        try quay.reportStartToken()
        try await quay.begin(lastWait: .milliseconds(100))
        await quay.pushes { $0.contains { $0.event == "start" } }
        await quay.center.close(waitingAtMost: .seconds(60))
        let center = ActivityCenter(now: { Date() }, clock: ContinuousClock())
        await center.attach(try quay.reporter(), named: "apns")
        try await Task.sleep(for: .milliseconds(100))
        await center.close(waitingAtMost: .seconds(60))
        #expect(quay.delivered.count { $0.event == "start" } == 1)
    }

    @Test func `leaves the island to the process that drives it`() async throws {
        let quay = try Quay()
        try await quay.adopt()
        let second = ActivityCenter(now: { Date() }, clock: ContinuousClock())
        await second.attach(try quay.reporter(), named: "apns")
        await second.send(.added("z", title: "Second"))
        try await quay.journal("another process waits")
        #expect(!quay.delivered.contains { $0.state?.items.contains { $0.title == "Second" } == true })
        await quay.center.close(waitingAtMost: .seconds(60))
        // Now it is free.
        await quay.pushes { $0.contains { $0.state?.items.contains { $0.title == "Second" } == true } }
        await second.close(waitingAtMost: .seconds(60))
        #expect(quay.delivered.count { $0.event == "start" } == 1)
    }

    @Test func `ends while another process drives the island`() async throws {
        let quay = try Quay()
        try await quay.adopt()
        let second = ActivityCenter(now: { Date() }, clock: ContinuousClock())
        let reporter = try quay.reporter()
        await second.send(.added("z", title: "Second"))
        let updates = await second.subscribe()
        async let result: Void = reporter.report(updates)
        await second.close(waitingAtMost: .seconds(60))
        try await result
        await quay.center.close(waitingAtMost: .seconds(60))
    }

    @Test func `keeps every push under four kilobytes`() async throws {
        let quay = try Quay()
        try await quay.adopt()
        let names = [
            String(repeating: "Hafenmeisterei ", count: 40), String(repeating: "港口管理", count: 200),
            String(repeating: "👨‍👩‍👧‍👦", count: 100), String(repeating: "ميناء ", count: 100), "\u{0}\"\\/",
            String(repeating: "ก็", count: 500),
        ]
        for count in [1, 2, 5, 50, 500] {
            for number in 0..<count {
                let id = InstallID("\(count)-\(number)")
                await quay.center.send(.added(id, title: names[number % names.count]))
                await quay.center.send(.stage(id, .downloading))
                await quay.center.send(.progress(id, .bytes(Int64(number), of: 500)))
            }
        }
        await quay.pushes { $0.last?.state?.count == 559 }
        await quay.center.close(waitingAtMost: .seconds(60))
        for push in quay.delivered { push.check() }
    }

    @Test func `throttles numbers, and not what happens`() async throws {
        let quay = try Quay()
        try await quay.adopt()
        for step in 1...500 {
            await quay.center.send(.progress("a", .bytes(Int64(step) * 10, of: 10_000)))
            try await Task.sleep(for: .milliseconds(1))
        }
        await quay.center.send(.held("a"))
        await quay.pushes { $0.contains { $0.state?.isHeld == true } }
        await quay.center.close(waitingAtMost: .seconds(60))
        let updates = quay.delivered.filter { $0.event == "update" }
        // Half a second of 50 whole percents: a few, not 50.
        #expect(updates.count { $0.priority == "5" } <= 8, "\(updates.map(\.priority))")
        #expect(updates.first { $0.state?.isHeld == true }?.priority == "10")
    }
}
