import FerryBytes

/// A command line that says nothing that can be done.
struct UsageError: ExplainedError, Equatable {
    /// What is wrong with it.
    enum Code: Sendable {
        case unknownVerb
        case unknownOption
        case unexpectedArgument
        case missingArgument
        case missingOption
        case missingValue
        case unexpectedValue
        case invalidValue
        case repeatedOption
        case conflictingOptions
    }

    /// What is wrong.
    let code: Code
    /// Which argument, and why.
    let message: String
    /// What was probably meant, and where to read on.
    let remedy: String?

    /// What is wrong with an argument of `verb`; `advice` comes before the pointer to its help.
    init(_ code: Code, _ message: String, advice: String = "", verb: String? = nil) {
        self.code = code
        self.message = message
        let pointer = verb.map { "ferry help \($0)" } ?? "ferry help"
        remedy = (advice.isEmpty ? "" : advice + " ") + "See: " + pointer
    }
}
