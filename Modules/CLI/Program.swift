import FerryBytes

/// The command: its verbs, and which of them a command line means.
struct Program: Sendable {
    /// What people type first.
    let name: String
    /// Its version.
    let version: String
    /// One line about it, without a full stop.
    let summary: String
    /// What it does, in the order of help.
    let verbs: [Verb]

    /// The verb of that name.
    func verb(_ name: String) -> Verb? {
        verbs.first { $0.name == name }
    }

    /// The verbs whose name has a second word, after that of `verb`.
    func verbs(under verb: Verb) -> [Verb] {
        verbs.filter { $0.words.count == 2 && $0.words[0] == verb.name }
    }

    /// The verbs whose name is one word.
    var mainVerbs: [Verb] { verbs.filter { $0.words.count == 1 } }

    /// Does what `arguments` (without the program's own name) say.
    func run(_ arguments: [String], console: Console, environment: [String: String]) async -> ExitCode {
        let asJSON = arguments.prefix { $0 != "--" }.contains("--json")
        do {
            return try await dispatch(arguments, console: console, environment: environment)
        } catch let told as ToldError {
            return ExitCode(told.error)
        } catch {
            console.report(error, asJSON: asJSON)
            return ExitCode(error)
        }
    }

    private func dispatch(
        _ arguments: [String],
        console: Console,
        environment: [String: String]
    ) async throws -> ExitCode {
        guard let first = arguments.first else {
            console.writeToErrors(helpPage(for: console.errors).overview(of: self))
            return .usage
        }
        let rest = Array(arguments.dropFirst())
        let isHelp: (String) -> Bool = { $0 == "--help" || $0 == "-h" }
        switch first {
        case "--version":
            console.print("\(name) \(version)")
            return .done
        case "--help", "-h":
            console.write(helpPage(for: console.output).overview(of: self))
            return .done
        default:
            var rest = rest
            var verb = try named(first)
            if let second = rest.first, let under = verbs(under: verb).first(where: { $0.words[1] == second }) {
                verb = under
                rest.removeFirst()
            }
            if rest.prefix(while: { $0 != "--" }).contains(where: isHelp) {
                console.write(helpPage(for: console.output).page(of: verb))
                return .done
            }
            let invocation = Invocation(
                program: self,
                arguments: try verb.parse(rest),
                console: console,
                environment: environment
            )
            return try await verb.run(invocation)
        }
    }

    /// The verb of that name, or an error that says which one was probably meant.
    func named(_ name: String) throws(UsageError) -> Verb {
        if let verb = verb(name) { return verb }
        if name.hasPrefix("-") {
            throw UsageError(
                .unknownOption,
                "\(name) is no option of ferry itself.",
                advice: "Options of a verb go after the verb."
            )
        }
        let meant = suggestion(for: name, among: verbs.map(\.name)).map { "Did you mean \($0)?" }
        throw UsageError(.unknownVerb, "“\(name)” is nothing that ferry does.", advice: meant ?? "")
    }

    private func helpPage(for stream: Console.Stream) -> HelpPage {
        HelpPage(columns: stream.columns(), hasStyle: stream.hasStyle)
    }
}

/// One call of a verb, with all that it may use of the world.
struct Invocation: Sendable {
    /// The program that the verb is of.
    let program: Program
    /// What was given.
    let arguments: ParsedArguments
    /// Where to write.
    let console: Console
    /// The variables of the environment.
    let environment: [String: String]
}
