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
    /// The app was handed to whoever installs it: a phone that fetched all of it. Whether it then did is not known;
    /// where the app reports back, this becomes ``installed(location:)``.
    case delivered(location: String?)
    /// It did not work.
    case failed(Failure)
    /// Somebody wanted it to end; nothing is wrong.
    case cancelled

    /// Whether it worked: the app is installed, or delivered.
    public var isInstalled: Bool {
        switch self {
        case .installed, .delivered: true
        case .failed, .cancelled: false
        }
    }

    /// Whether this may still become `other`.
    func mayBecome(_ other: Outcome) -> Bool {
        if case (.delivered, .installed) = (self, other) { true } else { false }
    }

    /// Where the app is; `nil` where there is nothing to say.
    public var location: String? {
        switch self {
        case .installed(let location), .delivered(let location): location
        case .failed, .cancelled: nil
        }
    }

    /// Why it failed; `nil` if it did not.
    public var failure: Failure? {
        if case .failed(let failure) = self { failure } else { nil }
    }
}
