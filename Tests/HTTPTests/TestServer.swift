import FerryBytes
import Foundation
import Synchronization
import TestKit

@testable import FerryHTTP

/// A server of a test's own, on loopback, plain or by TLS, and curl to ask it.
final class TestServer: Sendable {
    static let hasCurl = Tool("curl") != nil
    static let absent = "curl or openssl is missing"
    static let hasTools = hasCurl && Tool("openssl") != nil

    let server: FerryHTTP.HTTPServer
    let folder: TemporaryFolder
    private let isSecure: Bool

    init(
        secure: Bool = false,
        limits: ServerLimits = ServerLimits(),
        _ handler: @escaping Handler
    ) throws {
        folder = try TemporaryFolder()
        isSecure = secure
        var configuration = ServerConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0), limits: limits)
        if secure { configuration.tls = try Self.identity(in: folder) }
        server = try FerryHTTP.HTTPServer(configuration, handler: handler)
    }

    var port: Int { Int(server.address.port) }

    var base: String { "\(isSecure ? "https" : "http")://127.0.0.1:\(port)" }

    static func identity(in folder: TemporaryFolder) throws -> TLSIdentity {
        try Tool("openssl")?.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder.path("key.pem"), "-out",
            folder.path("certificate.pem"),
        ])
        return TLSIdentity(
            certificate: try folder.read("certificate.pem"),
            key: Secret(String(decoding: try folder.read("key.pem"), as: UTF8.self))
        )
    }

    /// Asks with curl, on a thread of its own; the path is sent as it is.
    @discardableResult
    func curl(_ path: String, _ options: [String] = [], input: [UInt8] = []) async throws -> Tool.Result {
        let trust = isSecure ? ["--cacert", folder.path("certificate.pem")] : []
        let arguments = ["-sS", "--path-as-is", "--max-time", "60"] + trust + options + [base + path]
        return try await onThread { try Tool(path: Tool("curl")?.path ?? "curl").run(arguments, input: input) }
    }

    /// The status that curl gets.
    func status(_ path: String, _ options: [String] = [], input: [UInt8] = []) async throws -> String {
        try await curl(path, ["-o", "/dev/null", "-w", "%{http_code}"] + options, input: input).text
    }

    /// Sends bytes on a connection of its own and gives all that comes until it is closed.
    func talk(_ text: String) async throws -> String {
        let port = port
        return try await onThread {
            let socket = try Socket.connect(port: port)
            _ = socket.write(Array(text.utf8)[...])
            return String(decoding: socket.readAll(), as: UTF8.self)
        }
    }
}

extension Socket {
    func readAll() -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let some = read()
            if some.isEmpty { return all }
            all += some
        }
    }

    /// Reads until `text` has come, or the end.
    func read(until text: String) -> String {
        var all: [UInt8] = []
        while true {
            let some = read()
            all += some
            let read = String(decoding: all, as: UTF8.self)
            if some.isEmpty || read.contains(text) { return read }
        }
    }
}

/// A sign that a test waits for.
final class Sign: Sendable {
    private let stream: AsyncStream<Void>
    private let sink: AsyncStream<Void>.Continuation

    init() {
        (stream, sink) = AsyncStream.makeStream()
    }

    func give() { sink.finish() }

    /// Returns once it was given, or the task is cancelled.
    func wait() async {
        for await _ in stream {}
    }
}
