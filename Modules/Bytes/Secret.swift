/// Text that must not be shown: a password, a key, a token.
///
/// Whatever prints, logs or mirrors it gets `‹hidden›`; only ``revealed`` gives the text.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let text: String

    /// Hides `text`.
    public init(_ text: String) {
        self.text = text
    }

    /// The text itself, for the one call that needs it.
    public var revealed: String { text }

    /// Always `‹hidden›`.
    public var description: String { "‹hidden›" }

    /// Always `‹hidden›`.
    public var debugDescription: String { description }

    /// A mirror without children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
