import FerryActivity
import FerryBytes
import FerryDownload
import FerryPipeline
import FerryTerminalReporter

extension Download {
    /// What `--json` prints.
    struct Report: Encodable {
        let path: String
        let bytes: Int64
        let sha256: String
    }

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        var request = DownloadRequest(url: arguments.required("URL"), destination: arguments.required("--output"))
        request.sha256 = arguments.value("--sha256").flatMap { [UInt8](hex: $0) }
        request.mirrors = arguments.values("--mirror")
        request.headers = try invocation.downloadHeaders()
        request.copiesLocalFile = true
        request.acceptsWebPages = false
        let wanted = request
        let downloader = try invocation.downloader()
        let obey: @Sendable (TerminalReporter.Command) async -> Void = { command in
            switch command {
            case .holdAll: await downloader.holdAll()
            case .releaseAll: await downloader.releaseAll()
            case .cancelAll: await downloader.close()
            }
        }
        let outcome: Result<Void, any Error>
        do {
            try await Session.run(invocation, onCommand: obey) { session in
                let file = try await fetch(wanted, downloader, session, invocation)
                let report = Report(path: file.path, bytes: file.length, sha256: file.sha256.hex)
                try invocation.show(
                    report,
                    text: "\(report.path): \(sizeText(report.bytes)), SHA-256 \(report.sha256)",
                    in: session
                )
            }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        // Not cancelled with this task: what has arrived is to be recorded.
        await Task { await downloader.close() }.value
        try outcome.get()
        return .done
    }

    private static func fetch(
        _ request: DownloadRequest,
        _ downloader: Downloader,
        _ session: Session,
        _ invocation: Invocation
    ) async throws -> DownloadedFile {
        let id: InstallID = "download"
        let name = request.destination.split(separator: "/").last.map(String.init) ?? request.destination
        await session.center.send(.added(id, title: name))
        await session.center.send(.stage(id, .downloading))
        do {
            let file = try await session.center.follow(await downloader.start(request), of: id)
            await session.center.send(.finished(id, .installed(location: file.path)))
            return file
        } catch {
            await session.center.send(.finished(id, InstallPipeline.outcome(of: error, in: .downloading)))
            throw session.told(error, invocation)
        }
    }
}
