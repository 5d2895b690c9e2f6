/// Where `--reporter` says that progress goes.
enum ReporterChoice: Sendable, Equatable {
    /// On the terminal, for people.
    case terminal
    /// JSON lines into a file.
    case jsonFile(String)
    /// JSON lines on standard output.
    case jsonOutput
    /// A Live Activity on the phone that a file describes.
    case apns(String)
    /// JSON lines to a program, by its command line.
    case program(String)

    /// Whether it may go over a network, where the last word takes its time.
    var isRemote: Bool {
        switch self {
        case .apns, .program: true
        case .terminal, .jsonFile, .jsonOutput: false
        }
    }

    /// Takes a value that ``Option/reporter`` let pass; `nil` for anything else.
    init?(_ text: String) {
        switch text {
        case "terminal": self = .terminal
        case "json:-": self = .jsonOutput
        default:
            guard let colon = text.firstIndex(of: ":"), text.index(after: colon) != text.endIndex else { return nil }
            let path = String(text[text.index(after: colon)...])
            switch text[..<colon] {
            case "json": self = .jsonFile(path)
            case "apns": self = .apns(path)
            case "exec": self = .program(path)
            default: return nil
            }
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
