/// Why a content state cannot be read, or a push cannot be made of one.
public struct IslandStateError: Error, Sendable, Hashable {
    /// What kind of fault it is.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// A field holds another type than it should, or one that must be there is not.
        case wrongType
        /// A push is above its limit although all was shed that can be.
        case tooLarge
        /// A table of words is none.
        case wordsUnreadable
        /// The system's encoder refused; the message says what it said.
        case notEncoded
    }

    /// What kind of fault it is.
    public let code: Code
    /// The field it is about, such as `items[2].pct`; empty where it is about the whole.
    public let path: String
    /// What happened and where. Ends in a full stop.
    public let message: String
    /// What the reader can do about it; `nil` where there is nothing to advise.
    public let remedy: String?

    init(_ code: Code, path: String = "", _ message: String, remedy: String?) {
        self.code = code
        self.path = path
        self.message = message
        self.remedy = remedy
    }

    static func wrongType(_ path: String, expected: String, found: String) -> IslandStateError {
        let place = path.isEmpty ? "The content state" : "The field \(path)"
        return IslandStateError(
            .wrongType,
            path: path,
            "\(place) should be \(expected), but is \(found).",
            remedy: "Build app, widget and server from the same version of FerryLiveActivity."
        )
    }

    static func tooLarge(_ size: Int, limit: Int) -> IslandStateError {
        IslandStateError(
            .tooLarge,
            "The push is \(size) bytes long with all shed that can be; the limit is \(limit).",
            remedy: "Give a limit of at least \(size) bytes; Apple's is \(LiveActivityPush.sizeLimit)."
        )
    }
}

extension IslandStateError: CustomStringConvertible {
    /// The message, then the remedy.
    public var description: String {
        guard let remedy else { return message }
        return message + " " + remedy
    }
}
