import FerryActivity
import FerryRecord
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct `An order` {
    @Test func `is heard by the process that runs the install`() async throws {
        let ledger = Ledger()
        let runner = try await ledger.open()
        let other = try await ledger.open()
        try await runner.add(Ledger.install("one"))
        var changes = runner.changes().makeAsyncIterator()
        for (order, expected) in [
            (InstallOrder.hold, Standing(revision: 1, isHeld: true)), (.release, Standing(revision: 2)),
            (.cancel, Standing(revision: 3, isCancelled: true)),
        ] {
            #expect(try await other.order(order, ["one"]) == ["one": expected])
            // Twice says nothing new.
            #expect(try await other.order(order, ["one", "unknown"]) == ["one": expected])
            var heard: Standing?
            while heard != expected {
                await changes.next()
                heard = try await runner.standings(["one"])["one"]
            }
        }
        await runner.close()
        await other.close()
    }

    @Test func `to cancel ends an install that nobody runs`() async throws {
        let ledger = Ledger()
        let runner = try await ledger.open()
        try await runner.add(Ledger.install("one"))
        await runner.close()
        let other = try await ledger.open()
        #expect(try await other.order(.cancel, ["one"])["one"]?.isFinished == true)
        #expect(try await other.installs(all: true).first?.outcome == .cancelled)
        await other.close()
    }

    @Test func `to cancel ends for good what failed, and nothing else that has ended`() async throws {
        let ledger = Ledger()
        let record = try await ledger.open()
        try await record.add(Ledger.install("failed"))
        try await record.add(Ledger.install("done"))
        try await record.write(.finished(.failed(Failure(message: "", remedy: nil, stage: .signing))), of: "failed")
        try await record.write(.finished(.installed(location: nil)), of: "done")
        for order in [InstallOrder.hold, .release, .cancel] { _ = try await record.order(order, ["failed", "done"]) }
        #expect(try await record.installs(all: true).map(\.outcome) == [.cancelled, .installed(location: nil)])
        await #expect(throws: RecordError.self) { try await record.claim("failed") }
        await record.close()
    }

    @Test func `to hold is kept for the next process`() async throws {
        let ledger = Ledger()
        let runner = try await ledger.open()
        try await runner.add(Ledger.install("one"))
        await runner.close()
        let other = try await ledger.open()
        #expect(try await other.order(.hold, ["one"])["one"]?.isHeld == true)
        #expect(try await other.claim("one").isHeld)
        await other.close()
    }

    @Test func `to cancel counts when its process lets go before it noticed`() async throws {
        let ledger = Ledger()
        let runner = try await ledger.open()
        let other = try await ledger.open()
        try await runner.add(Ledger.install("one"))
        #expect(try await other.order(.cancel, ["one"])["one"]?.isFinished == false)
        try await runner.letGo("one")
        #expect(try await other.installs(all: true).first?.outcome == .cancelled)
        await runner.close()
        await other.close()
    }
}

@Suite(.enabled(if: Ledger.hasTool && Tool("flock") != nil, "sqlite3 or flock is missing"), .timeLimit(.minutes(5)))
struct `A lease` {
    /// Has a process hold the lease of a run until it is killed.
    private func holder(of run: String, in ledger: Ledger) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Tool("flock")).path)
        // Without a child of its own, which would keep the lock.
        process.arguments = ["--no-fork", ledger.path + "/runs/" + run, "sleep", "1000"]
        try process.run()
        return process
    }

    @Test func `ends with its process, even one that is killed`() async throws {
        let ledger = Ledger()
        let first = try await ledger.open()
        try await first.add(Ledger.install("one"))
        try await first.add(Ledger.install("two"))
        await first.close()
        // Its own number, so that a look at the process alone would say that it lives.
        try await ledger.ask("UPDATE install SET runner = 'elsewhere', process = \(getpid());")
        let process = try holder(of: "elsewhere", in: ledger)
        let record = try await ledger.open()
        while try await record.installs(all: false).first?.process == nil {
            try await Task.sleep(for: .milliseconds(5))
        }
        await #expect(throws: RecordError.self) { try await record.claim("one") }
        #expect(try await record.order(.cancel, ["two"])["two"]?.isFinished == false)
        try await onThread {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        #expect(try await record.installs(all: false).first?.process == nil)
        #expect(try await record.claim("one").starts == 2)
        // It was cancelled, and its process died before it noticed.
        await #expect(throws: RecordError.self) { try await record.claim("two") }
        #expect(try await record.installs(all: true).last?.outcome == .cancelled)
        await record.close()
        let last = try await ledger.open()
        await last.close()
        #expect(try ledger.leases() == [])
    }

    @Test func `that died with a cancelled install ends it when the record is opened`() async throws {
        let ledger = Ledger()
        let first = try await ledger.open()
        try await first.add(Ledger.install("one"))
        await first.close()
        try await ledger.ask("UPDATE install SET runner = 'gone', process = 1, is_cancelled = 1;")
        let second = try await ledger.open()
        #expect(try await second.installs(all: true).first?.outcome == .cancelled)
        await second.close()
    }
}
