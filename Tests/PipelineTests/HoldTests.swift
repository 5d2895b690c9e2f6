import FerryActivity
import FerryDownload
import FerryPipeline
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A held install` {
    @Test func `takes no bytes until it is released`() async throws {
        let quay = try Quay(Cargo.large.get(), pauseAfter: 100_000, isPaused: { $0 == 0 })
        let wharf = try await Wharf()
        let id = try await wharf.submit(quay.url)
        await wharf.waitForBytes(1, of: id)
        await wharf.pipeline.hold(id)
        #expect(await wharf.center.activity[id]?.isHeld == true)
        try await wharf.downloaderHasHeard()
        quay.letGo()
        // Nothing but the hold keeps the rest away. What the system's buffers take is not in the file.
        try await Task.sleep(for: .milliseconds(200))
        let progress = await wharf.center.activity[id]?.progress
        try await Task.sleep(for: .milliseconds(200))
        #expect(await wharf.center.activity[id]?.progress == progress)
        #expect(progress.map { $0.completed < $0.total ?? 0 } == true)
        #expect(await wharf.center.activity[id]?.stage == .downloading)
        await wharf.pipeline.release(id)
        _ = try await wharf.pipeline.result(of: id)
        #expect(
            await wharf.end(id) == [
                "added Harbour.ipa", "downloading", "held", "released", "signing",
                "named Harbour com.example.harbour 1.2", "installing", "installed",
            ]
        )
    }

    @Test func `is one of several that are held and released together`() async throws {
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000)
        let wharf = try await Wharf()
        var ids: [InstallID] = []
        // One more than may download: that one is held in line.
        for _ in 0...InstallPipeline.downloadLimit { ids.append(try await wharf.submit(quay.url)) }
        try await until { quay.server.exchanges.count == InstallPipeline.downloadLimit }
        await wharf.pipeline.holdAll()
        #expect(await wharf.center.activity.isHeld)
        #expect(await wharf.center.activity.label == "Paused")
        quay.letGo()
        await wharf.pipeline.releaseAll()
        for id in ids { _ = try await wharf.pipeline.result(of: id) }
        let facts = await wharf.end()
        for id in ids {
            let told = try #require(facts[id])
            #expect(told.count { $0 == "held" } == 1, "\(told)")
            #expect(told.count { $0 == "released" } == 1, "\(told)")
            #expect(told.last == "installed")
        }
    }

    @Test func `that is held and released again and again tells each once`() async throws {
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000)
        let wharf = try await Wharf()
        let id = try await wharf.submit(quay.url)
        await wharf.waitForBytes(1000, of: id)
        for _ in 0..<20 {
            await wharf.pipeline.hold(id)
            await wharf.pipeline.release(id)
        }
        quay.letGo()
        _ = try await wharf.pipeline.result(of: id)
        let holds = Array(repeating: ["held", "released"], count: 20).flatMap(\.self)
        #expect(
            await wharf.end(id) == ["added Harbour.ipa", "downloading"] + holds + [
                "signing", "named Harbour com.example.harbour 1.2", "installing", "installed",
            ]
        )
    }

    @Test func `in the line for downloads lets the next one go first`() async throws {
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000, isPaused: { $0 < InstallPipeline.downloadLimit })
        let wharf = try await Wharf()
        var ids: [InstallID] = []
        for _ in 0..<InstallPipeline.downloadLimit { ids.append(try await wharf.submit(quay.url)) }
        try await until { quay.server.exchanges.count == InstallPipeline.downloadLimit }
        let held = try await wharf.submit(quay.url)
        await wharf.pipeline.hold(held)
        let next = try await wharf.submit(quay.url)
        quay.letGo()
        for id in ids + [next] { _ = try await wharf.pipeline.result(of: id) }
        #expect(await wharf.center.activity[held]?.stage == .waiting)
        await wharf.pipeline.release(held)
        _ = try await wharf.pipeline.result(of: held)
        #expect(
            await wharf.end(held) == [
                "added Harbour.ipa", "held", "released", "downloading", "signing",
                "named Harbour com.example.harbour 1.2", "installing", "installed",
            ]
        )
    }

    @Test func `stays held in the next process, which can release it`() async throws {
        let quay = try Quay(Cargo.large.get(), pauseAfter: 3_000_000, isPaused: { $0 == 0 })
        let first = try await Wharf()
        let before = try await first.submit(quay.url)
        await first.waitForBytes(1_000_000, of: before)
        await first.pipeline.hold(before)
        await first.downloader.close()
        #expect(await first.outcome(of: before) == .cancelled)
        #expect(await first.end(before) == ["added Harbour.ipa", "downloading", "held", "cancelled"])
        quay.letGo()

        let second = try await Wharf(first.folder)
        let id = try await second.submit(quay.url)
        await second.wait(for: id) { $0.isHeld }
        #expect(quay.server.exchanges.count == 1)
        await second.pipeline.release(id)
        _ = try await second.pipeline.result(of: id)
        #expect(quay.ranges.count == 2)
        #expect(quay.ranges.last ?? 0 >= 1_000_000)
        let facts = await second.end(id)
        #expect(
            facts.filter { !$0.hasPrefix("note: Goes on after ") } == [
                "added Harbour.ipa", "downloading", "held", "released", "signing",
                "named Harbour com.example.harbour 1.2", "installing", "installed",
            ]
        )
        #expect(facts.count { $0.hasPrefix("note: Goes on after ") } == 1)
        #expect(try second.files(in: "work") == [])
    }
}
