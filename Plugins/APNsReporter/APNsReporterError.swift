public import FerryBytes

/// Why a reporter to APNs cannot begin.
public struct APNsReporterError: ExplainedError, Equatable {
    /// The kinds of failure that a caller may want to tell apart.
    public enum Code: String, Sendable, Hashable {
        /// The configuration cannot be read or used.
        case configuration
        /// The state folder cannot be used.
        case state
        /// APNs does not take our key, so nothing will ever be shown.
        case key
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
