/// An error that tells a person what happened and what to do about it.
///
/// Each module has one error type of this form; `ferry` prints the two parts on two lines, and with `--json` as data.
public protocol ExplainedError: Error, CustomStringConvertible {
    /// What happened and where: a path, an offset, the numbers. Ends in a full stop.
    var message: String { get }
    /// What the reader can do about it; `nil` where there is nothing to advise.
    var remedy: String? { get }
    /// Whether somebody asked for the end: then nothing failed.
    var isCancellation: Bool { get }
}

extension ExplainedError {
    /// By default an error is no cancellation.
    public var isCancellation: Bool { false }

    /// The message, then the remedy.
    public var description: String {
        guard let remedy else { return message }
        return message + " " + remedy
    }
}
