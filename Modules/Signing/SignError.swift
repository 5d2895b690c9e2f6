public import FerryBytes
import FerryZip

/// Why an archive was not signed.
public struct SignError: ExplainedError {
    /// What kind of trouble it is.
    public enum Code: String, Sendable {
        /// The plan refuses: nothing was begun.
        case refused
        /// The archive turned out to be damaged, or a file changed, while it was being signed.
        case input
        /// The output could not be written.
        case output
        /// What came out did not pass its own check, and was thrown away.
        case verification
        /// Somebody asked for the end.
        case cancelled
    }

    /// One thing that stands in the way.
    public struct Reason: Sendable, Hashable {
        /// What it is, and where.
        public let message: String
        /// What to do about it.
        public let remedy: String?

        /// A reason of one's own.
        public init(_ message: String, remedy: String? = nil) {
            self.message = message
            self.remedy = remedy
        }

        /// A reason out of an error, with a place in front of its message.
        init(_ error: any Error, at place: String? = nil) {
            let front = place.map { $0 + ": " } ?? ""
            if let error = error as? any ExplainedError {
                self.init(front + error.message, remedy: error.remedy)
            } else {
                self.init(front + "\(error)")
            }
        }
    }

    /// What kind of trouble it is.
    public let code: Code
    /// The archive.
    public let path: String
    /// Everything that stands in the way, each once, in the order of the archive.
    public let reasons: [Reason]

    init(_ code: Code, _ path: String, _ reasons: [Reason]) {
        self.code = code
        self.path = path
        var seen: Set<Reason> = []
        self.reasons = reasons.filter { seen.insert($0).inserted }
    }

    /// Wraps what was thrown while signing; an error of this type stays as it is.
    ///
    /// - Parameter name: what to call the archive; `nil` for its path.
    init(wrapping error: any Error, _ code: Code, _ path: String, name: String? = nil) {
        let shown = name ?? path
        switch error {
        case let error as SignError: self = error
        case is CancellationError: self.init(.cancelled, shown, [])
        case let error as FileFailure: self.init(error.path == path ? .input : .output, shown, [Reason(error)])
        case let error as ZipError where error.code == .writeFailed: self.init(.output, shown, [Reason(error)])
        case let error as ZipError where error.cause?.path == path: self.init(.input, shown, [Reason(error)])
        default: self.init(code, shown, [Reason(error, at: shown)])
        }
    }

    /// The archive and its reasons; several stand on a line each.
    public var message: String {
        switch (code, reasons.count) {
        case (.cancelled, _): "\(path): signing was cancelled; nothing was written."
        case (.verification, _):
            "\(path): the signed archive failed its own check and was thrown away:" + list
        case (_, 1): reasons[0].message
        default: "\(path): \(reasons.count) reasons keep it from being signed:" + list
        }
    }

    private var list: String {
        reasons.map { reason in
            "\n  • " + reason.message + (reason.remedy.map { "\n    " + $0 } ?? "")
        }.joined()
    }

    /// The remedy of a single reason; with several, each has its own in the message.
    public var remedy: String? {
        switch code {
        case .verification: "Please report this with the archive; it is a fault of Ferry's."
        default: reasons.count == 1 ? reasons[0].remedy : nil
        }
    }

    /// Whether somebody asked for the end.
    public var isCancellation: Bool { code == .cancelled }
}
