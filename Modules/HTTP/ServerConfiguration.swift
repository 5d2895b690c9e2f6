package import FerryBytes

/// How a server is set up.
package struct ServerConfiguration: Sendable {
    /// Where it listens.
    package var listen: ListenAddress
    /// What it shows for TLS; `nil` for plain HTTP.
    package var tls: TLSIdentity?
    /// How much it takes on.
    package var limits: ServerLimits
    /// What is answered where no handler is asked.
    package var refuse: @Sendable (Refusal) -> Response

    /// Listens on `listen`.
    package init(
        listen: ListenAddress,
        tls: TLSIdentity? = nil,
        limits: ServerLimits = ServerLimits(),
        refuse: @escaping @Sendable (Refusal) -> Response = { .text("\($0.message)\n", status: $0.status) }
    ) {
        self.listen = listen
        self.tls = tls
        self.limits = limits
        self.refuse = refuse
    }
}

/// A certificate with its chain, and its key, both in PEM.
package struct TLSIdentity: Sendable {
    /// The server's certificate first, then those that lead to the authority.
    package var certificate: [UInt8]
    /// The private key, without a password.
    package var key: Secret

    /// Takes PEM; it is checked when a server starts with it.
    package init(certificate: [UInt8], key: Secret) {
        self.certificate = certificate
        self.key = key
    }
}

/// How much a server takes on.
package struct ServerLimits: Sendable {
    /// Connections in all; what comes beyond that waits, or is closed.
    package var connections = 4096
    /// Connections of one address.
    package var connectionsPerAddress = 256
    /// Addresses that the limit of one address does not count for: this machine's own, and proxies.
    package var unlimitedAddresses: Set<String> = ["127.0.0.1", "::1"]
    /// The memory for the head of a request, and for what is on its way in; a longer head is answered with 431.
    package var headerBytes = 32 << 10
    /// The body of a request, where its handler names no other limit.
    package var bodyBytes = 1 << 20
    /// How much of a body that nobody wants is read, so that the client gets to read the answer.
    package var discardedBytes = 8 << 20
    /// How much of a body is kept for a handler that reads slower than the client sends.
    package var bodyBuffer = 256 << 10
    /// How much of a stream is kept for a client that reads slower than the handler writes.
    package var streamBuffer = 64 << 10
    /// After how much silence a connection is closed, where the client has the turn. In whole seconds.
    package var idle: Duration = .seconds(60)
    /// How long a connection may take until the head of its next request is there, silence included.
    package var head: Duration = .seconds(90)
    /// Threads that do the sending and receiving.
    package var threads = 2

    /// The limits as they are named here.
    package init() {}
}

/// Why a request is answered without its handler.
package struct Refusal: Sendable, Hashable {
    /// The status that says it.
    package let status: Int
    /// What was wrong, in a sentence.
    package let message: String

    static func malformed(_ what: String) -> Refusal { Refusal(status: 400, message: what) }
    static let stopping = Refusal(status: 503, message: "The server is about to stop.")

    static func tooLarge(limit: Int) -> Refusal {
        Refusal(status: 413, message: "The body may have \(limit) bytes at most.")
    }
}
