import FerryActivity
import FerryCodeSignature
import FerryPipeline
import FerrySample
import FerrySigning
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `An install` {
    private static let wholeWay = [
        "added Harbour.ipa", "downloading", "signing", "named Harbour com.example.harbour 1.2", "installing",
        "installed",
    ]

    @Test func `goes from a server to a folder, and tells its way in order`() async throws {
        let quay = try Quay(Cargo.small.get())
        let wharf = try await Wharf()
        let id = try await wharf.submit(quay.url + "?token=secret")
        let result = try await wharf.pipeline.result(of: id)
        #expect(result.location == wharf.folder.path("apps/com.example.harbour/Harbour.app"))
        #expect(!result.isUpdate)
        #expect(result.signed?.identifier == "com.example.harbour")
        let executable = wharf.folder.path("apps/com.example.harbour/Harbour.app/Harbour")
        #expect(FileManager.default.isExecutableFile(atPath: executable))
        #expect(try wharf.files(in: "work") == [])
        #expect(try wharf.files(in: "state").filter { $0.hasSuffix(".part") } == [])
        #expect(await wharf.end(id) == Self.wholeWay)
    }

    @Test func `has every file of the app, and its signatures beside them`() async throws {
        let quay = try Quay(Cargo.small.get())
        let wharf = try await Wharf()
        let id = try await wharf.submit(quay.url)
        _ = try await wharf.pipeline.result(of: id)
        var app = SampleApp()
        app.approximateBytes = 200_000
        let prefix = SampleApp.path + "/"
        let expected = Set(app.files().map(\.path).filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.count) })
        let there = Set(try wharf.files(in: "apps/com.example.harbour/Harbour.app").map { $0[...] })
        #expect(expected.subtracting(there) == [])
        #expect(there.contains("_CodeSignature/CodeResources"))
        #expect(there.contains("embedded.mobileprovision"))
        _ = await wharf.end()
    }

    @Test func `keeps the signed archive where that was asked for`() async throws {
        let quay = try Quay(Cargo.small.get())
        let wharf = try await Wharf()
        let kept = wharf.folder.path("kept.ipa")
        let id = try await wharf.submit(quay.url) { $0.signedArchive = kept }
        let result = try await wharf.pipeline.result(of: id)
        #expect(result.signed?.path == kept)
        let faults = try await Signer(threadCount: 1, now: { Cargo.now }).verify(kept)
        #expect(faults.filter { !$0.isWarning }.isEmpty, "\(faults)")
        #expect(try wharf.files(in: "work") == [])
        _ = await wharf.end()
    }

    @Test func `uses a local file where it lies, and leaves it there`() async throws {
        let wharf = try await Wharf()
        let bytes = try Cargo.small.get()
        let path = try wharf.folder.write(bytes, to: "mine/Harbour.ipa")
        let id = try await wharf.submit(path)
        let result = try await wharf.pipeline.result(of: id)
        #expect(result.location.hasSuffix("/com.example.harbour/Harbour.app"))
        #expect(try wharf.folder.read("mine/Harbour.ipa") == bytes)
        #expect(try wharf.files(in: "work") == [])
        #expect(await wharf.end(id) == Self.wholeWay)
    }

    @Test func `without signing puts the files there as they are`() async throws {
        let quay = try Quay(Cargo.small.get())
        let wharf = try await Wharf()
        let id = try await wharf.submit(quay.url) { $0.signing = nil }
        let result = try await wharf.pipeline.result(of: id)
        #expect(result.signed == nil)
        let files = try wharf.files(in: "apps/com.example.harbour/Harbour.app")
        #expect(files.contains("Info.plist"))
        #expect(!files.contains("_CodeSignature/CodeResources"))
        #expect(try wharf.files(in: "work") == [])
        #expect(await wharf.end(id) == ["added Harbour.ipa", "downloading", "installing", "installed"])
    }

    @Test func `takes the place of an older version`() async throws {
        let wharf = try await Wharf()
        let old = try wharf.folder.write(try Cargo.small.get(), to: "old.ipa")
        let newer = try Cargo.archive { app in
            app.approximateBytes = 200_000
            app.version = "1.3"
        }
        let new = try wharf.folder.write(newer, to: "new.ipa")
        let first = try await wharf.submit(old)
        #expect(try await !wharf.pipeline.result(of: first).isUpdate)
        let second = try await wharf.submit(new)
        #expect(try await wharf.pipeline.result(of: second).isUpdate)
        #expect(await wharf.end(second).contains("named Harbour com.example.harbour 1.3"))
    }

    @Test func `shares no file with another of the same URL at the same time`() async throws {
        let bytes = try Cargo.small.get()
        let quay = try Quay(bytes, pauseAfter: 1000)
        let wharf = try await Wharf()
        let first = try await wharf.submit(quay.url)
        let second = try await wharf.submit(quay.url)
        // Both are in the middle of their file.
        try await until { quay.server.exchanges.count == 2 }
        quay.letGo()
        _ = try await wharf.pipeline.result(of: first)
        _ = try await wharf.pipeline.result(of: second)
        #expect(quay.ranges == [0, 0])
        #expect(try wharf.files(in: "work") == [])
        let facts = await wharf.end()
        #expect(facts[first]?.last == "installed")
        #expect(facts[second]?.last == "installed")
    }

    @Test func `shares no file with another process's of the same URL`() async throws {
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000)
        let one = try await Wharf()
        let two = try await Wharf(one.folder)
        let first = try await one.submit(quay.url)
        let second = try await two.submit(quay.url)
        try await until { quay.server.exchanges.count == 2 }
        quay.letGo()
        _ = try await one.pipeline.result(of: first)
        _ = try await two.pipeline.result(of: second)
        #expect(try one.files(in: "work") == [])
        #expect(await one.end(first).last == "installed")
        #expect(await two.end(second).last == "installed")
    }

    @Test func `fails where there is no work folder`() async throws {
        let wharf = try await Wharf()
        try FileManager.default.removeItem(atPath: wharf.folder.path("work"))
        let id = try await wharf.submit("Harbour.ipa")
        let failure = await wharf.outcome(of: id)?.failure
        #expect(failure?.message.hasPrefix(wharf.folder.path("work")) == true)
        #expect(await wharf.end(id).last == "failed while waiting")
    }

    @Test func `waits while as many are downloading as may`() async throws {
        let limit = InstallPipeline.downloadLimit
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000)
        let wharf = try await Wharf()
        var ids: [InstallID] = []
        for _ in 0..<limit + 2 { ids.append(try await wharf.submit(quay.url)) }
        try await until { quay.server.exchanges.count == limit }
        try await Task.sleep(for: .milliseconds(100))
        #expect(quay.server.exchanges.count == limit)
        #expect(await wharf.center.activity.installs.map(\.stage).count { $0 == .waiting } == 2)
        quay.letGo()
        for id in ids { _ = try await wharf.pipeline.result(of: id) }
        #expect(quay.server.exchanges.count == limit + 2)
        let facts = await wharf.end()
        #expect(ids.allSatisfy { facts[$0]?.last == "installed" })
    }
}

@Suite(.timeLimit(.minutes(10))) struct `An install that fails` {
    private func failure(
        of source: String,
        at wharf: Wharf,
        _ change: (inout InstallRequest) -> Void = { _ in }
    ) async throws -> Failure? {
        let id = try await wharf.submit(source, change)
        let outcome = await wharf.outcome(of: id)
        #expect(try wharf.files(in: "work") == [])
        let facts = await wharf.end(id)
        #expect(facts.count { $0.hasPrefix("failed") } == 1)
        #expect(facts.last?.hasPrefix("failed") == true)
        return outcome?.failure
    }

    @Test func `in its download says so`() async throws {
        let server = try HTTPServer { _ in .init(404) }
        let failure = try await failure(of: server.url("/a.ipa"), at: Wharf())
        #expect(failure?.stage == .downloading)
        #expect(failure?.message.contains("404") == true)
        #expect(failure?.remedy?.isEmpty == false)
    }

    @Test func `in its checksum says so`() async throws {
        let quay = try Quay(Cargo.small.get())
        let wharf = try await Wharf()
        let failure = try await failure(of: quay.url, at: wharf) { $0.sha256 = [UInt8](repeating: 1, count: 32) }
        #expect(failure?.stage == .downloading)
        #expect(failure?.message.contains("SHA-256") == true)
        #expect(failure?.remedy?.isEmpty == false)
        #expect(try wharf.files(in: "apps") == [])
    }

    @Test func `in its signing says so, and leaves the target alone`() async throws {
        let quay = try Quay(Cargo.small.get())
        let wharf = try await Wharf()
        // One bundle without a profile; with more, each has its remedy in the message.
        let options = try Cargo.options("com.example.harbour.*")
        let failure = try await failure(of: quay.url, at: wharf) { $0.signing = options }
        #expect(failure?.stage == .signing)
        #expect(failure?.message.contains("none of the profiles is for com.example.harbour;") == true)
        #expect(failure?.remedy?.contains("--profile") == true)
        #expect(try wharf.files(in: "apps") == [])
    }

    @Test func `in its target says so`() async throws {
        let quay = try Quay(Cargo.small.get())
        let wharf = try await Wharf()
        try wharf.folder.write([1], to: "apps")
        let failure = try await failure(of: quay.url, at: wharf)
        #expect(failure?.stage == .installing)
        #expect(failure?.message.contains(wharf.folder.path("apps")) == true)
        #expect(failure?.remedy?.isEmpty == false)
    }

    @Test func `for lack of its local file says so`() async throws {
        let failure = try await failure(of: "/nowhere/at/all.ipa", at: Wharf())
        #expect(failure?.stage == .downloading)
        #expect(failure?.message.contains("/nowhere/at/all.ipa") == true)
        #expect(failure?.remedy?.isEmpty == false)
    }

    @Test func `does not keep the others from theirs`() async throws {
        let quay = try Quay(Cargo.small.get())
        let wharf = try await Wharf()
        let bad = try await wharf.submit("/nowhere/at/all.ipa")
        let good = try await wharf.submit(quay.url)
        _ = try await wharf.pipeline.result(of: good)
        let facts = await wharf.end()
        #expect(facts[bad]?.last == "failed while downloading")
        #expect(facts[good]?.last == "installed")
    }
}
