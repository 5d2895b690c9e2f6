import FerryActivity
import FerryPipeline
import FerryRecord
import Foundation
import TestKit
import Testing

/// Orders that another process gives, by way of the record.
@Suite(.timeLimit(.minutes(10))) struct `An order of another process` {
    private func recorded(_ source: String) throws -> InstallRequest {
        var request = InstallRequest(source: source, signing: try Cargo.options())
        request.signingFingerprint = "same hands"
        return request
    }

    private func other(_ wharf: Wharf) async throws -> SQLiteRecord {
        try await SQLiteRecord(folder: wharf.folder.path("record")) { Date() }
    }

    @Test func `holds and releases what downloads, again and again`() async throws {
        let quay = try Quay(Cargo.small.get(), pauseAfter: 1000)
        let wharf = try await Wharf(isRecorded: true)
        let other = try await other(wharf)
        let id = await wharf.pipeline.submit(try recorded(quay.url))
        await wharf.waitForBytes(1000, of: id)
        for _ in 0..<3 {
            _ = try await other.order(.hold, [id])
            while await wharf.center.activity[id]?.isHeld == false { try await Task.sleep(for: .milliseconds(5)) }
            _ = try await other.order(.release, [id])
            while await wharf.center.activity[id]?.isHeld == true { try await Task.sleep(for: .milliseconds(5)) }
        }
        // What this process orders itself stands in the record for the others.
        await wharf.pipeline.hold(id)
        #expect(try await other.installs(all: false).first?.isHeld == true)
        await wharf.pipeline.releaseAll()
        #expect(try await other.installs(all: false).first?.isHeld == false)
        quay.letGo()
        _ = try await wharf.pipeline.result(of: id)
        await other.close()
        let facts = await wharf.end(id)
        #expect(
            facts.filter { ["held", "released"].contains($0) }
                == Array(repeating: ["held", "released"], count: 4).flatMap(\.self)
        )
    }

    @Test func `holds what is being signed before it is put in place`() async throws {
        let checkpoint = Checkpoint()
        let wharf = try await Wharf(isRecorded: true, stopsSigning: checkpoint)
        let other = try await other(wharf)
        let id = await wharf.pipeline.submit(try recorded(try wharf.folder.write(Cargo.small.get(), to: "Harbour.ipa")))
        await checkpoint.reached()
        _ = try await other.order(.hold, [id])
        await wharf.wait(for: id) { $0.isHeld }
        checkpoint.open()
        while try await other.installs(all: false).first?.signature == nil {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try wharf.files(in: "apps") == [])
        #expect(await wharf.center.activity[id]?.stage == .signing)
        _ = try await other.order(.release, [id])
        _ = try await wharf.pipeline.result(of: id)
        await other.close()
        #expect(
            await wharf.end(id) == [
                "added Harbour.ipa", "downloading", "signing", "held", "named Harbour com.example.harbour 1.2",
                "released", "installing", "installed",
            ]
        )
    }

    /// Where an install is when it is cancelled.
    enum Place: CaseIterable {
        case inLine
        case downloading
        case held
        case signing
        case installing
    }

    @Test(arguments: Place.allCases) func `cancels it wherever it is`(place: Place) async throws {
        let quay = try Quay(
            Cargo.small.get(),
            pauseAfter: 1000,
            isPaused: { _ in place != .signing && place != .installing }
        )
        let checkpoint = Checkpoint()
        let wharf = try await Wharf(
            isRecorded: true,
            stopsSigning: place == .signing ? checkpoint : nil,
            stopsInstalling: place == .installing ? checkpoint : nil
        )
        let other = try await other(wharf)
        var others: [InstallID] = []
        for _ in 0..<(place == .inLine ? InstallPipeline.downloadLimit : 0) {
            others.append(await wharf.pipeline.submit(try recorded(quay.url)))
        }
        try await until { quay.server.exchanges.count == others.count }
        let id = await wharf.pipeline.submit(try recorded(quay.url))
        switch place {
        case .inLine: break
        case .downloading: await wharf.waitForBytes(1000, of: id)
        case .held:
            await wharf.waitForBytes(1000, of: id)
            await wharf.pipeline.hold(id)
        case .signing, .installing: await checkpoint.reached()
        }
        #expect(try await other.order(.cancel, [id])[id]?.isFinished == false)
        // The code that is stopped looks whether it was cancelled, and would not if it went on before it was.
        while try await other.installs(all: true).last?.outcome == nil {
            try await Task.sleep(for: .milliseconds(250))
            checkpoint.open()
        }
        #expect(await wharf.outcome(of: id) == .cancelled)
        #expect(try await other.installs(all: true).last?.outcome == .cancelled)
        #expect(try wharf.files(in: "apps") == [])
        quay.letGo()
        for id in others { _ = try await wharf.pipeline.result(of: id) }
        #expect(try wharf.files(in: "work") == [])
        #expect(try wharf.files(in: "state") == [])
        await other.close()
        #expect(await wharf.end(id).last == "cancelled")
    }
}
