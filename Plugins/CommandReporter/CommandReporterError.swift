public import FerryBytes

/// Why a program cannot report, or does no longer.
public struct CommandReporterError: ExplainedError, Equatable {
    /// The kinds of trouble that a caller may want to tell apart.
    public enum Code: String, Sendable, Hashable {
        /// The command line cannot be taken apart.
        case command
        /// There is no such program, or it may not be run.
        case notFound
        /// It could not be started.
        case start
        /// It ended a second time.
        case ended
        /// It does not read what it is told.
        case behind
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
