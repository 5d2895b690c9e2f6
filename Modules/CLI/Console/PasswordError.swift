import FerryBytes

/// A password that could not be had.
struct PasswordError: ExplainedError, Equatable {
    /// What kept it.
    enum Code: Sendable {
        case notGiven
        case notText
        case tooLong
    }

    /// What kept it.
    let code: Code
    /// What needs the password, or the file that holds none.
    let message: String
    /// How to give it.
    let remedy: String?
}
