import FerryActivity
import FerryBytes
import FerryCodeSignature
import FerryPipeline
import FerryRecord
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A recorded install` {
    private static let named = "named Harbour com.example.harbour 1.2"

    /// What was asked for, as another process asks for it again.
    private func request(_ source: String, fingerprint: String? = "same hands") throws -> InstallRequest {
        var request = InstallRequest(source: source, signing: try Cargo.options())
        request.signingFingerprint = fingerprint
        return request
    }

    private func left(_ wharf: Wharf) throws -> [String] {
        try wharf.files(in: "work") + wharf.files(in: "state")
    }

    @Test func `that was interrupted while it downloaded goes on by range`() async throws {
        let quay = try Quay(Cargo.large.get(), pauseAfter: 3_000_000, isPaused: { $0 == 0 })
        let first = try await Wharf(isRecorded: true)
        let id = await first.pipeline.submit(try request(quay.url))
        await first.waitForBytes(1_000_000, of: id)
        await first.pipeline.interruptAll()
        #expect(await first.outcome(of: id) == .cancelled)
        #expect(await first.end(id) == ["added Harbour.ipa", "downloading", "cancelled"])
        quay.letGo()

        let second = try await Wharf(first.folder, isRecorded: true)
        let install = try #require(try await second.record?.installs(all: false).first)
        #expect(install.id == id)
        #expect(install.stage == .downloading)
        #expect(install.process == nil)
        try await second.pipeline.resume(id, try request(quay.url))
        _ = try await second.pipeline.result(of: id)
        #expect(quay.ranges.count == 2)
        #expect(quay.ranges.last ?? 0 >= 1_000_000)
        #expect(try left(second) == [])
        #expect(try await second.record?.installs(all: true).first?.outcome?.isInstalled == true)
        #expect(await second.pipeline.unfinishedCount == 0)
        #expect(await second.end(id).last == "installed")
    }

    /// What happened to what an earlier process had finished.
    enum Loss: CaseIterable {
        case nothing
        case archiveIsGone
        case archiveIsAnother
        case archiveIsCut
        case signatureIsGone
        case signatureIsAnother
        case handsAreOthers
        case handsAreUnknown

        var takesArchive: Bool { [.archiveIsGone, .archiveIsAnother, .archiveIsCut].contains(self) }
        var takesSignature: Bool { self != .nothing && !takesArchive }
    }

    @Test(arguments: Loss.allCases)
    func `that was interrupted while it was put in place does again only what was lost`(loss: Loss) async throws {
        let quay = try Quay(Cargo.small.get())
        let checkpoint = Checkpoint()
        let first = try await Wharf(isRecorded: true, stopsInstalling: checkpoint)
        let id = await first.pipeline.submit(try request(quay.url))
        await checkpoint.reached()
        await first.pipeline.interruptAll()
        checkpoint.open()
        #expect(await first.outcome(of: id) == .cancelled)
        #expect(await first.end(id).last == "cancelled")

        let folder = first.folder
        let (archive, signed) = ("work/job-\(id).ipa", "work/job-\(id).signed.ipa")
        #expect(try first.files(in: "work") == [archive, signed].map { String($0.dropFirst(5)) })
        switch loss {
        case .archiveIsGone: try FileManager.default.removeItem(atPath: folder.path(archive))
        case .archiveIsAnother: try spoil(archive, in: folder)
        case .archiveIsCut: try folder.write(folder.read(archive).dropLast(), to: archive)
        case .signatureIsGone: try FileManager.default.removeItem(atPath: folder.path(signed))
        case .signatureIsAnother: try spoil(signed, in: folder)
        case .nothing, .handsAreOthers, .handsAreUnknown: break
        }
        let fingerprint = loss == .handsAreOthers ? "other hands" : loss == .handsAreUnknown ? nil : "same hands"
        let second = try await Wharf(folder, isRecorded: true)
        try await second.pipeline.resume(id, try request(quay.url, fingerprint: fingerprint))
        #expect(try await second.pipeline.result(of: id).identifier == "com.example.harbour")
        #expect(quay.ranges == (loss.takesArchive ? [0, 0] : [0]))
        #expect(try left(second) == [])
        #expect(
            await second.end(id) == ["added Harbour", Self.named]
                // What is fetched again is the same, and so its signature still holds.
                + (loss.takesArchive ? ["downloading"] : []) + (loss.takesSignature ? ["signing"] : [])
                + ["installing", "installed"]
        )
    }

    @Test(arguments: [true, false])
    func `whose archive was put in place, but not written down, is fetched again only where it is another`(
        isAnother: Bool
    ) async throws {
        let archive = try Cargo.small.get()
        let quay = try Quay(archive, pauseAfter: 1_000, isPaused: { $0 == 0 })
        let first = try await Wharf(isRecorded: true)
        var wanted = try request(quay.url)
        wanted.sha256 = HashAlgorithm.sha256.digest(archive)
        let id = await first.pipeline.submit(wanted)
        await first.waitForBytes(1, of: id)
        await first.pipeline.interruptAll()
        _ = await first.outcome(of: id)
        _ = await first.end()
        quay.letGo()
        try first.folder.write(isAnother ? archive.dropLast() : archive, to: "work/job-\(id).ipa")

        let second = try await Wharf(first.folder, isRecorded: true)
        try await second.pipeline.resume(id, wanted)
        #expect(try await second.pipeline.result(of: id).identifier == "com.example.harbour")
        #expect(quay.ranges.count == (isAnother ? 2 : 1))
        #expect(try left(second) == [])
        #expect(await second.end(id).contains("downloading") == isAnother)
    }

    private func spoil(_ name: String, in folder: TemporaryFolder) throws {
        var bytes = try folder.read(name)
        bytes[bytes.count / 2] ^= 1
        try folder.write(bytes, to: name)
    }

    @Test func `stays held in the next process, whoever held it`() async throws {
        let quay = try Quay(Cargo.large.get(), pauseAfter: 3_000_000, isPaused: { $0 == 0 })
        let first = try await Wharf(isRecorded: true)
        let id = await first.pipeline.submit(try request(quay.url))
        await first.waitForBytes(1_000_000, of: id)
        let other = try await SQLiteRecord(folder: first.folder.path("record")) { Date() }
        _ = try await other.order(.hold, [id])
        await first.wait(for: id) { $0.isHeld }
        await first.pipeline.interruptAll()
        #expect(await first.outcome(of: id) == .cancelled)
        _ = await first.end()
        quay.letGo()

        let second = try await Wharf(first.folder, isRecorded: true)
        try await second.pipeline.resume(id, try request(quay.url))
        #expect(await second.center.activity[id]?.isHeld == true)
        try await second.downloaderHasHeard()
        #expect(quay.server.exchanges.count == 1)
        _ = try await other.order(.release, [id])
        _ = try await second.pipeline.result(of: id)
        await other.close()
        let facts = await second.end(id)
        #expect(facts.count { $0 == "held" } == 1, "\(facts)")
        #expect(facts.count { $0 == "released" } == 1, "\(facts)")
        #expect(facts.last == "installed")
    }

    @Test func `goes on at once where it was released while no process ran it`() async throws {
        let quay = try Quay(Cargo.large.get(), pauseAfter: 3_000_000, isPaused: { $0 == 0 })
        let first = try await Wharf(isRecorded: true)
        let id = await first.pipeline.submit(try request(quay.url))
        await first.waitForBytes(1_000_000, of: id)
        await first.pipeline.hold(id)
        await first.pipeline.interruptAll()
        _ = await first.outcome(of: id)
        _ = await first.end()
        quay.letGo()

        let second = try await Wharf(first.folder, isRecorded: true)
        #expect(try await second.record?.order(.release, [id])[id]?.isHeld == false)
        try await second.pipeline.resume(id, try request(quay.url))
        _ = try await second.pipeline.result(of: id)
        #expect(await second.end(id).filter { ["held", "released"].contains($0) } == [])
        #expect(quay.ranges.last ?? 0 >= 1_000_000)
    }

    @Test func `that failed can be gone on with`() async throws {
        let bytes = try Cargo.large.get()
        let file = ServedFile(bytes)
        let server = try HTTPServer { request in
            file.answer(request).with { if request.number < 2 { $0.cutAfter = 3_000_000 - request.number * 3_000_000 } }
        }
        let first = try await Wharf(isRecorded: true)
        let id = await first.pipeline.submit(try request(server.url("/Harbour.ipa")))
        // One retry is allowed, which brings nothing.
        #expect(await first.outcome(of: id)?.failure?.stage == .downloading)
        #expect(try await first.record?.installs(all: false) == [])
        _ = await first.end()

        let second = try await Wharf(first.folder, isRecorded: true)
        try await second.pipeline.resume(id, try request(server.url("/Harbour.ipa")))
        _ = try await second.pipeline.result(of: id)
        #expect(server.exchanges.last?.request.firstByte ?? 0 > 0)
        #expect(try left(second) == [])
        _ = await second.end()
    }

    @Test func `is run by one process only`() async throws {
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000)
        let first = try await Wharf(isRecorded: true)
        let id = await first.pipeline.submit(try request(quay.url))
        await first.waitForBytes(1000, of: id)
        let second = try await Wharf(first.folder, isRecorded: true)
        let again = try request(quay.url)
        await #expect(throws: RecordError.self) { try await second.pipeline.resume(id, again) }
        await #expect(throws: RecordError.self) { try await first.pipeline.resume(id, again) }
        quay.letGo()
        _ = try await first.pipeline.result(of: id)
        await #expect(throws: RecordError.self) { try await second.pipeline.resume(id, again) }
        #expect(quay.server.exchanges.count == 1)
        _ = await second.end()
        _ = await first.end()
    }

    @Test func `hears an order that came while it was taken over`() async throws {
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000)
        let first = try await Wharf(isRecorded: true)
        let id = await first.pipeline.submit(try request(quay.url))
        await first.pipeline.interruptAll()
        _ = await first.outcome(of: id)
        _ = await first.end()
        let second = try await Wharf(first.folder, isRecorded: true)
        let other = try await SQLiteRecord(folder: first.folder.path("record")) { Date() }
        // The pipeline listens already when it takes the install over.
        let local = await second.pipeline.submit(try request(quay.url))
        let again = try request(quay.url)
        async let resumed: Void = second.pipeline.resume(id, again)
        while try await other.installs(all: false).first?.process == nil { await Task.yield() }
        _ = try await other.order(.cancel, [id])
        try await resumed
        #expect(await second.outcome(of: id) == .cancelled)
        quay.letGo()
        _ = try await second.pipeline.result(of: local)
        await other.close()
        _ = await second.end()
    }

    @Test func `shares no file with one of the same source`() async throws {
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000)
        let wharf = try await Wharf(isRecorded: true)
        var ids: [InstallID] = []
        for _ in 0..<3 { ids.append(await wharf.pipeline.submit(try request(quay.url))) }
        for id in ids { await wharf.waitForBytes(1000, of: id) }
        #expect(try wharf.files(in: "state").filter { $0.hasSuffix(".part") }.count == 3)
        quay.letGo()
        for id in ids { _ = try await wharf.pipeline.result(of: id) }
        #expect(try left(wharf) == [])
        _ = await wharf.end()
    }

    @Test func `that stands is installed, though it was cancelled a moment later`() async throws {
        let checkpoint = Checkpoint()
        let wharf = try await Wharf(isRecorded: true, stopsInstalled: checkpoint)
        let id = await wharf.pipeline.submit(try request(try wharf.folder.write(Cargo.small.get(), to: "Harbour.ipa")))
        await checkpoint.reached()
        await wharf.pipeline.cancel(id)
        checkpoint.open()
        #expect(await wharf.outcome(of: id)?.isInstalled == true)
        #expect(try wharf.files(in: "apps").contains("com.example.harbour/Harbour.app/Info.plist"))
        #expect(try await wharf.record?.installs(all: true).first?.outcome?.isInstalled == true)
        #expect(try left(wharf) == [])
        _ = await wharf.end()
    }

    @Test func `that cannot be written down is not begun`() async throws {
        let wharf = try await Wharf(isRecorded: true)
        await wharf.record?.close()
        let id = await wharf.pipeline.submit(try request(try wharf.folder.write(Cargo.small.get(), to: "Harbour.ipa")))
        #expect(await wharf.outcome(of: id)?.failure?.message == "The record is closed.")
        #expect(try wharf.files(in: "apps") == [])
        #expect(await wharf.end(id) == ["added Harbour.ipa", "failed while waiting"])
    }

    @Test func `leaves nothing that a later process does not sweep`() async throws {
        let wharf = try await Wharf(isRecorded: true)
        let record = try #require(wharf.record)
        for (id, outcome) in [
            ("done", Outcome.installed(location: nil)), ("gone", .cancelled),
            ("broken", .failed(Failure(message: "", remedy: nil, stage: .signing))), ("open", nil),
        ] as [(InstallID, Outcome?)] {
            try await record.add(id, RecordedRequest(source: RecordedSource("a"), target: "b"), title: "c")
            if let outcome { try await record.write(.finished(outcome), of: id) }
        }
        for id in ["done", "gone", "broken", "open", "unknown"] {
            for ending in [".ipa", ".signed.ipa"] { try wharf.folder.write([1], to: "work/job-\(id)\(ending)") }
            for ending in [".part", ".part.json"] { try wharf.folder.write([1], to: "state/job-\(id)\(ending)") }
        }
        try wharf.folder.write([1], to: "work/other.ipa")
        try wharf.folder.write([1], to: "state/other.part")
        try await InstallFiles(workFolder: wharf.folder.path("work"), partialFolder: wharf.folder.path("state"))
            .sweep(record)
        #expect(
            try wharf.files(in: "work") == [
                "job-broken.ipa", "job-broken.signed.ipa", "job-open.ipa", "job-open.signed.ipa", "other.ipa",
            ]
        )
        #expect(
            try wharf.files(in: "state") == [
                "job-broken.part", "job-broken.part.json", "job-open.part", "job-open.part.json", "other.part",
            ]
        )
        _ = await wharf.end()
    }

    @Test func `goes on where the record's disk is full, and says so`() async throws {
        guard SmallDisk.isPossible else { return print("skipped: \(SmallDisk.absent)") }
        let disk = try SmallDisk("size=300k")
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(atPath: folder.path("record"), withDestinationPath: disk.path)
        let checkpoint = Checkpoint()
        let wharf = try await Wharf(folder, isRecorded: true, stopsSigning: checkpoint)
        let id = await wharf.pipeline.submit(try request(try folder.write(Cargo.small.get(), to: "Harbour.ipa")))
        await checkpoint.reached()
        try await onThread {
            let path = disk.path + "/rest"
            try Data().write(to: URL(fileURLWithPath: path))
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            while (try? file.write(contentsOf: Data(repeating: 1, count: 512))) != nil {}
        }
        checkpoint.open()
        _ = try await wharf.pipeline.result(of: id)
        let facts = await wharf.end(id)
        #expect(facts.contains { $0.hasPrefix("note: After a restart, this install begins again: ") }, "\(facts)")
        #expect(facts.last == "installed")
    }
}
