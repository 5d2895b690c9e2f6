import FerryActivity
import FerryIcons
import FerryPipeline
import FerrySample
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `An install's icon` {
    /// The install at its end.
    private func end(
        isSigned: Bool = true,
        _ change: (inout SampleApp) -> Void = { _ in }
    ) async throws -> (install: Install, iconFacts: [Install]) {
        let archive = try Cargo.archive { app in
            app.approximateBytes = 200_000
            change(&app)
        }
        let wharf = try await Wharf()
        let reporter = RecordingReporter()
        await wharf.center.attach(reporter, named: "record")
        let id = try await wharf.submit(try wharf.folder.write(archive, to: "Harbour.ipa")) {
            if !isSigned { $0.signing = nil }
        }
        _ = try await wharf.pipeline.result(of: id)
        let install = try #require(await wharf.center.activity[id])
        _ = await wharf.end()
        let facts = reporter.updates.compactMap { $0.fact == .iconChanged(id) ? $0.install : nil }
        return (install, facts)
    }

    @Test(arguments: [true, false]) func `is that of its app`(isSigned: Bool) async throws {
        let (install, facts) = try await end(isSigned: isSigned)
        #expect(install.outcome?.isInstalled == true)
        let icon = try #require(install.icon)
        #expect(icon == (try Icon.jpeg(from: SampleIcon.at3x)))
        #expect(icon.count <= Install.maximumIconBytes)
        #expect(icon.starts(with: [0xFF, 0xD8]) && icon.suffix(2) == [0xFF, 0xD9])
        // Once, as soon as the plan stands.
        #expect(facts.map(\.icon) == [icon])
        #expect(facts.map(\.stage) == [isSigned ? .signing : .installing])
        #expect(facts.map(\.title) == [isSigned ? "Harbour" : "Harbour.ipa"])
    }

    @Test(.enabled(if: SharedFolder.exists, "\(SharedFolder.absent)")) func `may be one that Xcode crushed`()
        async throws
    {
        let crushed = [UInt8](try Data(contentsOf: URL(fileURLWithPath: SharedFolder.corpus("cgbi-2.png"))))
        let (install, _) = try await end {
            $0.extraFiles = [.init(SampleApp.path + "/AppIcon60x60@3x.png", crushed)]
        }
        #expect(install.icon == (try Icon.jpeg(from: crushed)))
        #expect(install.icon?.isEmpty == false)
    }

    @Test(arguments: [true, false]) func `is none where the app has none`(isSigned: Bool) async throws {
        let (install, facts) = try await end(isSigned: isSigned) { $0.parts.remove(.icons) }
        #expect(install.outcome?.isInstalled == true)
        #expect(install.icon == nil)
        #expect(facts == [])
    }

    @Test func `is the next best where one is broken, which hurts nobody`() async throws {
        let broken = SampleApp.path + "/AppIcon60x60@3x.png"
        let (install, _) = try await end { $0.extraFiles = [.init(broken, Array(SampleIcon.at3x.dropLast(20)))] }
        #expect(install.outcome?.isInstalled == true)
        #expect(install.notes == [])
        #expect(install.icon == (try Icon.jpeg(from: SampleIcon.at2x)))
    }

    @Test func `is none where all are broken, which hurts nobody`() async throws {
        let (install, facts) = try await end {
            $0.extraFiles = ["2x", "3x"].map { .init(SampleApp.path + "/AppIcon60x60@\($0).png", [1, 2, 3]) }
        }
        #expect(install.outcome?.isInstalled == true)
        #expect(install.notes == [])
        #expect(install.icon == nil)
        #expect(facts == [])
    }
}
