/// One thing that the command does: what it takes, what it says about itself, and what it runs.
///
/// Parsing, help and completion all come from this one description.
struct Verb: Sendable {
    /// What people type: `sign`; two words where it stands beside the verb of the first: `bench apns`.
    let name: String
    /// One line for the list of verbs, without a full stop.
    let summary: String
    /// What the summary leaves out: paragraphs, parted by empty lines.
    var discussion = ""
    /// Commands that can be copied.
    var examples: [Example] = []
    /// What stands without an option's name, in order; only the last may be optional or repeat.
    var positionals: [Positional] = []
    /// What is named; ``Option/help`` is added to every verb.
    var options: [Option] = []
    /// Groups of options of which exactly one must be given whole, each by the options' names; empty for none.
    var alternatives: [[String]] = []
    /// Whether none of ``alternatives`` need be given.
    var sparesAlternatives = false
    /// Variables of the environment that the verb reads.
    var environment: [Variable] = []
    /// Does it.
    let run: @Sendable (Invocation) async throws -> ExitCode

    /// A command that can be copied, and what it is for.
    struct Example: Sendable {
        /// What it is for, as the beginning of a sentence.
        let purpose: String
        /// The whole command.
        let command: String
    }

    /// A variable of the environment.
    struct Variable: Sendable {
        /// Its name.
        let name: String
        /// What it is for.
        let help: String
    }

    /// The words of its name.
    var words: [String] { name.split(separator: " ").map(String.init) }

    /// All options, with those that every verb has.
    var allOptions: [Option] { options + [.help] }

    /// The option of that long or short name.
    func option(_ name: String) -> Option? {
        allOptions.first { $0.name == name || $0.short == name }
    }
}

/// What stands on the command line without a name.
struct Positional: Sendable {
    /// What help and messages call it: `IN`.
    let name: String
    /// What it takes.
    let kind: ValueKind
    /// What it is for.
    let help: String
    /// Whether it may be left out.
    var isOptional = false
    /// Whether there may be several.
    var repeats = false
    /// The options with any of which it need not be there.
    var isSparedBy: [String] = []
}

/// What stands on the command line with a name.
struct Option: Sendable {
    /// How often it may be given.
    enum Count: Sendable {
        /// Once.
        case once
        /// Any number of times, with one value each.
        case repeated
        /// Any number of times, each with all values up to the next option: `--profile A B C`.
        ///
        /// `--profile=A` takes that one alone.
        case list
    }

    /// The long name, with its dashes: `--profile`.
    let name: String
    /// The short name, with its dash: `-o`; `nil` for none.
    var short: String?
    /// What help calls the value: `FILE`; `nil` for a flag.
    var value: String?
    /// What the value may be; without meaning for a flag.
    var kind: ValueKind = .text
    /// How often it may be given.
    var count = Count.once
    /// Whether it must be given.
    var isRequired = false
    /// The options with any of which it need not be.
    var isSparedBy: [String] = []
    /// The value where it is not given; `nil` for none.
    var standard: String?
    /// What it is for.
    let help: String
    /// The heading of help that it stands under; empty for the common one.
    var group = ""

    /// Whether it takes no value.
    var isFlag: Bool { value == nil }

    /// `--help`, which every verb has.
    static let help = Option(name: "--help", short: "-h", help: "show this help")
}

/// What a value may be: how it is checked, and how a shell completes it.
enum ValueKind: Sendable {
    /// A file; with the endings that are meant, without dots, or none for any file.
    case file([String])
    /// A folder.
    case folder
    /// An address.
    case url
    /// A file or an address.
    case fileOrURL([String])
    /// Anything.
    case text
    /// The name of a verb.
    case verb
    /// A whole number in that range.
    case number(ClosedRange<Int>)
    /// Hexadecimal digits, exactly that many.
    case hexadecimal(digits: Int)
    /// One of several forms.
    case forms([Form])

    /// A value of a fixed set, or one with a fixed beginning.
    struct Form: Sendable {
        /// What follows the fixed text.
        enum Rest: Sendable, Equatable {
            case nothing
            case file
            case folder
            case program
            /// Anything, which help calls by this name.
            case word(String)

            /// Whether completion offers files or folders for it.
            var isPath: Bool { self == .file || self == .folder || self == .program }
        }

        /// The fixed text: `terminal`, `json:`.
        let text: String
        /// What follows it.
        var rest = Rest.nothing
        /// What it means; may be empty.
        var summary = ""

        /// As help writes it: `json:FILE`.
        var pattern: String {
            switch rest {
            case .nothing: text
            case .file: text + "FILE"
            case .folder: text + "DIR"
            case .program: text + "PROGRAM"
            case .word(let name): text + name
            }
        }

        /// Whether `value` is of this form.
        func matches(_ value: String) -> Bool {
            switch rest {
            case .nothing: value == text
            case .file, .folder, .program, .word: value.hasPrefix(text) && value != text
            }
        }
    }

    /// One of these words.
    static func choice(_ words: [String]) -> ValueKind {
        .forms(words.map { Form(text: $0) })
    }

    /// Says why `value` is none of this kind; `nil` where it is one.
    func fault(in value: String) -> String? {
        switch self {
        case .text, .url, .verb:
            return nil
        case .file, .folder, .fileOrURL:
            return value.isEmpty ? "is empty" : nil
        case .number(let range):
            guard let number = Int(value) else { return "is not a whole number" }
            if range.contains(number) { return nil }
            return range.upperBound == Int.max
                ? "is less than \(range.lowerBound)" : "is not between \(range.lowerBound) and \(range.upperBound)"
        case .hexadecimal(let digits):
            let isHexadecimal = value.utf8.count == digits && value.allSatisfy { $0.isASCII && $0.isHexDigit }
            return isHexadecimal ? nil : "is not \(digits) hexadecimal digits"
        case .forms(let forms):
            return forms.contains { $0.matches(value) } ? nil : "is not \(listed(forms.map(\.pattern), "or"))"
        }
    }

    /// The words that a wrong value may have been meant to be.
    var words: [String] {
        guard case .forms(let forms) = self else { return [] }
        return forms.map(\.text)
    }
}

/// Words with commas, and `conjunction` before the last: `a, b or c`.
func listed(_ words: [String], _ conjunction: String) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " \(conjunction) " + last
}
