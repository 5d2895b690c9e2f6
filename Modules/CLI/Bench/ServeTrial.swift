import FerryBytes
import FerryHTTP
import FerryOverTheAir
import FerrySample

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One link, served by Ferry and by nginx: the same files and the same certificate, on loopback.
final class ServeTrial {
    /// How long the archive is.
    let bytes: Int
    private let scratch: BenchFolder
    private let link: AirLink
    private let servers: [(scheme: String, server: HTTPServer)]
    private let nginx: pid_t
    private let nginxPorts: [String: UInt16]

    init(bytes: Int) async throws {
        let scratch = try BenchFolder()
        self.scratch = scratch
        let archive = scratch.path("Harbour.ipa")
        var app = SampleApp()
        app.approximateBytes = bytes
        try app.write(to: archive, level: 1)
        let now = Int64(time(nil))
        let book = try LinkBook(folder: scratch.path("links")) { now }
        link = try book.add(try AirApp(archive, icons: { _ in [] }), install: nil, seconds: 86_400)
        self.bytes = link.byteCount
        let authority = try LocalAuthority(folder: scratch.path("ca"), hosts: ["127.0.0.1"], now: now)
        let routes = Routes(AirRoutes(book, { PublicAddress(standard: "https://127.0.0.1") }).routes)
        let hosts = HostNames(["127.0.0.1"])
        servers = try [("https", authority.identity), ("http", nil)].map { scheme, identity in
            let listen = ListenAddress(host: "127.0.0.1", port: 0)
            let server = try HTTPServer(ServerConfiguration(listen: listen, tls: identity)) { request in
                hosts.misdirection(request).map { .now(.text($0, status: 421)) } ?? routes.answer(request)
            }
            return (scheme, server)
        }
        // Free a moment ago, and again from here on.
        let ports = try (0..<2).map { _ in try Descriptor.listener() }
        for port in ports { port.0.close() }
        nginxPorts = ["https": ports[0].1, "http": ports[1].1]
        try makeFolders(scratch.path("files"))
        guard symlink(archive, scratch.path("files/app.ipa")) == 0 else {
            throw FileFailure("link", archive, errorNumber: errno)
        }
        // As long as what a link's state says, within a byte.
        try WholeFile.write(
            Array(#"{"step":"delivered","percent":100,"words":"Delivered"}"#.utf8),
            to: scratch.path("files/state")
        )
        let configuration = Self.configuration(scratch, secure: ports[0].1, plain: ports[1].1)
        try WholeFile.write(Array(configuration.utf8), to: scratch.path("nginx.conf"))
        nginx = try BenchServer.startNginx(scratch, orElse: "Install it: apt-get install nginx-light.")
    }

    deinit {
        BenchServer.end(nginx)
    }

    /// Where each server has a file of the link: Ferry first.
    func addresses(_ scheme: String, _ file: String) -> [(name: String, url: String)] {
        let own = servers.first { $0.scheme == scheme }?.server.address.port ?? 0
        return [
            ("ferry", "\(scheme)://127.0.0.1:\(own)/i/\(link.secret)/\(file)"),
            ("nginx", "\(scheme)://127.0.0.1:\(nginxPorts[scheme] ?? 0)/\(file)"),
        ]
    }

    /// Has curl fetch a file; `nil` where it fails, or not all of it comes.
    func fetch(_ url: String) throws -> Measurement? {
        let output = scratch.path("count")
        let command =
            "curl -sf --noproxy '*' --cacert '\(scratch.path("ca/ca.pem"))' -o /dev/null -w '%{size_download}' '\(url)' > {out}"
        guard let cost = try Rival("curl=" + command)?.run(input: "", output: output),
            try WholeFile.read(output, limit: 100) == Array("\(bytes)".utf8)
        else { return nil }
        return cost
    }

    /// Has h2load ask for a file again and again; the rate, or `nil` where it fails or any request does.
    func load(_ url: String, requests: Int, connections: Int) throws -> Double? {
        let output = scratch.path("load")
        let command = "h2load --h1 -t 1 -c \(min(connections, requests)) -n \(requests) '\(url)' > {out}"
        guard try Rival("h2load=" + command)?.run(input: "", output: output) != nil else { return nil }
        let text = String(decoding: try WholeFile.read(output, limit: 1 << 20), as: UTF8.self)
        guard text.contains(" \(requests) succeeded, 0 failed"), text.contains("\(requests) 2xx") else { return nil }
        // “finished in 1.03s, 97087.38 req/s, 25.00MB/s”
        return text.split(separator: "\n").first { $0.hasPrefix("finished in ") }?
            .split(separator: " ").dropFirst(3).first.flatMap { Double($0) }
    }

    private static func configuration(_ scratch: BenchFolder, secure: UInt16, plain: UInt16) -> String {
        BenchServer.configuration(
            scratch,
            workers: 2,
            """
            tcp_nopush on;
            keepalive_requests 100000000;
            default_type application/octet-stream;
            server {
                listen 127.0.0.1:\(plain);
            }
            server {
                listen 127.0.0.1:\(secure) ssl;
                ssl_certificate \(scratch.path("ca/server.pem"));
                ssl_certificate_key \(scratch.path("ca/server.key"));
                ssl_protocols TLSv1.2 TLSv1.3;
            }
            """
        )
    }
}
