import FerryBytes

/// A server whose answers can be set once its port is known.
public struct Pages: Sendable {
    private let answers: Answers
    /// The server.
    public let server: HTTPServer

    private final class Answers: Sendable {
        let value = Guarded([String: @Sendable (HTTPServer.Request) -> HTTPServer.Response]())
    }

    /// Starts one that answers 404 to everything.
    public init() throws {
        let answers = Answers()
        self.answers = answers
        server = try HTTPServer { request in
            answers.value.withLock { $0[request.path] }?(request) ?? HTTPServer.Response(404)
        }
    }

    /// Answers so from now on at `path`.
    public func set(_ path: String, _ answer: @escaping @Sendable (HTTPServer.Request) -> HTTPServer.Response) {
        answers.value.withLock { $0[path] = answer }
    }

    /// Answers 200 with `body` from now on at `path`.
    public func set(_ path: String, _ body: [UInt8]) {
        set(path) { _ in HTTPServer.Response(200, body: body) }
    }

    /// The paths that were asked, in order.
    public var asked: [String] { server.exchanges.map(\.request.path) }
}
