package import FerryBytes
package import FerryHTTP
package import FerryPipeline
package import FerryRecord
import FerryWebReporter

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How a control server is set up, beside where it listens.
package struct ControlSetup: Sendable {
    /// Where it keeps its tokens, and archives that were sent or signed. Made where it is missing.
    package var folder: String
    /// Names by which it may be asked, without ports: `127.0.0.1`, `ferry.example.com`, `[::1]`.
    package var hosts: Set<String>
    /// Tokens that are good for this process alone.
    package var tokens: [(token: Secret, role: Role)] = []
    /// Serves the dashboard's files from there; `nil` for those that are built in.
    package var pages: String?
    /// Routes that ask for no token: over-the-air pages.
    package var more: [Routes.Route] = []
    /// How much it takes on.
    package var limits = ControlLimits()

    /// The usual one.
    package init(folder: String, hosts: Set<String>) {
        self.folder = folder
        self.hosts = hosts
    }
}

/// The control API, the dashboard, and whatever else is to be served beside them.
package final class ControlServer: Sendable {
    private let server: HTTPServer
    private let calls: ControlCalls
    private let door = Door()

    /// How often, and after what pause, it is looked whether the last viewer has left.
    private static let farewells = 100
    private static let farewell = Duration.milliseconds(20)
    private let sweeping: Task<Void, Never>

    /// Where it listens.
    package var address: ListenAddress { server.address }

    /// Starts it.
    ///
    /// - Parameters:
    ///   - configuration: Where it listens, and with which certificate.
    ///   - setup: Whom it lets in, and where its files are.
    ///   - services: What it does its work with.
    ///   - book: What was given to the web reporter of `services` for its objects.
    ///   - metrics: Attached to the center of `services` already.
    package init(
        _ configuration: ServerConfiguration,
        _ setup: ControlSetup,
        _ services: Services,
        book: InstallBook,
        metrics: Metrics
    ) throws {
        for name in ["uploads", "archives"] { try makeFolders(setup.folder + "/" + name) }
        book.setLinks(services.links.link)
        let clock = services.clock
        let gate = Gate(
            TokenKeeper(TokenBook(folder: setup.folder), own: setup.tokens),
            hosts: setup.hosts,
            limits: setup.limits,
            seconds: { services.now().timeIntervalSince1970 }
        )
        let calls = ControlCalls(
            services: services,
            limits: setup.limits,
            book: book,
            folder: setup.folder,
            metrics: metrics,
            gate: gate
        )
        book.setFolders(uploads: calls.uploads.path, archives: calls.archives)
        self.calls = calls
        let pages = PageFiles(folder: setup.pages)
        let refuse: @Sendable (Refusal) -> Response = { Problem($0).response }
        let routes = Routes(calls.routes + setup.more + Self.pages(pages), refuse: refuse)
        var configuration = configuration
        configuration.refuse = { refusal in
            metrics.answered(refusal.status)
            return refuse(refusal)
        }
        server = try HTTPServer(configuration) { [door] request in
            if door.isClosing, !["GET", "HEAD"].contains(request.method) {
                let problem = Problem(CancellationError())
                metrics.answered(problem.status)
                return .now(problem.response)
            }
            if let problem = gate.misdirection(request), request.path.segments != ["healthz"] {
                metrics.answered(problem.status)
                return .now(problem.response)
            }
            switch routes.answer(request) {
            case .now(let response):
                metrics.answered(response.status)
                return .now(response.safe)
            case .later(let limit, let make):
                return .later(bodyLimit: limit) {
                    let response = await make()
                    metrics.answered(response.status)
                    return response.safe
                }
            }
        }
        // Cancelled by `stop` and `deinit`.
        sweeping = Task {
            while !Task.isCancelled {
                let now = services.now()
                await calls.uploads.sweep(at: now) { await calls.isNeeded($0) }
                calls.archives.sweep(at: now.timeIntervalSince1970)
                try? await clock.sleep(for: .seconds(60))
            }
        }
    }

    deinit {
        sweeping.cancel()
    }

    /// Goes on with an install of the record, as if it had been asked for here; `request` is what was asked for.
    package func goOn(_ install: RecordedInstall, _ request: InstallRequest) async throws {
        try await calls.goOn(install, request)
    }

    /// Takes on nothing new from now on, and lets people look: what comes before ``stop(within:)``.
    package func beginStop() {
        door.close()
    }

    /// Stops: no new requests, streams end, and what is being answered has `time` to be done.
    package func stop(within time: Duration = .seconds(5)) async {
        sweeping.cancel()
        // Viewers leave by themselves once they have read the last fact, and the server would cut them off before. One that
        // does not read is not waited for any longer.
        let web = calls.services.web
        for _ in 0..<Self.farewells where web.isClosed && web.viewerCount > 0 {
            try? await Task.sleep(for: Self.farewell)
        }
        await server.stop(within: time)
    }

    private static func pages(_ pages: PageFiles) -> [Routes.Route] {
        [
            .now("GET", "/") { pages.response($0, "index.html") ?? Problem(404, "There is no page here.").response },
            .now("GET", "/{file}") { request in
                let name = request.parameters["file"] ?? ""
                return pages.response(request, name) ?? Problem(404, "There is nothing at this address.").response
            },
        ]
    }
}

/// Whether the server takes on what changes something.
private final class Door: Sendable {
    private let closing = Guarded(false)

    var isClosing: Bool { closing.withLock { $0 } }

    func close() {
        closing.withLock { $0 = true }
    }
}

extension Problem {
    /// What the HTTP server itself refuses.
    init(_ refusal: Refusal) {
        self.init(refusal.status, refusal.message)
    }
}

extension Response {
    /// The same, that no browser takes for something else.
    fileprivate var safe: Response {
        var response = self
        if response.headers["X-Content-Type-Options"] == nil { response.headers["X-Content-Type-Options"] = "nosniff" }
        return response
    }
}
