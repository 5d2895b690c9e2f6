public import FerryBytes

/// Why a server did not start.
public struct HTTPError: ExplainedError, Equatable {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable {
        /// The address to listen on cannot be understood.
        case badAddress
        /// The address is another program's, or not this machine's.
        case addressInUse
        /// Ports below 1024 are the administrator's.
        case notAllowed
        /// The certificate or its key cannot be used.
        case certificate
        /// The system gives no socket, thread or memory.
        case system
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
}
