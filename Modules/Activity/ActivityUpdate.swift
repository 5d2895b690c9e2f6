#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Something that happened once. No reader misses one.
public enum Fact: Sendable, Hashable {
    /// An install is there.
    case added(InstallID)
    /// Its title, bundle id or version changed.
    case named(InstallID)
    /// Its icon is known now, or is another one: see ``Install/icon``.
    case iconChanged(InstallID)
    /// It came to another stage.
    case stageChanged(InstallID, Stage)
    /// Its stage does something else now: see ``Install/step``.
    case stepChanged(InstallID, String)
    /// Somebody holds it.
    case held(InstallID)
    /// It goes on.
    case released(InstallID)
    /// A warning that people should see.
    case note(InstallID, String)
    /// It ended.
    case finished(InstallID, Outcome)
    /// A reporter threw an error or fell too far behind, and gets nothing more.
    case reporterDetached(name: String, reason: String)
    /// Nothing more will come. The last fact of every reader that was not cut off.
    case closed

    /// Whose fact it is; `nil` for what concerns no install.
    public var installID: InstallID? {
        switch self {
        case .added(let id), .named(let id), .iconChanged(let id), .stageChanged(let id, _),
            .stepChanged(let id, _), .held(let id), .released(let id), .note(let id, _), .finished(let id, _):
            id
        case .reporterDetached, .closed: nil
        }
    }
}

/// What a reporter reads: perhaps a fact, and always the whole state.
public struct ActivityUpdate: Sendable {
    /// Counts the updates of one reader: 1, 2, 3 and so on.
    public let sequence: UInt64
    /// When it happened.
    public let date: Date
    /// What happened; `nil` where only progress moved.
    public let fact: Fact?
    /// The state after ``fact``. Facts that the reader has not seen yet are not in it; progress is as new as that
    /// allows.
    public let activity: Activity

    /// An update as a test of a reporter wants it.
    public init(sequence: UInt64, date: Date, fact: Fact?, activity: Activity) {
        self.sequence = sequence
        self.date = date
        self.fact = fact
        self.activity = activity
    }

    /// The install that ``fact`` is about, in its state after it; `nil` for what concerns no install.
    public var install: Install? {
        fact?.installID.flatMap { activity[$0] }
    }
}
