import FerryActivity
import FerryBytes
import FerryCodeSignature
import FerryDownload
import FerryInstalling
import FerryPipeline
import FerrySigning
import FerryTerminalReporter
import FoundationEssentials

extension Demo {
    /// About what a phone gets on a good day; the app takes some six seconds.
    private static let bytesPerSecond = 450_000
    /// How long the install is held on its way.
    private static let holdTime = Duration.milliseconds(1500)

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let console = invocation.console
        let clock = ContinuousClock()
        let folder = try folder(invocation)
        let signer = invocation.signer()
        console.note("Making an identity, its profiles, and an app that somebody else has published…")
        let stage = try await DemoStage.make(in: folder, signer: signer, now: Int64(Date().timeIntervalSince1970))
        let archive = try InputFile.bytes(stage.published)
        let server = try SlowServer(
            bytes: archive,
            name: "Harbour.ipa",
            bytesPerSecond: invocation.arguments.flag("--fast") ? nil : bytesPerSecond
        )
        defer { server.stop() }
        console.note("Serving it at \(server.url), and carrying it to \(folder)/apps:")

        let downloader = try Downloader(DownloadConfiguration(stateFolder: folder + "/state"))
        let pipelines = Handoff<[InstallPipeline]>()
        let start = clock.now
        let (outcome, session) = try await Session.run(invocation, onCommand: { await InstallRun.obey($0, pipelines) })
        {
            session in
            let pipeline = InstallPipeline(
                downloader: downloader,
                signer: signer,
                installer: Installer(target: FolderTarget(folder: folder + "/apps")),
                center: session.center,
                workFolder: try Folders.make(folder + "/work")
            )
            await pipelines.put([pipeline])
            let updates = await session.center.subscribe(named: "demo")
            var request = InstallRequest(source: server.url, signing: stage.options)
            request.signedArchive = folder + "/Harbour-signed.ipa"
            let id = await pipeline.submit(request)
            async let held: Void = holdOnce(id, pipeline, updates, clock)
            do {
                let result = try await pipeline.result(of: id)
                await held
                return (result, session)
            } catch {
                throw session.told(error, invocation)
            }
        }
        await downloader.close()
        let seconds = start.duration(to: clock.now).inSeconds
        let signed = folder + "/Harbour-signed.ipa"
        let faults = try await signer.verify(signed)
        let text = story(outcome, stage, archive.count, seconds, faults.filter { !$0.isWarning }.count, folder)
        if session.ownsOutput {
            console.note(text)
        } else {
            console.print(text)
        }
        return faults.allSatisfy(\.isWarning) ? .done : .failed
    }

    /// Holds the install when a third of it is there, and releases it after a while.
    private static func holdOnce(
        _ id: InstallID,
        _ pipeline: InstallPipeline,
        _ updates: ActivityUpdates,
        _ clock: ContinuousClock
    ) async {
        for await update in updates {
            guard let install = update.activity[id] else { continue }
            if install.isFinished { return }
            let fraction = install.stage == .downloading ? install.progress?.fraction ?? 0 : 1
            guard install.stage != .waiting, fraction >= 0.35 else { continue }
            await pipeline.hold(id)
            try? await clock.sleep(for: holdTime)
            await pipeline.release(id)
            return
        }
    }

    private static func folder(_ invocation: Invocation) throws -> String {
        if let wanted = invocation.arguments.value("--keep") { return try Folders.make(wanted) }
        let base = invocation.environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        let name = "ferry-demo-" + String(UInt32.random(in: 0...UInt32.max), radix: 36)
        return try Folders.make((base.hasSuffix("/") ? String(base.dropLast()) : base) + "/" + name)
    }

    /// What was done, and where the result is.
    private static func story(
        _ result: InstallResult,
        _ stage: DemoStage,
        _ bytes: Int,
        _ seconds: Double,
        _ faults: Int,
        _ folder: String
    ) -> String {
        var lines = [
            "",
            "Harbour went from a web server to a folder in \(Int(seconds.rounded())) seconds:",
            "  downloaded  \(sizeText(bytes)), held once and released on the way",
        ]
        if let signed = result.signed {
            lines.append(
                "  re-signed   \(signed.signedFileCount) files of \(signed.bundles.count) bundles, by “\(stage.options.identity?.leaf.commonName ?? "")”"
            )
            for bundle in signed.bundles.reversed() {
                guard let old = bundle.oldIdentifier, old != bundle.identifier else { continue }
                let profile = bundle.profile.map { ", profile “\($0)”" } ?? ""
                lines.append("              \(old) → \(bundle.identifier)\(profile)")
            }
            let dropped = Set(signed.bundles.flatMap(\.droppedEntitlements.keys)).sorted()
            if !dropped.isEmpty {
                lines.append(
                    "              without \(dropped.joined(separator: ", ")): its new profiles do not grant that"
                )
            }
        }
        lines += [
            "  verified    \(faults == 0 ? "every signature, seal and profile: no fault" : "\(faults) faults")",
            "  installed   \(result.location)",
            "",
            "Everything is in \(folder). Look at it with",
            "  ferry inspect \(folder)/Harbour-signed.ipa",
            "and do it yourself with",
            "  ferry sign \(stage.published) -o Mine.ipa --p12 \(stage.identityFile) --password-file \(folder)/password.txt --bundle-id net.example.mine --profile \(stage.profileFiles[1])",
        ]
        return lines.joined(separator: "\n")
    }
}
