import FerryActivity
import FerryRecord
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct `The record` {
    @Test func `gives everything back after a restart`() async throws {
        let ledger = Ledger()
        let first = try await ledger.open()
        try await first.add(Ledger.install("one"))
        let signature = RecordedSignature(
            file: RecordedFile(path: "/work/a.signed.ipa", byteCount: 9, sha256: Array(repeating: 7, count: 32)),
            inputSHA256: Ledger.file.sha256,
            fingerprint: "f00"
        )
        try await first.write(.stage(.installing), of: "one")
        try await first.write(.named(title: "Harbour", bundleID: "com.example.harbour", version: "1.2"), of: "one")
        try await first.write(.downloaded(Ledger.file), of: "one")
        try await first.write(.signed(signature), of: "one")
        first.note(.bytes(1, of: 3), of: "one")
        first.note(.bytes(2, of: 3), of: "one")
        _ = try await first.order(.hold, ["one"])
        await first.close()

        let second = try await ledger.open()
        #expect(second.notice == nil)
        let install = try #require(try await second.installs(all: false).first)
        var expected = Ledger.install("one")
        expected.title = "Harbour"
        expected.bundleID = "com.example.harbour"
        expected.version = "1.2"
        expected.stage = .installing
        expected.download = Ledger.file
        expected.signature = signature
        expected.isHeld = true
        expected.starts = 1
        expected.progress = .bytes(2, of: 3)
        #expect(install == expected)
        await second.close()
        #expect(try ledger.leases() == [])
    }

    @Test(
        arguments: [
            .installed(location: "/srv/apps/a"), .installed(location: nil), .cancelled,
            .failed(Failure(message: "It broke.", remedy: "Mend it.", stage: .signing)),
            .failed(Failure(message: "It broke.", remedy: nil, stage: .downloading)),
        ] as [Outcome]
    )
    func `takes one end of an install and no other`(outcome: Outcome) async throws {
        let ledger = Ledger()
        let record = try await ledger.open()
        try await record.add(Ledger.install("one"))
        try await record.write(.finished(outcome), of: "one")
        await #expect(throws: RecordError.self) { try await record.write(.finished(.cancelled), of: "one") }
        #expect(try await record.order(.hold, ["one"])["one"]?.isHeld == false)
        let install = try #require(try await record.installs(all: true).first)
        #expect(install.outcome == outcome)
        #expect(install.stage == .finished)
        #expect(install.process == nil)
        #expect(try await record.installs(all: false) == [])
        // What failed may be tried again; all else is over.
        guard outcome.failure != nil else {
            await #expect(throws: RecordError.self) { try await record.claim("one") }
            return await record.close()
        }
        let again = try await record.claim("one")
        #expect(again.outcome == nil)
        #expect(again.stage == .waiting)
        #expect(again.finishedAt == nil)
        try await record.write(.finished(.installed(location: nil)), of: "one")
        await record.close()
    }

    @Test func `takes the word of an app that was delivered`() async throws {
        let ledger = Ledger()
        let record = try await ledger.open()
        try await record.add(Ledger.install("one"))
        try await record.write(.finished(.delivered(location: "here")), of: "one")
        #expect(try await record.installs(all: true).map(\.outcome) == [.delivered(location: "here")])
        try await record.write(.finished(.installed(location: nil)), of: "one")
        #expect(try await record.installs(all: true).map(\.outcome) == [.installed(location: "here")])
        await #expect(throws: RecordError.self) { try await record.write(.finished(.cancelled), of: "one") }
        await record.close()
    }

    @Test func `lets one process run an install, and the next once it was let go`() async throws {
        let ledger = Ledger()
        let one = try await ledger.open()
        let two = try await ledger.open()
        try await one.add(Ledger.install("one"))
        #expect(try await two.installs(all: false).first?.process == getpid())
        await #expect(throws: RecordError.running("one", by: getpid())) { try await two.claim("one") }
        await #expect(throws: RecordError.self) { try await two.write(.stage(.signing), of: "one") }
        await #expect(throws: RecordError.self) { try await two.add(Ledger.install("one")) }
        try await one.letGo("one")
        #expect(try await two.installs(all: false).first?.process == nil)
        #expect(try await two.claim("one").starts == 2)
        await #expect(throws: RecordError.self) { try await one.claim("one") }
        await #expect(throws: RecordError.unknown("other")) { try await one.claim("other") }
        await two.close()
        #expect(try await one.claim("one").starts == 3)
        await one.close()
    }

    @Test func `gives an install that many want at once to one of them`() async throws {
        let ledger = Ledger()
        let first = try await ledger.open()
        try await first.add(Ledger.install("one"))
        await first.close()
        var records: [SQLiteRecord] = []
        for _ in 0..<8 { records.append(try await ledger.open()) }
        let winners = await withTaskGroup(of: Bool.self) { group in
            for record in records {
                group.addTask { (try? await record.claim("one")) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(winners == 1)
        for record in records { await record.close() }
        #expect(try ledger.leases() == [])
    }

    @Test func `forgets what ended long ago, and the oldest of too many`() async throws {
        let ledger = Ledger()
        let record = try await ledger.open(at: Date(timeIntervalSince1970: 1_800_000_000))
        for number in 0..<5 {
            try await record.add(Ledger.install(InstallID("\(number)")))
            if number != 2 { try await record.write(.finished(.cancelled), of: InstallID("\(number)")) }
        }
        await record.close()
        var limits = RecordLimits()
        limits.finishedCount = 2
        let fewer = try await ledger.open(limits)
        #expect(try await fewer.installs(all: true).map(\.id) == ["2", "3", "4"])
        await fewer.close()
        let later = try await ledger.open(at: Date(timeIntervalSince1970: 1_800_000_000 + 15 * 86400))
        #expect(try await later.installs(all: true).map(\.id) == ["2"])
        await later.close()
    }

    @Test func `makes ids of letters that nobody takes for another`() {
        let ids = Set((0..<1000).map { _ in InstallID.random() })
        #expect(ids.count == 1000)
        for id in ids {
            #expect(id.rawValue.count == 12)
            #expect(id.rawValue.allSatisfy { "0123456789abcdefghjkmnpqrstvwxyz".contains($0) })
        }
    }

    @Test func `can be written on after the disk was full`() async throws {
        guard SmallDisk.isPossible else { return print("skipped: \(SmallDisk.absent)") }
        let disk = try SmallDisk("size=400k")
        let record = try await SQLiteRecord(folder: disk.path + "/record") { Date() }
        try await record.add(Ledger.install("one"))
        var written = 0
        var failure: RecordError?
        while failure == nil, written < 500 {
            do throws(RecordError) {
                let id = InstallID("\(written)-" + String(repeating: "x", count: 4000))
                try await record.add(id, Ledger.install(id).request, title: "")
                written += 1
            } catch {
                failure = error
            }
        }
        #expect(failure?.code == .full, "\(failure.map { "\($0)" } ?? "nothing failed")")
        await record.close()
        let again = try await SQLiteRecord(folder: disk.path + "/record") { Date() }
        #expect(again.notice == nil)
        #expect(try await again.installs(all: true).count == written + 1)
        await again.close()
    }
}

extension RecordError {
    fileprivate static func running(_ id: String, by process: Int32) -> RecordError {
        RecordError(
            .running,
            "\(id): process \(process) runs this install.",
            remedy: "Wait for it, or end it with “ferry cancel \(id)”."
        )
    }

    fileprivate static func unknown(_ id: String) -> RecordError {
        RecordError(.unknown, "\(id): there is no such install.", remedy: "“ferry jobs --all” lists those there are.")
    }
}
