import FerryActivity
import FerryPipeline
import FerrySample
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `In the middle of a stage` {
    private static let named = "named Harbour com.example.harbour 1.2"

    @Test func `a hold while signing takes effect before installing`() async throws {
        let checkpoint = Checkpoint()
        let wharf = try await Wharf(stopsSigning: checkpoint)
        let id = try await wharf.submit(try wharf.folder.write(Cargo.small.get(), to: "Harbour.ipa"))
        await checkpoint.reached()
        await wharf.pipeline.hold(id)
        checkpoint.open()
        try await until { try wharf.files(in: "work").contains { $0.hasSuffix(".signed.ipa") } }
        try await Task.sleep(for: .milliseconds(100))
        #expect(await wharf.center.activity[id]?.stage == .signing)
        #expect(try wharf.files(in: "apps") == [])
        await wharf.pipeline.release(id)
        _ = try await wharf.pipeline.result(of: id)
        #expect(
            await wharf.end(id) == [
                "added Harbour.ipa", "downloading", "signing", "held", Self.named, "released", "installing",
                "installed",
            ]
        )
    }

    @Test func `a cancel at the gate before installing leaves nothing`() async throws {
        let checkpoint = Checkpoint()
        let wharf = try await Wharf(stopsSigning: checkpoint)
        let id = try await wharf.submit(try wharf.folder.write(Cargo.small.get(), to: "Harbour.ipa"))
        await checkpoint.reached()
        await wharf.pipeline.hold(id)
        checkpoint.open()
        try await until { try wharf.files(in: "work").contains { $0.hasSuffix(".signed.ipa") } }
        await wharf.pipeline.cancel(id)
        #expect(await wharf.outcome(of: id) == .cancelled)
        #expect(try wharf.files(in: "work") == [])
        #expect(try wharf.files(in: "apps") == [])
        #expect(
            await wharf.end(id) == ["added Harbour.ipa", "downloading", "signing", "held", Self.named, "cancelled"]
        )
    }

    @Test func `a task that stops waiting at the gate cancels the install`() async throws {
        let checkpoint = Checkpoint()
        let wharf = try await Wharf(stopsSigning: checkpoint)
        let id = try await wharf.submit(try wharf.folder.write(Cargo.small.get(), to: "Harbour.ipa"))
        await checkpoint.reached()
        await wharf.pipeline.hold(id)
        checkpoint.open()
        try await until { try wharf.files(in: "work").contains { $0.hasSuffix(".signed.ipa") } }
        let waiting = Task { try await wharf.pipeline.result(of: id) }
        waiting.cancel()
        await #expect(throws: (any Error).self) { try await waiting.value }
        #expect(await wharf.center.activity[id]?.outcome == .cancelled)
        _ = await wharf.end()
    }

    @Test func `a cancel while signing leaves nothing`() async throws {
        let checkpoint = Checkpoint()
        let quay = try Quay(Cargo.small.get())
        let wharf = try await Wharf(stopsSigning: checkpoint)
        let kept = wharf.folder.path("kept/signed.ipa")
        try FileManager.default.createDirectory(atPath: wharf.folder.path("kept"), withIntermediateDirectories: true)
        let id = try await wharf.submit(quay.url) { $0.signedArchive = kept }
        await checkpoint.reached()
        await wharf.pipeline.cancel(id)
        checkpoint.open()
        #expect(await wharf.outcome(of: id) == .cancelled)
        #expect(try wharf.files(in: "work") == [])
        #expect(try wharf.files(in: "kept") == [])
        #expect(try wharf.files(in: "apps") == [])
        #expect(await wharf.end(id).last == "cancelled")
    }

    @Test func `a cancel while installing leaves the older version as it was`() async throws {
        let folder = try TemporaryFolder()
        let first = try await Wharf(folder)
        let old = try await first.submit(try folder.write(Cargo.small.get(), to: "old.ipa"))
        _ = try await first.pipeline.result(of: old)
        _ = await first.end()
        let before = try first.files(in: "apps")
        let info = "apps/com.example.harbour/Harbour.app/Info.plist"
        let oldInfo = try folder.read(info)

        let checkpoint = Checkpoint()
        let second = try await Wharf(folder, stopsInstalling: checkpoint)
        let newer = try Cargo.archive { app in
            app.approximateBytes = 200_000
            app.version = "2.0"
        }
        let id = try await second.submit(try folder.write(newer, to: "new.ipa"))
        await checkpoint.reached()
        await second.pipeline.cancel(id)
        checkpoint.open()
        #expect(await second.outcome(of: id) == .cancelled)
        #expect(try second.files(in: "apps") == before)
        #expect(try folder.read(info) == oldInfo)
        #expect(try second.files(in: "work") == [])
        #expect(
            await second.end(id) == [
                "added new.ipa", "downloading", "signing", "named Harbour com.example.harbour 2.0", "installing",
                "cancelled",
            ]
        )
    }

    @Test func `one of another process takes nothing away`() async throws {
        let checkpoint = Checkpoint()
        let one = try await Wharf(stopsInstalling: checkpoint)
        let path = try one.folder.write(Cargo.small.get(), to: "Harbour.ipa")
        let first = try await one.submit(path)
        await checkpoint.reached()
        let signed = try one.files(in: "work").filter { $0.hasSuffix(".signed.ipa") }
        #expect(signed.count == 1)
        let two = try await Wharf(one.folder)
        let second = try await two.submit(path)
        _ = try await two.pipeline.result(of: second)
        #expect(try one.files(in: "work").filter { $0.hasSuffix(".signed.ipa") } == signed)
        checkpoint.open()
        _ = try await one.pipeline.result(of: first)
        #expect(try one.files(in: "work") == [])
        _ = await one.end()
        _ = await two.end()
    }

    @Test func `one that waits for another's signing can be held there, and cancelled`() async throws {
        let checkpoint = Checkpoint()
        let wharf = try await Wharf(stopsSigning: checkpoint)
        let path = try wharf.folder.write(Cargo.small.get(), to: "Harbour.ipa")
        let first = try await wharf.submit(path)
        await checkpoint.reached()
        let held = try await wharf.submit(path)
        let gone = try await wharf.submit(path)
        for id in [held, gone] { await wharf.wait(for: id) { $0.stage == .downloading } }
        await wharf.pipeline.hold(held)
        await wharf.pipeline.cancel(gone)
        #expect(await wharf.outcome(of: gone) == .cancelled)
        checkpoint.open()
        _ = try await wharf.pipeline.result(of: first)
        try await Task.sleep(for: .milliseconds(100))
        #expect(await wharf.center.activity[held]?.stage == .downloading)
        await wharf.pipeline.release(held)
        _ = try await wharf.pipeline.result(of: held)
        let facts = await wharf.end()
        #expect(
            facts[held] == [
                "added Harbour.ipa", "downloading", "held", "released", "signing", Self.named, "installing",
                "installed",
            ]
        )
        #expect(facts[gone] == ["added Harbour.ipa", "downloading", "cancelled"])
    }

    @Test func `one that waits for another's install can be held there, and cancelled`() async throws {
        let checkpoint = Checkpoint()
        let wharf = try await Wharf(stopsInstalling: checkpoint)
        let path = try wharf.folder.write(Cargo.small.get(), to: "Harbour.ipa")
        let first = try await wharf.submit(path)
        await checkpoint.reached()
        let held = try await wharf.submit(path)
        let gone = try await wharf.submit(path)
        for id in [held, gone] { await wharf.wait(for: id) { $0.stage == .signing && $0.bundleID != nil } }
        await wharf.pipeline.hold(held)
        await wharf.pipeline.cancel(gone)
        // Its own cancellation waits for nobody.
        #expect(await wharf.outcome(of: gone) == .cancelled)
        #expect(await wharf.center.activity[first]?.isFinished == false)
        checkpoint.open()
        _ = try await wharf.pipeline.result(of: first)
        try await Task.sleep(for: .milliseconds(100))
        #expect(await wharf.center.activity[held]?.stage == .signing)
        await wharf.pipeline.release(held)
        #expect(try await wharf.pipeline.result(of: held).isUpdate)
        let facts = await wharf.end()
        #expect(
            facts[held] == [
                "added Harbour.ipa", "downloading", "signing", Self.named, "held", "released", "installing",
                "installed",
            ]
        )
        #expect(facts[gone] == ["added Harbour.ipa", "downloading", "signing", Self.named, "cancelled"])
    }
}
