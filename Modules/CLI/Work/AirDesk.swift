import FerryActivity
import FerryBytes
import FerryHTTP
import FerryOverTheAir
import FerryPipeline
import FerryServer
import FerrySigning
import FoundationEssentials

/// Links for phones, as the command makes them: the book, the target, the routes, and what is printed.
final class AirDesk: Sendable {
    let book: LinkBook
    private let place: ServingPlace
    private let address: Guarded<PublicAddress>
    private let seconds: Int64
    private let console: Console

    init(_ place: ServingPlace, folder: String, seconds: Int64, _ console: Console) throws {
        self.place = place
        self.seconds = seconds
        self.console = console
        address = Guarded(place.address(at: place.configuration.listen))
        book = try LinkBook(folder: folder) { Int64(Date().timeIntervalSince1970) }
    }

    /// The address of the server, without a slash at its end.
    var usualAddress: String { address.withLock { $0.usual } }

    /// The server listens; until now its port was not known.
    func listens(at listen: ListenAddress) {
        let new = place.address(at: listen)
        address.withLock { $0 = new }
    }

    /// Where installs go that wait for phones.
    var target: OverTheAirTarget {
        OverTheAirTarget(
            book,
            seconds: seconds,
            address: { [self] link in page(link) },
            icons: { archive in ((try? ArchiveIcon.candidates(in: archive)) ?? []).map(\.png) },
            offered: { [self] link in tell(link) }
        )
    }

    /// What phones are answered; `pipeline` is told what apps report.
    func routes(_ pipeline: InstallPipeline?) -> [Routes.Route] {
        let routes = AirRoutes(
            book,
            { [self] in address.withLock { $0 } },
            authority: place.authority?.certificate
        ) { link in
            guard let pipeline, let id = link.install.flatMap({ InstallID($0) }) else { return }
            // Owned by nobody: it ends at once.
            Task { await pipeline.confirm(id) }
        }
        return routes.routes
    }

    /// What the control API is told of links.
    func services(_ pipeline: InstallPipeline) -> LinkServices {
        let offer: @Sendable (AirLink) -> InstallLink = { [self] link in
            InstallLink(
                url: page(link),
                expiresAt: Date(timeIntervalSince1970: TimeInterval(link.expiresAt))
            )
        }
        return LinkServices(
            link: { [book] id in book.link(of: id.rawValue).map(offer) },
            make: { [book] id, seconds in try book.renew(id.rawValue, seconds: Int64(seconds)).map(offer) },
            revoke: { [book] id in book.link(of: id.rawValue).map { book.revoke($0.secret) } ?? false },
            installed: { [book] id in
                guard let link = book.link(of: id.rawValue) else { return false }
                if book.installed(link.secret) { await pipeline.confirm(id) }
                return true
            }
        )
    }

    private func page(_ link: AirLink) -> String { address.withLock { $0.page(of: link) } }

    /// Prints a link, in a terminal with a code for the phone's camera.
    private func tell(_ link: AirLink) {
        let page = page(link)
        if console.errors.isTerminal, let code = QRCode(page) { console.note(code.text) }
        console.note("\(link.title.printable): open in Safari on the phone: \(page)")
    }
}

/// A server for the phones of one run of `ferry install --to ota`, which ends with it.
final class AirStand: Sendable {
    let desk: AirDesk
    private let server: HTTPServer
    private let folder: String

    init(_ invocation: Invocation) throws {
        let place = try ServingPlace(invocation, verb: "install")
        folder = try invocation.installFiles().workFolder + "/links-\(ProcessInfo.processInfo.processIdentifier)"
        desk = try AirDesk(place, folder: folder, seconds: place.linkSeconds, invocation.console)
        let routes = Routes(desk.routes(nil))
        let hosts = HostNames(place.hosts)
        server = try HTTPServer(place.configuration) { request in
            guard let reason = hosts.misdirection(request) else { return routes.answer(request) }
            return .now(
                .text("\(reason) Use the address that ferry install printed, or give it --host.\n", status: 421)
            )
        }
        desk.listens(at: server.address)
        if let authority = place.authority {
            invocation.console.note(
                "Phones learn to trust this server at \(desk.usualAddress)/ca, where its SHA-256 is"
            )
            invocation.console.note(authority.fingerprint)
        }
    }

    /// Stops serving, and removes what was offered.
    ///
    /// - Parameter lingers: whether pages get the time to ask once more, and to show that all was delivered.
    func close(lingers: Bool) async {
        if lingers { try? await Task.sleep(for: .seconds(3)) }
        await server.stop(within: .seconds(5))
        try? FileManager.default.removeItem(atPath: folder)
    }
}
