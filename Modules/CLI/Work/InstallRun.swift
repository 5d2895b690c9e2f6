import FerryActivity
import FerryBytes
import FerryDownload
import FerryInstalling
import FerryPipeline
import FerryRecord
import FerryTerminalReporter

/// Takes installs to their end, new ones and those of an earlier process, and shows what comes of them.
struct InstallRun: Sendable {
    /// One install that is wanted.
    struct Item: Sendable {
        /// What it is called in results: the source as it was given.
        let source: String
        /// Where it goes.
        let target: TargetChoice
        /// What is wanted.
        let request: InstallRequest
        /// The install of the record that it is; `nil` for a new one.
        var id: InstallID?
    }

    /// What `--json` prints, one for each source.
    struct Report: Encodable {
        let source: String
        let id: String?
        let identifier: String?
        let location: String?
        let isUpdate: Bool?
        let error: ErrorReport?

        init(_ source: String, id: InstallID?, _ result: InstallResult) {
            self.source = source
            self.id = id?.rawValue
            identifier = result.identifier
            location = result.location
            isUpdate = result.isUpdate
            error = nil
        }

        init(_ source: String, id: InstallID?, _ error: any Error) {
            self.source = source
            self.id = id?.rawValue
            identifier = nil
            location = nil
            isUpdate = nil
            self.error = ErrorReport(error)
        }
    }

    let invocation: Invocation
    /// What the installs are written into; `nil` for nothing.
    let record: SQLiteRecord?

    /// Runs them all; the exit code says whether they are installed.
    ///
    /// - Parameter refused: what could not even be begun, with why.
    func run(_ items: [Item], refused: [(source: String, error: any Error)] = []) async throws -> ExitCode {
        let downloader = try invocation.downloader()
        let air = try items.contains { $0.target == .ota } ? AirStand(invocation) : nil
        let pipelines = Handoff<[InstallPipeline]>()
        let (reports, session) = try await Session.run(invocation, onCommand: { await Self.obey($0, pipelines) }) {
            session in
            // A pipeline has one target; those of several targets share all the rest.
            let byTarget = try await self.pipelines(for: items, downloader, session, air?.desk)
            await pipelines.put(Array(byTarget.values))
            var begun: [(Item, InstallID, InstallPipeline)] = []
            var reports = refused.map { (Report($0.source, id: nil, $0.error), ExitCode($0.error)) }
            for item in items {
                guard let pipeline = byTarget[item.target] else { continue }
                do {
                    begun.append((item, try await self.begin(item, pipeline), pipeline))
                } catch {
                    reports.append((Report(item.source, id: item.id, error), ExitCode(error)))
                }
            }
            for (item, id, pipeline) in begun {
                reports.append(await self.report(item.source, id, pipeline))
            }
            return (reports, session)
        }
        let wasCancelled = Task.isCancelled
        await Task {
            await downloader.close()
            await air?.close(lingers: !wasCancelled)
        }.value
        return try await finish(reports, session, told: refused.count)
    }

    static func obey(_ command: TerminalReporter.Command, _ pipelines: Handoff<[InstallPipeline]>) async {
        for pipeline in await pipelines.value ?? [] {
            switch command {
            case .holdAll: await pipeline.holdAll()
            case .releaseAll: await pipeline.releaseAll()
            case .cancelAll: await pipeline.cancelAll()
            }
        }
    }

    private func pipelines(
        for items: [Item],
        _ downloader: Downloader,
        _ session: Session,
        _ air: AirDesk?
    ) async throws -> [TargetChoice: InstallPipeline] {
        let signer = invocation.signer(cache: invocation.archiveCache)
        let files = try invocation.installFiles()
        if let record { try await files.sweep(record) }
        var pipelines: [TargetChoice: InstallPipeline] = [:]
        for target in Set(items.map(\.target)) {
            pipelines[target] = InstallPipeline(
                downloader: downloader,
                signer: signer,
                installer: Installer(target: try target.target(air)),
                center: session.center,
                workFolder: files.workFolder,
                record: record,
                partialFolder: files.partialFolder
            )
        }
        return pipelines
    }

    private func begin(_ item: Item, _ pipeline: InstallPipeline) async throws -> InstallID {
        guard let id = item.id else { return await pipeline.submit(item.request) }
        try await pipeline.resume(id, item.request)
        return id
    }

    private func report(_ source: String, _ id: InstallID, _ pipeline: InstallPipeline) async -> (Report, ExitCode) {
        let shown = record == nil ? nil : id
        do {
            return (Report(source, id: shown, try await pipeline.result(of: id)), .done)
        } catch {
            return (Report(source, id: shown, error), ExitCode(error))
        }
    }

    /// Prints the results, and the errors that no reporter has told.
    ///
    /// - Parameter told: how many of the first were never seen by a reporter.
    private func finish(_ reports: [(Report, ExitCode)], _ session: Session, told: Int) async throws -> ExitCode {
        let console = invocation.console
        for (index, (report, _)) in reports.enumerated() {
            if let error = report.error, !invocation.asData {
                guard index < told || !session.showsTerminal else { continue }
                console.note(error.text(styled: console.errors.hasStyle))
            } else {
                try invocation.show(report, text: report.location ?? report.source, in: session)
            }
        }
        await noteInterrupted(reports.compactMap(\.0.id))
        let codes = Set(reports.map(\.1)).subtracting([.done])
        // Several kinds of failure are just that.
        return codes.count > 1 ? .failed : codes.first ?? .done
    }

    /// Says how to go on with what was stopped on its way.
    private func noteInterrupted(_ ids: [String]) async {
        guard let record, !invocation.asData, let open = try? await record.installs(all: false) else { return }
        let left = open.map(\.id.rawValue).filter { ids.contains($0) }
        guard let first = left.first else { return }
        invocation.console.note(
            left.count == 1
                ? "Stopped on its way: “ferry resume \(first)” goes on with it."
                : "\(left.count) installs were stopped on their way: “ferry resume --all” goes on with them."
        )
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
