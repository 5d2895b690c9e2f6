/// Help as text: two columns, wrapped at the terminal's width, but between 60 and 100 columns.
struct HelpPage {
    private let width: Int
    private let hasStyle: Bool

    /// Lays out for a terminal of so many columns; headings are bold if it `hasStyle`.
    init(columns: Int, hasStyle: Bool) {
        width = min(100, max(60, columns))
        self.hasStyle = hasStyle
    }

    /// What the program does, verb by verb.
    func overview(of program: Program) -> String {
        var text = wrapped("\(program.name) \(program.version): \(program.summary).", indent: 0)
        text += section("Usage", "  \(program.name) VERB [ARGUMENTS]\n")
        text += section("Verbs", columns(program.verbs.map { ($0.name, $0.summary) }))
        text += section("Options", columns([("-h, --help", "show this help"), ("    --version", "show the version")]))
        let codes: [(String, String)] = [
            ("0", "done"), ("1", "failed"), ("2", "wrong usage"), ("3", "refused by the plan, nothing was written"),
            ("130", "cancelled"),
        ]
        text += section("Exit codes", columns(codes))
        return text + "\n" + wrapped("\(program.name) help VERB says more about a verb.", indent: 0)
    }

    /// All about one verb.
    func page(of verb: Verb) -> String {
        var text = wrapped(verb.summary.prefix(1).uppercased() + verb.summary.dropFirst() + ".", indent: 0)
        text += section("Usage", usage(of: verb))
        for paragraph in verb.discussion.split(separator: "\n\n") {
            text += "\n" + wrapped(paragraph.split(whereSeparator: \.isNewline).joined(separator: " "), indent: 0)
        }
        if !verb.positionals.isEmpty {
            text += section("Arguments", columns(verb.positionals.map { ($0.name, $0.help) }))
        }
        var groups: [String] = []
        for option in verb.allOptions where !groups.contains(option.group) { groups.append(option.group) }
        // What all verbs have comes last.
        for group in groups.filter({ !$0.isEmpty }) + groups.filter(\.isEmpty) {
            let options = verb.allOptions.filter { $0.group == group }
            let heading = group.isEmpty ? groups.count > 1 ? "Other options" : "Options" : group
            text += section(heading, columns(options.map { (term(of: $0), help(of: $0)) }))
        }
        if !verb.environment.isEmpty {
            text += section("Environment", columns(verb.environment.map { ($0.name, $0.help) }))
        }
        if !verb.examples.isEmpty {
            let examples = verb.examples.map { example in
                wrapped("\(example.purpose):", indent: 2) + "    \(example.command)\n"
            }
            text += section("Examples", examples.joined(separator: "\n"))
        }
        return text
    }

    /// The command line in its shortest form, with what must be given.
    private func usage(of verb: Verb) -> String {
        var words = ["ferry", verb.name]
        for positional in verb.positionals {
            let name = positional.name + (positional.repeats ? "..." : "")
            words.append(positional.isOptional ? "[\(name)]" : name)
        }
        for option in verb.options where option.isRequired {
            words.append(brief(option))
        }
        for (index, group) in verb.alternatives.enumerated() {
            let options = group.compactMap { verb.option($0) }.map { brief($0) }.joined(separator: " ")
            let isLast = index == verb.alternatives.count - 1
            let (opening, closing) = verb.sparesAlternatives ? ("[", "]") : ("(", ")")
            words.append((index == 0 ? opening : "") + options + (isLast ? closing : " |"))
        }
        let inAlternatives = Set(verb.alternatives.joined())
        if verb.options.contains(where: { !$0.isRequired && !inAlternatives.contains($0.name) }) {
            words.append("[OPTIONS]")
        }
        let hanging = words.prefix(2).joined(separator: " ").count + 3
        return lines(of: words, width: width - hanging).enumerated()
            .map { ($0 == 0 ? "  " : String(repeating: " ", count: hanging)) + $1 + "\n" }.joined()
    }

    private func brief(_ option: Option) -> String {
        guard let value = option.value else { return option.short ?? option.name }
        return "\(option.short ?? option.name) \(value)\(option.count == .list ? "..." : "")"
    }

    private func term(of option: Option) -> String {
        let names = (option.short.map { $0 + ", " } ?? "    ") + option.name
        guard let value = option.value else { return names }
        return "\(names) \(value)\(option.count == .list ? "..." : "")"
    }

    private func help(of option: Option) -> String {
        var help = option.help
        if case .forms(let forms) = option.kind, !option.isFlag {
            let meanings = forms.map { $0.summary.isEmpty ? $0.pattern : "\($0.pattern) (\($0.summary))" }
            help += ": " + listed(meanings, "or")
        }
        if option.count == .repeated {
            help += "; may be given several times"
        }
        if let standard = option.standard {
            help += " [\(standard) if not given]"
        }
        return help
    }

    private func section(_ heading: String, _ body: String) -> String {
        let (bold, end) = hasStyle ? ("\u{1B}[1m", "\u{1B}[0m") : ("", "")
        return "\n\(bold)\(heading)\(end)\n\(body)"
    }

    /// Terms on the left, what they mean on the right; a long term has a line of its own.
    private func columns(_ rows: [(term: String, meaning: String)]) -> String {
        let widest = 28
        let left = min(widest, rows.map(\.term.count).max() ?? 0) + 4
        return rows.map { term, meaning in
            let meaningLines = lines(of: meaning.split(separator: " ").map(String.init), width: width - left)
            let margin = String(repeating: " ", count: left)
            let first = "  " + term
            if first.count + 2 > left {
                return ([first] + meaningLines.map { margin + $0 }).joined(separator: "\n") + "\n"
            }
            let padded = first + margin.dropFirst(first.count)
            return padded + meaningLines.joined(separator: "\n" + margin) + "\n"
        }.joined()
    }

    private func wrapped(_ text: String, indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        return lines(of: text.split(separator: " ").map(String.init), width: width - indent)
            .map { margin + $0 + "\n" }.joined()
    }

    /// Words in as few lines as hold them; a word that is wider than the line has its own.
    private func lines(of words: [String], width: Int) -> [String] {
        var lines: [String] = []
        for word in words {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(word)
            }
        }
        return lines
    }
}
