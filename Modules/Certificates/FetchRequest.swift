public import FerryBytes

/// Something to be asked on the web: a certificate, or about one.
public struct FetchRequest: Sendable, Hashable {
    /// The address.
    public var url: String
    /// What is sent by POST; `nil` for a GET.
    public var body: [UInt8]?
    /// The type of ``body``.
    public var contentType: String?

    /// Asks for `url`.
    public init(url: String, body: [UInt8]? = nil, contentType: String? = nil) {
        self.url = url
        self.body = body
        self.contentType = contentType
    }
}

/// Asks and gives the body of the answer; throws ``FetchError``, or `CancellationError`.
///
/// What is asked on the web comes in as this, so that tests need no web, and so that a server can put its own rules before
/// it: an address in a certificate is chosen by whoever made the certificate.
public typealias Fetch = @Sendable (FetchRequest) async throws -> [UInt8]

/// Why something was not got from the web.
public struct FetchError: ExplainedError, Equatable {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable {
        /// The address cannot be understood, or is not one of the web.
        case badURL
        /// No connection, or it broke.
        case connection
        /// No whole answer within the time.
        case timedOut
        /// An answer with another status than 200.
        case refused
        /// An answer that is too long.
        case tooLong
        /// Too many redirects, or one to something that is not asked.
        case redirect
    }

    /// What to switch on.
    public let code: Code
    /// Where it was asked, and what happened.
    public let message: String
    /// What the reader can do about it.
    public let remedy: String?

    /// Explains a failure.
    public init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }
}
