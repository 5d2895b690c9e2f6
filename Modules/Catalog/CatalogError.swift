public import FerryBytes

/// Why a source, or an app in one, cannot be used.
public struct CatalogError: ExplainedError, Hashable {
    /// What kind of trouble it is.
    public enum Code: String, Sendable {
        /// What was read is no source.
        case notASource
        /// It is a source in a form that is not read.
        case unsupported
        /// It asks for more than the limits allow.
        case tooMuch
        /// The address or link of a source cannot be understood.
        case address
        /// The source was not got from its server.
        case fetch
        /// The source has no such app.
        case unknownApp
        /// Several apps are meant.
        case ambiguousApp
        /// The app has no such version.
        case unknownVersion
        /// The target's system cannot run it.
        case system
        /// What arrived is not what the source says.
        case mismatch
        /// A named source cannot be kept, found or removed.
        case name
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

    /// Whether somebody asked for the end.
    public var isCancellation: Bool { code == .cancelled }
}
