import FerryActivity
import FerryBytes
import FerryDownload
import FerryInstalling
import FerryPipeline
import FerrySigning
import FerryTerminalReporter

extension Install {
    /// What `--json` prints, one for each source.
    struct Report: Encodable {
        let source: String
        let identifier: String?
        let location: String?
        let isUpdate: Bool?
        let error: ErrorReport?
    }

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let folder = try folder(arguments.required("--to"))
        let options = try await invocation.signingOptions()
        let sources = arguments.values("SOURCE")
        let sha256 = arguments.value("--sha256").flatMap { [UInt8](hex: $0) }
        guard sha256 == nil || sources.count == 1 else {
            throw UsageError(.invalidValue, "--sha256 goes with one source.", advice: "Install them one by one.")
        }
        let keep = arguments.value("--keep")
        guard keep == nil || sources.count == 1 else {
            throw UsageError(.invalidValue, "--keep goes with one source.", advice: "Install them one by one.")
        }
        let downloader = try invocation.downloader()
        let pipelines = Handoff<InstallPipeline>()
        let (reports, session) = try await Session.run(invocation, onCommand: { await obey($0, pipelines) }) {
            session in
            let pipeline = InstallPipeline(
                downloader: downloader,
                signer: invocation.signer(cache: invocation.archiveCache),
                installer: Installer(target: FolderTarget(folder: folder)),
                center: session.center,
                workFolder: try Folders(environment: invocation.environment).work()
            )
            await pipelines.put(pipeline)
            var ids: [InstallID] = []
            for source in sources {
                var request = InstallRequest(source: source, signing: options)
                request.sha256 = sha256
                request.signedArchive = keep
                ids.append(await pipeline.submit(request))
            }
            var reports: [(Report, ExitCode)] = []
            for (source, id) in zip(sources, ids) {
                reports.append(await report(source, id, pipeline))
            }
            return (reports, session)
        }
        await Task { await downloader.close() }.value
        return try finish(reports, invocation, session)
    }

    /// Only folders so far; the word says which kind of target is meant.
    private static func folder(_ target: String) throws(UsageError) -> String {
        let prefix = "folder:"
        guard target.hasPrefix(prefix), target != prefix else {
            throw UsageError(.invalidValue, "“\(target)” is no target.", advice: "Give --to folder:DIR.")
        }
        return String(target.dropFirst(prefix.count))
    }

    static func obey(_ command: TerminalReporter.Command, _ pipelines: Handoff<InstallPipeline>) async {
        guard let pipeline = await pipelines.value else { return }
        switch command {
        case .holdAll: await pipeline.holdAll()
        case .releaseAll: await pipeline.releaseAll()
        case .cancelAll: await pipeline.cancelAll()
        }
    }

    private static func report(
        _ source: String,
        _ id: InstallID,
        _ pipeline: InstallPipeline
    ) async -> (Report, ExitCode) {
        do {
            let result = try await pipeline.result(of: id)
            let report = Report(
                source: source,
                identifier: result.signed?.identifier,
                location: result.location,
                isUpdate: result.isUpdate,
                error: nil
            )
            return (report, .done)
        } catch {
            let report = Report(
                source: source,
                identifier: nil,
                location: nil,
                isUpdate: nil,
                error: ErrorReport(error)
            )
            return (report, ExitCode(error))
        }
    }

    /// Prints the results, and the errors that no reporter has told.
    private static func finish(
        _ reports: [(Report, ExitCode)],
        _ invocation: Invocation,
        _ session: Session
    ) throws -> ExitCode {
        let console = invocation.console
        for (report, _) in reports {
            if let error = report.error, !invocation.asData {
                guard !session.showsTerminal else { continue }
                console.note(error.text(styled: console.errors.hasStyle))
            } else {
                try invocation.show(report, text: report.location ?? report.source, in: session)
            }
        }
        let codes = Set(reports.map(\.1)).subtracting([.done])
        // Several kinds of failure are just that.
        return codes.count > 1 ? .failed : codes.first ?? .done
    }
}

/// A value that is there only later, for those who may want it earlier.
actor Handoff<Value: Sendable> {
    private(set) var value: Value?

    /// Hands it over.
    func put(_ value: Value) {
        self.value = value
    }
}
