public import FerryBytes

/// Why the record could not be read or written.
public struct RecordError: ExplainedError, Equatable {
    /// The kinds of trouble that a caller may want to tell apart.
    public enum Code: String, Sendable, Hashable {
        /// There is no install of that id.
        case unknown
        /// Another process runs it.
        case running
        /// It has ended.
        case finished
        /// There is an install of that id already.
        case duplicate
        /// The database is damaged, or none of ours.
        case damaged
        /// Another process writes for longer than we wait.
        case busy
        /// The disk is full.
        case full
        /// The database, or its folder, cannot be read or written.
        case file
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

extension RecordError {
    init(_ failure: FileFailure) {
        self.init(failure.isFullDisk ? .full : .file, failure.message, remedy: failure.remedy)
    }

    static func unknown(_ id: String) -> RecordError {
        RecordError(.unknown, "\(id): there is no such install.", remedy: "“ferry jobs --all” lists those there are.")
    }

    static func running(_ id: String, by process: Int32?) -> RecordError {
        RecordError(
            .running,
            "\(id): \(process.map { "process \($0)" } ?? "another process") runs this install.",
            remedy: "Wait for it, or end it with “ferry cancel \(id)”."
        )
    }

    static func finished(_ id: String) -> RecordError {
        RecordError(.finished, "\(id): this install has ended.", remedy: "Start it anew with “ferry install”.")
    }
}
