public import FerryBytes

/// Why a push got no answer, or could not be made.
///
/// What the service answers, also with a refusal, is no error but a ``PushResponse``.
public struct APNsError: ExplainedError, Equatable {
    /// The kinds of failure that a caller may want to tell apart.
    public enum Code: String, Sendable, Hashable {
        /// The provider key cannot be read, or is none that APNs takes.
        case badKey
        /// The service does not take our provider token; nothing more is sent with it for a while.
        case providerToken
        /// The configuration cannot be used: proxy, certificates.
        case badConfiguration
        /// A part of the push cannot be sent: token, topic, id.
        case badRequest
        /// The payload is over the limit of the service.
        case tooLarge
        /// The host's name has no address.
        case nameNotFound
        /// No connection, or it broke and stayed broken.
        case connection
        /// The server's certificate is not trusted, or is another host's.
        case certificate
        /// The server does not speak HTTP/2 as it must.
        case badAnswer
        /// The proxy does not let us through.
        case proxy
        /// No answer within the time that a push has.
        case timedOut
        /// A newer push with the same replacement key took this one's place before it was sent.
        case replaced
        /// More pushes wait than are kept.
        case overloaded
        /// The client was closed.
        case closed
        /// Somebody asked for the end.
        case cancelled
    }

    /// What to switch on.
    public let code: Code
    /// What happened and where.
    public let message: String
    /// What the reader can do about it.
    public let remedy: String?

    /// Explains a failure.
    public init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    /// Whether the code is ``Code/cancelled``.
    public var isCancellation: Bool { code == .cancelled }
}

extension APNsError {
    static let cancelled = APNsError(.cancelled, "The push was cancelled.")
    static let closed = APNsError(.closed, "The connection to APNs was closed before the push was answered.")
    static let replaced = APNsError(.replaced, "A newer push took this one's place before it was sent.")
}
