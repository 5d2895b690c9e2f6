import FerryAPNsReporter
import FerryActivity
import FerryBytes
import FerryDownload
import FerryHTTP
import FerryInstalling
import FerryLiveActivity
import FerryPipeline
import FerryRecord
import FerryServer
import FerrySigning
import FerryTerminalReporter
import FerryWeb
import FerryWebReporter
import FoundationEssentials

extension Serve {
    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let place = try Place(invocation)
        let desk = try await ServeDesk(invocation)
        let downloader = try invocation.downloader()
        let pipelines = Handoff<[InstallPipeline]>()
        try await invocation.withRecord { record in
            try await Session.run(invocation, onCommand: { await InstallRun.obey($0, pipelines) }) { session in
                let files = try invocation.installFiles()
                try await files.sweep(record)
                let pipeline = InstallPipeline(
                    downloader: downloader,
                    signer: desk.signer,
                    installer: Installer(target: FolderTarget(folder: desk.folder)),
                    center: session.center,
                    workFolder: files.workFolder,
                    record: record,
                    partialFolder: files.partialFolder
                )
                await pipelines.put([pipeline])
                let book = InstallBook()
                let web = WebReporter(clock: ContinuousClock(), addition: book.add)
                let metrics = Metrics()
                await session.center.attach(web, named: "web")
                await session.center.attach(metrics, named: "metrics")
                var services = Services(
                    version: invocation.program.version,
                    target: invocation.arguments.required("--to"),
                    signs: desk.options != nil,
                    center: session.center,
                    web: web,
                    pipeline: pipeline,
                    request: desk.request
                )
                services.record = record
                services.files = files
                desk.fill(&services)
                let server = try ControlServer(place.configuration, place.setup, services, book: book, metrics: metrics)
                place.tell(server.address, invocation.console)
                await desk.goOn(record, pipeline, invocation.console)
                // Until ctrl-C.
                while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
                await Task {
                    await pipeline.interruptAll()
                    await session.center.close(waitingAtMost: .seconds(3))
                    await server.stop()
                }.value
            }
        }
        await Task { await downloader.close() }.value
        return .done
    }
}

/// Where a server listens, and whom it lets in.
private struct Place {
    let configuration: ServerConfiguration
    let setup: ControlSetup
    private let publicURL: String?
    private let token: Secret?

    init(_ invocation: Invocation) throws {
        let arguments = invocation.arguments
        let listen = try ListenAddress(arguments.required("--listen"))
        publicURL = arguments.value("--public-url")
        var hosts: Set<String> = ["127.0.0.1", "localhost", "[::1]"]
        if let publicURL {
            guard let address = WebAddress(publicURL), ["http", "https"].contains(address.scheme) else {
                throw UsageError(.invalidValue, "--public-url: “\(publicURL.printable)” is no address.", verb: "serve")
            }
            hosts.insert(address.host)
        }
        if !["0.0.0.0", "::"].contains(listen.host) {
            hosts.insert(listen.host.contains(":") ? "[\(listen.host)]" : listen.host)
        }
        hosts.formUnion(arguments.values("--host"))
        let tls = try Self.identity(arguments)
        guard listen.isLoopback || tls != nil || publicURL != nil else {
            throw UsageError(
                .missingOption,
                "Anybody on the way to \(listen) could read the tokens.",
                advice: "Give --tls-certificate and --tls-key, or --public-url where a server with TLS is in front.",
                verb: "serve"
            )
        }
        configuration = ServerConfiguration(listen: listen, tls: tls)
        let hasTokens = try !invocation.tokenBook.entries().isEmpty
        token = hasTokens ? nil : TokenBook.newToken()
        var setup = ControlSetup(folder: try Folders.make(invocation.serverFolder), hosts: hosts)
        if let token { setup.tokens = [(token, .admin)] }
        setup.pages = arguments.value("--pages")
        setup.limits.uploadBytes = (arguments.number("--upload-limit") ?? 4_295) * 1_000_000
        self.setup = setup
    }

    private static func identity(_ arguments: ParsedArguments) throws -> TLSIdentity? {
        switch (arguments.value("--tls-certificate"), arguments.value("--tls-key")) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            let pem = String(decoding: try InputFile.bytes(key, limit: 1 << 20), as: UTF8.self)
            return TLSIdentity(certificate: try InputFile.bytes(certificate, limit: 1 << 20), key: Secret(pem))
        default:
            throw UsageError(
                .missingOption,
                "--tls-certificate and --tls-key go together.",
                advice: "Give both, or neither.",
                verb: "serve"
            )
        }
    }

    /// Prints the address; the token after the `#` is sent to nobody by a browser.
    func tell(_ address: ListenAddress, _ console: Console) {
        let scheme = configuration.tls == nil ? "http" : "https"
        var url = publicURL ?? "\(scheme)://\(address)"
        if !url.hasSuffix("/") { url += "/" }
        console.print(url + (token.map { "#token=" + $0.revealed } ?? ""))
    }
}
