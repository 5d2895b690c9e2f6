public import FerryBytes

/// Why an app was not installed; what was installed before is still there.
public struct InstallError: ExplainedError {
    /// What kind of trouble it is.
    public enum Code: String, Sendable {
        /// The archive is no app, or damaged.
        case archive
        /// The target cannot be written to.
        case target
        /// There is not enough room.
        case room
        /// The target would refuse the app; nothing was sent.
        case refused
        /// The target does not answer any more.
        case stalled
        /// Somebody asked for the end.
        case cancelled
    }

    /// What kind of trouble it is.
    public let code: Code
    /// What happened and where.
    public let message: String
    /// What helps.
    public let remedy: String?

    /// Says what happened and what helps.
    public init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    /// Wraps what was thrown while installing the archive at `path`.
    init(wrapping error: any Error, archive path: String) {
        switch error {
        case let error as InstallError: self = error
        case is CancellationError:
            self.init(.cancelled, "\(path): installing was cancelled; what was installed before is still there.")
        case let error as FileFailure where error.path != path:
            self.init(error.isFullDisk ? .room : .target, error.message, remedy: error.remedy)
        case let error as any ExplainedError:
            let isNamed = error.message.beginsExactly(with: path + ":")
            self.init(.archive, isNamed ? error.message : "\(path): \(error.message)", remedy: error.remedy)
        default: self.init(.archive, "\(path): \(error)")
        }
    }

    /// Whether somebody asked for the end.
    public var isCancellation: Bool { code == .cancelled }
}
