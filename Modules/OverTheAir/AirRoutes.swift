import FerryBytes
package import FerryHTTP

/// What a server answers to phones: pages of links, and what belongs to them.
///
/// Nobody has a token here: the secret in the address is the key. So no answer is kept by caches in between, and no page
/// tells others where it was come from.
package struct AirRoutes: Sendable {
    private let book: LinkBook
    private let address: @Sendable () -> PublicAddress
    private let installed: @Sendable (AirLink) -> Void
    private let authority: [UInt8]?

    /// Answers for the links of a book.
    ///
    /// - Parameters:
    ///   - authority: The certificate of the authority that this server's certificate is by, in DER, where a phone has to
    ///     be taught to trust it.
    ///   - installed: Told once that the app of a link has reported.
    package init(
        _ book: LinkBook,
        _ address: @escaping @Sendable () -> PublicAddress,
        authority: [UInt8]? = nil,
        installed: @escaping @Sendable (AirLink) -> Void = { _ in }
    ) {
        self.book = book
        self.address = address
        self.installed = installed
        self.authority = authority
    }

    /// All of them.
    package var routes: [Routes.Route] {
        var routes: [Routes.Route] = [
            .now("GET", "/i/page.css") { _ in Self.guarded(Self.file(AirPage.css, "text/css")) },
            .now("GET", "/i/page.js") { _ in Self.guarded(Self.file(InstallPage.script, "text/javascript")) },
            .now("GET", "/i/{link}/") { request in open(request) { page(request, $0) } },
            .now("GET", "/i/{link}") { request in
                open(request) { link in
                    Response(status: 308, headers: ["Location": address().base(for: request) + "/i/\(link.secret)/"])
                }
            },
            .now("GET", "/i/{link}/manifest.plist") { request in
                open(request) { link in
                    if request.method == "GET" { book.asked(link.secret) }
                    return .bytes(Manifest.xml(link, base: base(request, link)), type: "text/xml")
                }
            },
            .now("GET", "/i/{link}/app.ipa") { request in open(request) { archive(request, $0) } },
            .now("GET", "/i/{link}/icon57.png") { request in open(request) { icon($0, 57) } },
            .now("GET", "/i/{link}/icon512.png") { request in open(request) { icon($0, 512) } },
            .now("GET", "/i/{link}/qr.svg") { request in
                open(request) { link in
                    let code = QRCode(base(request, link))
                    return .bytes(Array((code?.svg ?? "").utf8), type: "image/svg+xml")
                }
            },
            .now("GET", "/i/{link}/state") { request in open(request, state) },
            .now("POST", "/i/{link}/installed") { request in
                open(request) { link in
                    if book.installed(link.secret) { installed(link) }
                    return Response(status: 204)
                }
            },
        ]
        if let authority { routes += Self.authority(authority) }
        return routes
    }

    private static func authority(_ certificate: [UInt8]) -> [Routes.Route] {
        let page = AuthorityPage.html(fingerprint(certificate))
        let profile = AuthorityPage.profile(certificate)
        // Without Content-Disposition: Safari would put what is “attached” among the files, and the system would not offer
        // to install it.
        return [
            .now("GET", "/ca") { _ in guarded(html(page)) },
            .now("GET", "/ca.mobileconfig") { _ in
                guarded(.bytes(profile, type: "application/x-apple-aspen-config"))
            },
            .now("GET", "/ca.cer") { _ in guarded(.bytes(certificate, type: "application/x-x509-ca-cert")) },
        ]
    }

    /// Asks `make` where the link of the request is good; says otherwise that it is over, or that there is none.
    private func open(_ request: Request, _ make: (AirLink) -> Response) -> Response {
        guard let link = book[request.parameters["link"] ?? ""] else {
            return Self.over(.unknown, request)
        }
        guard book.isOpen(link) else {
            return Self.over(link.isRevoked ? .revoked : .expired, request)
        }
        return Self.guarded(make(link))
    }

    private func base(_ request: Request, _ link: AirLink) -> String {
        address().base(for: request) + "/i/\(link.secret)/"
    }

    private func page(_ request: Request, _ link: AirLink) -> Response {
        let state = book.state(of: link.secret) ?? LinkState(step: link.step, sentBytes: 0, byteCount: link.byteCount)
        return Self.html(
            InstallPage.html(link, state, base: base(request, link), hasAuthority: authority != nil)
        )
    }

    private func archive(_ request: Request, _ link: AirLink) -> Response {
        guard let source = try? FileSource(path: book.archive(of: link)) else {
            return Self.over(.expired, request)
        }
        let secret = link.secret
        let body = FileBody(source, tag: link.files) { [book] range in book.sent(range, of: secret) }
        return .file(body, type: "application/octet-stream")
    }

    private func icon(_ link: AirLink, _ side: Int) -> Response {
        guard let source = try? FileSource(path: book.icon(of: link, side: side)) else {
            return .text("There is no icon.\n", status: 404)
        }
        return .file(FileBody(source), type: "image/png")
    }

    private func state(_ link: AirLink) -> Response {
        guard let state = book.state(of: link.secret) else { return .text("", status: 404) }
        let text = #"{"step":"\#(state.step.rawValue)","percent":\#(state.percent),"words":"\#(state.words)"}"#
        return .bytes(Array(text.utf8), type: "application/json")
    }

    /// 404 for a link that nobody knows, 410 for one that was.
    private static func over(_ ending: InstallPage.Ending, _ request: Request) -> Response {
        let root = String(repeating: "../", count: request.path.segments.count - 1)
        return guarded(html(InstallPage.over(ending, root: root), status: ending == .unknown ? 404 : 410))
    }

    private static func html(_ text: String, status: Int = 200) -> Response {
        .bytes(Array(text.utf8), type: "text/html; charset=utf-8", status: status)
    }

    private static func file(_ text: String, _ type: String) -> Response {
        .bytes(Array(text.utf8), type: type + "; charset=utf-8")
    }

    private static func guarded(_ response: Response) -> Response {
        var response = response
        let fields = [
            ("Cache-Control", "private, no-store"), ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"), ("X-Robots-Tag", "noindex"),
            (
                "Content-Security-Policy",
                "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; "
                    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ),
        ]
        for (name, value) in fields where response.headers[name] == nil { response.headers[name] = value }
        return response
    }
}

extension LinkState {
    /// What people are told of it.
    var words: String {
        step == .sending ? "Sending: \(percent)%" : step.words
    }
}
