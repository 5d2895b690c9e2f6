/// What a client asks for.
package struct Request: Sendable {
    /// `GET`, `HEAD`, `POST`, …
    package let method: String
    /// The path, taken apart and clean.
    package let path: RequestPath
    /// The pairs of the query, in their order, without escapes; a name alone has an empty value.
    package let query: [(name: String, value: String)]
    /// The header fields.
    package let headers: HeaderFields
    /// Who asks: an address in numbers. Behind a proxy it is the proxy's.
    package let remoteAddress: String
    /// Whether it came by TLS to this server.
    package let isSecure: Bool
    /// What was sent along; empty where nothing was.
    package let body: RequestBody
    /// What a pattern such as `/i/{link}/` has in its braces; see ``Routes``.
    package internal(set) var parameters: [String: String] = [:]

    /// The first value of that name in the query.
    package func query(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }
}

/// How a request is answered.
package enum Answer: Sendable {
    /// With this, without a detour. A body that was sent along is not read.
    case now(Response)
    /// With what the closure gives, in a task of its own, which is cancelled when the client goes away.
    ///
    /// A body may have `bodyLimit` bytes; `nil` for the server's own limit. A longer one is answered with 413, whatever
    /// the closure gives.
    case later(bodyLimit: Int? = nil, @Sendable () async -> Response)
}

/// Answers requests; called on the threads that send and receive, so it must not block.
package typealias Handler = @Sendable (Request) -> Answer
