import FerryAPNsReporter
import FerryActivity
import FerryBytes
import FerryDownload
import FerryHTTP
import FerryInstalling
import FerryLiveActivity
import FerryOverTheAir
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
        let place = try ServingPlace(invocation, verb: "serve")
        let lock = try ServingLock(folder: try Folders.make(invocation.serverFolder))
        defer { withExtendedLifetime(lock) {} }
        let desk = try await ServeDesk(invocation)
        let air = try AirDesk(
            place,
            folder: invocation.serverFolder + "/links",
            seconds: place.linkSeconds,
            invocation.console
        )
        let downloader = try invocation.downloader()
        let pipelines = Handoff<[InstallPipeline]>()
        try await invocation.withRecord { record in
            try await Session.run(invocation, onCommand: { await InstallRun.obey($0, pipelines) }) { session in
                let files = try invocation.installFiles()
                try await files.sweep(record)
                let pipeline = InstallPipeline(
                    downloader: downloader,
                    signer: desk.signer,
                    installer: Installer(target: try desk.target.target(air)),
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
                    target: desk.target.text,
                    signs: desk.options != nil,
                    center: session.center,
                    web: web,
                    pipeline: pipeline,
                    request: desk.request
                )
                services.record = record
                services.files = files
                desk.fill(&services)
                if desk.target == .ota { services.links = air.services(pipeline) }
                let (setup, token) = try setup(invocation, place)
                var open = setup
                // Routes that ask for no token.
                open.more += air.routes(pipeline)
                let server = try ControlServer(place.configuration, open, services, book: book, metrics: metrics)
                air.listens(at: server.address)
                tell(air.usualAddress, token, place, invocation.console)
                await desk.goOn(record, server, invocation.console)
                // Until ctrl-C.
                while !Task.isCancelled {
                    try? await Task.sleep(for: .seconds(30))
                    air.book.sweep()
                }
                air.book.beginStop()
                server.beginStop()
                await Task {
                    await pipeline.interruptAll()
                    // Each is written down as stopped; a signature notices only between two files.
                    for _ in 0..<100 where await pipeline.unfinishedCount > 0 {
                        try? await Task.sleep(for: .milliseconds(100))
                    }
                    await session.center.close(waitingAtMost: .seconds(3))
                    await server.stop()
                }.value
            }
        }
        await Task { await downloader.close() }.value
        return .done
    }

    private static func setup(_ invocation: Invocation, _ place: ServingPlace) throws -> (ControlSetup, Secret?) {
        let hasTokens = try !invocation.tokenBook.entries().isEmpty
        let token = hasTokens ? nil : TokenBook.newToken()
        var setup = ControlSetup(folder: try Folders.make(invocation.serverFolder), hosts: place.hosts)
        if let token { setup.tokens = [(token, .admin)] }
        setup.pages = invocation.arguments.value("--pages")
        setup.limits.uploadBytes = (invocation.arguments.number("--upload-limit") ?? 4_295) * 1_000_000
        return (setup, token)
    }

    /// Prints the address; the token after the `#` is sent to nobody by a browser.
    private static func tell(_ address: String, _ token: Secret?, _ place: ServingPlace, _ console: Console) {
        console.print(address + "/" + (token.map { "#token=" + $0.revealed } ?? ""))
        if let authority = place.authority {
            console.print("Phones learn to trust it at \(address)/ca, where its SHA-256 is")
            console.print(authority.fingerprint)
        }
    }
}
