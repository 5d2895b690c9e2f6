import FerryActivity
import FerryPipeline
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A cancelled install` {
    private func check(_ wharf: Wharf, _ id: InstallID, after way: [String]) async throws {
        #expect(await wharf.outcome(of: id) == .cancelled)
        await #expect(throws: (any Error).self) { try await wharf.pipeline.result(of: id) }
        #expect(try wharf.files(in: "work").filter { !$0.hasSuffix(".part") } == [])
        #expect(try wharf.files(in: "apps") == [])
        #expect(await wharf.end(id) == ["added Harbour.ipa"] + way + ["cancelled"])
    }

    @Test func `ends in the line for downloads`() async throws {
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000)
        let wharf = try await Wharf()
        var others: [InstallID] = []
        for _ in 0..<InstallPipeline.downloadLimit { others.append(try await wharf.submit(quay.url)) }
        try await until { quay.server.exchanges.count == InstallPipeline.downloadLimit }
        let id = try await wharf.submit(quay.url)
        await wharf.pipeline.cancel(id)
        #expect(await wharf.outcome(of: id) == .cancelled)
        // The others do not notice.
        quay.letGo()
        for other in others { _ = try await wharf.pipeline.result(of: other) }
        #expect(quay.server.exchanges.count == others.count)
        #expect(await wharf.end(id) == ["added Harbour.ipa", "cancelled"])
    }

    @Test func `ends while it is held in line`() async throws {
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000)
        let wharf = try await Wharf()
        var others: [InstallID] = []
        for _ in 0..<InstallPipeline.downloadLimit { others.append(try await wharf.submit(quay.url)) }
        try await until { quay.server.exchanges.count == InstallPipeline.downloadLimit }
        let id = try await wharf.submit(quay.url)
        await wharf.pipeline.hold(id)
        quay.letGo()
        for other in others { _ = try await wharf.pipeline.result(of: other) }
        // It had its turn, and waits to be released.
        await wharf.pipeline.cancel(id)
        #expect(await wharf.outcome(of: id) == .cancelled)
        #expect(await wharf.end(id) == ["added Harbour.ipa", "held", "cancelled"])
    }

    @Test func `ends while it downloads`() async throws {
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000)
        let wharf = try await Wharf()
        let id = try await wharf.submit(quay.url)
        await wharf.waitForBytes(1000, of: id)
        await wharf.pipeline.cancel(id)
        try await check(wharf, id, after: ["downloading"])
        quay.letGo()
    }

    @Test func `ends while its download is held`() async throws {
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000)
        let wharf = try await Wharf()
        let id = try await wharf.submit(quay.url)
        await wharf.waitForBytes(1000, of: id)
        await wharf.pipeline.hold(id)
        await wharf.pipeline.cancel(id)
        try await check(wharf, id, after: ["downloading", "held"])
        quay.letGo()
    }

    @Test func `is cancelled by whoever stops waiting for it`() async throws {
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000)
        let wharf = try await Wharf()
        let id = try await wharf.submit(quay.url)
        await wharf.waitForBytes(1000, of: id)
        let waiting = Task { try await wharf.pipeline.result(of: id) }
        waiting.cancel()
        await #expect(throws: (any Error).self) { try await waiting.value }
        try await check(wharf, id, after: ["downloading"])
        quay.letGo()
    }

    @Test func `is one of all`() async throws {
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000)
        let wharf = try await Wharf()
        var ids: [InstallID] = []
        for _ in 0..<3 { ids.append(try await wharf.submit(quay.url)) }
        await wharf.pipeline.cancelAll()
        for id in ids { #expect(await wharf.outcome(of: id) == .cancelled) }
        let facts = await wharf.end()
        for id in ids { #expect(facts[id]?.count { $0 == "cancelled" } == 1) }
        quay.letGo()
    }

    @Test func `does not mind being cancelled after its end`() async throws {
        let quay = try Quay(Cargo.small.get())
        let wharf = try await Wharf()
        let id = try await wharf.submit(quay.url)
        _ = try await wharf.pipeline.result(of: id)
        await wharf.pipeline.cancel(id)
        await wharf.pipeline.hold(id)
        await wharf.pipeline.release(id)
        #expect(try await wharf.pipeline.result(of: id).isUpdate == false)
        #expect(await wharf.end(id).last == "installed")
    }

    @Test func `goes on by range in the next process`() async throws {
        let quay = try Quay(Cargo.large.get(), pauseAfter: 3_000_000, isPaused: { $0 == 0 })
        let first = try await Wharf()
        let before = try await first.submit(quay.url)
        await first.waitForBytes(1_000_000, of: before)
        await first.pipeline.cancel(before)
        #expect(await first.outcome(of: before) == .cancelled)
        _ = await first.end()
        quay.letGo()

        let second = try await Wharf(first.folder)
        let id = try await second.submit(quay.url)
        _ = try await second.pipeline.result(of: id)
        #expect(quay.ranges.count == 2)
        #expect(quay.ranges.last ?? 0 >= 1_000_000)
        #expect(try second.files(in: "work") == [])
        #expect(await second.end(id).last == "installed")
    }
}
