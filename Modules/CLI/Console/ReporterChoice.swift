/// Where `--reporter` says that progress goes.
enum ReporterChoice: Sendable, Equatable {
    /// On the terminal, for people.
    case terminal
    /// JSON lines into a file.
    case jsonFile(String)
    /// JSON lines on standard output.
    case jsonOutput

    /// Takes a value that ``Option/reporter`` let pass; `nil` for anything else.
    init?(_ text: String) {
        switch text {
        case "terminal": self = .terminal
        case "json:-": self = .jsonOutput
        default:
            guard text.hasPrefix("json:"), text != "json:" else { return nil }
            self = .jsonFile(String(text.dropFirst("json:".count)))
        }
    }
}

extension ParsedArguments {
    /// What `--reporter` names, in order and each once; without any, the terminal.
    ///
    /// What is no terminal gets plain lines there, unless the result is to be data.
    func reporters(hasTerminal: Bool, asData: Bool) -> [ReporterChoice] {
        var choices: [ReporterChoice] = []
        for choice in values("--reporter").compactMap({ ReporterChoice($0) }) where !choices.contains(choice) {
            choices.append(choice)
        }
        return isGiven("--reporter") || (asData && !hasTerminal) ? choices : [.terminal]
    }
}
