/// What a push tells aloud, beside the state.
public struct PushAlert: Sendable, Hashable {
    /// How long a title may be, in bytes of UTF-8.
    public static let maximumTitleBytes = 192
    /// How long a body may be, in bytes of UTF-8.
    public static let maximumBodyBytes = 512

    /// The first line.
    public let title: String
    /// What follows.
    public let body: String
    /// Whether it only joins the list of notifications: `interruption-level: passive`.
    public let isPassive: Bool

    /// An alert; long texts are cut between letters and end in `…`.
    public init(title: String, body: String, isPassive: Bool = false) {
        self.title = title.oneLine.cut(toLetters: .max, bytes: Self.maximumTitleBytes)
        self.body = body.oneLine.cut(toLetters: .max, bytes: Self.maximumBodyBytes)
        self.isPassive = isPassive
    }

    /// An alert without text or sound, for a start that nobody should hear.
    ///
    /// A start without an alert is answered 200 and dropped. That an empty passive one is shown silently is public
    /// experience, not documentation; where it fails, give a start a real alert.
    public static let silent = PushAlert(title: "", body: "", isPassive: true)
}
