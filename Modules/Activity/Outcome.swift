/// Why an install ended without its app being installed.
public struct Failure: Error, Sendable, Hashable, Codable {
    /// What happened and where, as a sentence.
    public let message: String
    /// What the reader can do about it; `nil` where there is nothing to advise.
    public let remedy: String?
    /// Where the install was.
    public let stage: Stage

    /// Keeps what happened, what helps, and where it was.
    public init(message: String, remedy: String?, stage: Stage) {
        self.message = message
        self.remedy = remedy
        self.stage = stage
    }
}

extension Failure: CustomStringConvertible {
    /// The message, then the remedy.
    public var description: String {
        guard let remedy else { return message }
        return message + " " + remedy
    }
}

/// How an install ended.
public enum Outcome: Sendable, Hashable {
    /// The app is where it should be; `location` says where, `nil` where there is nothing to say (a device).
    case installed(location: String?)
    /// It did not work.
    case failed(Failure)
    /// Somebody wanted it to end; nothing is wrong.
    case cancelled

    /// Whether the app is installed.
    public var isInstalled: Bool {
        if case .installed = self { true } else { false }
    }

    /// Why it failed; `nil` if it did not.
    public var failure: Failure? {
        if case .failed(let failure) = self { failure } else { nil }
    }
}
