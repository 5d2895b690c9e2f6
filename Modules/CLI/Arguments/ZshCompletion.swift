/// The completion script for zsh, made from the description of the verbs.
enum ZshCompletion {
    /// The whole script.
    static func script(for program: Program) -> String {
        let name = program.name
        var text = """
            #compdef \(name)
            # Completion of \(name) for zsh: \(name) completion zsh > a folder of $fpath, as _\(name).

            _\(name)() {
                local context state state_descr line
                local -A opt_args
                local -a verbs=(

            """
        for verb in program.mainVerbs {
            text += "        \(quoted(escaped(verb.name, ":") + ":" + verb.summary))\n"
        }
        text += """
                )
                _arguments -C '(- : *)'{-h,--help}'[show this help]' '(- : *)--version[show the version]' \\
                    '1:verb:->verb' '*::argument:->arguments' && return
                case $state in
                verb) _describe -t commands verb verbs ;;
                arguments)
                    local name=$words[1]

            """
        for verb in program.verbs where verb.words.count == 2 {
            text += """
                        if ((CURRENT > 2)) && [[ "$words[1] $words[2]" == \(quoted(verb.name)) ]]; then
                            name=$words[1]-$words[2]
                            shift words
                            ((CURRENT -= 1))
                        fi

                """
        }
        text += """
                    case $name in

            """
        for verb in program.verbs {
            let lines = specs(of: verb, program).map { " \\\n                \(quoted($0))" }
            text +=
                "            \(verb.words.joined(separator: "-")))\n                _arguments -s -S" + lines.joined()
                + "\n"
            text += "                ;;\n"
        }
        text += """
                    esac
                    ;;
                esac
            }

            if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
                _\(name) "$@"
            else
                compdef _\(name) \(name)
            fi

            """
        return text
    }

    /// What `_arguments` is told of a verb.
    private static func specs(of verb: Verb, _ program: Program) -> [String] {
        var specs: [String] = []
        for option in verb.allOptions {
            let names = [option.short, option.name].compactMap { $0 }
            for name in names {
                let others = names.filter { $0 != name }
                let excluded = option.count == .once ? "(\((others + [name]).joined(separator: " ")))" : "*"
                let help = "[" + escaped(option.help, "[]") + "]"
                guard let value = option.value else {
                    specs.append("(\((others + [name]).joined(separator: " ")))" + name + help)
                    continue
                }
                let action = ":" + escaped(value, ":") + ":" + action(for: option.kind, program)
                if option.count == .list {
                    // The values go on up to the next word that begins with a dash.
                    specs.append("*" + name + help + ":*-*" + action)
                } else {
                    specs.append(excluded + name + (name.hasPrefix("--") ? "=" : "+") + help + action)
                }
            }
        }
        for positional in verb.positionals {
            let place = positional.repeats ? "*:" : positional.isOptional ? "::" : ":"
            let seconds = program.verbs(under: verb).map { $0.words[1] }
            let values = action(for: positional.kind, program)
            let action = seconds.isEmpty ? values : "{ compadd -- \(seconds.joined(separator: " ")); \(values) }"
            specs.append(place + escaped(positional.name, ":") + ":" + action)
        }
        return specs
    }

    private static func action(for kind: ValueKind, _ program: Program) -> String {
        switch kind {
        case .file(let endings): return files(endings)
        case .fileOrURL(let endings): return "{ \(files(endings)); _urls }"
        case .folder: return "_files -/"
        case .url: return "_urls"
        case .verb: return "(" + program.mainVerbs.map(\.name).joined(separator: " ") + ")"
        case .text, .number, .hexadecimal: return " "
        case .forms(let forms):
            guard forms.contains(where: { $0.rest != .nothing }) else {
                return "(" + forms.map { escaped($0.text, ": ") }.joined(separator: " ") + ")"
            }
            var branches = ""
            for form in forms where form.rest != .nothing {
                let what = form.rest == .folder ? "_files -/" : "_files"
                branches += "if compset -P \(escaped(form.text, ":")); then \(what); el"
            }
            let words = forms.map { escaped($0.text, ":") }.joined(separator: " ")
            return "{ \(branches)se compadd -S \"\" -- \(words); fi }"
        }
    }

    private static func files(_ endings: [String]) -> String {
        endings.isEmpty ? "_files" : "_files -g \"*.(" + endings.joined(separator: "|") + ")(-.)\""
    }

    /// `text` with a backslash before each of `letters`, and before backslashes.
    private static func escaped(_ text: String, _ letters: String) -> String {
        text.map { letters.contains($0) || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    }

    /// `text` as one word of the shell.
    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
