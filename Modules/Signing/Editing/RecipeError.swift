public import FerryBytes

/// Why a recipe cannot be used.
public struct RecipeError: ExplainedError, Hashable {
    /// What kind of trouble it is.
    public enum Code: String, Sendable {
        /// It is no JSON.
        case syntax
        /// It has a key that no recipe has.
        case unknownKey
        /// A value is of another kind than it must be, or of none that is known.
        case value
    }

    /// What kind of trouble it is.
    public let code: Code
    /// Where in the recipe: `set.CFBundleVersion`; empty for the whole.
    public let path: String
    /// The file, the place in it, what is expected there and what was found.
    public let message: String
    /// What to write instead.
    public let remedy: String?

    package init(_ code: Code, _ file: String, _ path: String, _ what: String, remedy: String?) {
        self.code = code
        self.path = path
        message = ([file, path].filter { !$0.isEmpty } + [what]).joined(separator: ": ")
        self.remedy = remedy
    }
}
