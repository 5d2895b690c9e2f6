public import FerryBytes

/// Something small to be asked on the web: a certificate, or about one; a list of apps.
public struct FetchRequest: Sendable, Hashable {
    /// The longest answer that is read unless ``longestAnswer`` says otherwise: a hundred times what authorities send.
    public static let standardLongestAnswer = 256 << 10

    /// The address.
    public var url: String
    /// What is sent by POST; `nil` for a GET.
    public var body: [UInt8]?
    /// The type of ``body``.
    public var contentType: String?
    /// Header fields to send along, by name. One with a line break in it is not sent.
    public var fields: [String: String] = [:]
    /// How many bytes of an answer are read, packed ones counted as they are unpacked; a longer one is an error.
    public var longestAnswer = FetchRequest.standardLongestAnswer

    /// Asks for `url`.
    public init(url: String, body: [UInt8]? = nil, contentType: String? = nil) {
        self.url = url
        self.body = body
        self.contentType = contentType
    }
}

/// What a server answered, whatever its status.
public struct FetchAnswer: Sendable, Hashable {
    /// The status: 200, 304, 404.
    public var status: Int
    /// The header fields of the last answer, by their names in lower case; of one that comes again the last stays.
    public var fields: [String: String]
    /// The body.
    public var body: [UInt8]

    /// An answer.
    public init(status: Int, fields: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
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
