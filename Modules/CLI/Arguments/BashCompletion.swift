/// The completion script for bash, made from the description of the verbs.
///
/// Needs nothing but bash itself, 3.2 or later: not the bash-completion package.
enum BashCompletion {
    /// The whole script.
    static func script(for program: Program) -> String {
        var cases = Cases()
        for verb in program.verbs {
            cases.add(verb, of: program)
        }
        let verbs = (program.mainVerbs.map(\.name) + ["--help", "--version"]).joined(separator: " ")
        return
            template
            .replacing("@VALUES@", with: cases.values)
            .replacing("@COUNTS@", with: cases.counts)
            .replacing("@NAMES@", with: cases.names)
            .replacing("@PAIRS@", with: cases.pairs)
            .replacing("@VERBS@", with: verbs)
            .replacing("@NAME@", with: program.name)
    }

    /// The branches of the script's `case` commands.
    private struct Cases {
        var values = ""
        var counts = ""
        var names = ""
        /// Verbs of two words.
        var pairs = ""

        mutating func add(_ verb: Verb, of program: Program) {
            let name = verb.words.joined(separator: "-")
            if verb.words.count == 2 {
                pairs += "            \"\(verb.name)\") words=(\"${words[0]}\" \(name) \"${words[@]:3}\") ;;\n"
            }
            for option in verb.options where !option.isFlag {
                let pattern = [option.short, option.name].compactMap { $0 }.map { "\(name):\($0)" }
                    .joined(separator: "|")
                values += "        \(pattern)) \(action(for: option.kind, program)) ;;\n"
                counts += "        \(pattern)) count=\(option.count == .list ? "several" : "one") ;;\n"
            }
            let seconds = program.verbs(under: verb).map { $0.words[1] }
            let actions =
                verb.positionals.suffix(1).map { action(for: $0.kind, program) }
                + (seconds.isEmpty ? [] : [(["_@NAME@_words"] + seconds).joined(separator: " ")])
            if !actions.isEmpty {
                values += "        \(name):) \(actions.joined(separator: "; ")) ;;\n"
            }
            let spellings = verb.allOptions.flatMap { [$0.short, $0.name].compactMap { $0 } }
            names += "        \(name)) _@NAME@_words \(spellings.joined(separator: " ")) ;;\n"
        }

        private func action(for kind: ValueKind, _ program: Program) -> String {
            switch kind {
            case .file(let endings), .fileOrURL(let endings):
                return (["_@NAME@_files ''"] + endings).joined(separator: " ")
            case .folder:
                return "_@NAME@_folders ''"
            case .verb:
                return (["_@NAME@_words"] + program.mainVerbs.map(\.name)).joined(separator: " ")
            case .url, .text, .number, .hexadecimal:
                return ":"
            case .forms(let forms):
                let words = (["_@NAME@_words"] + forms.map(\.text)).joined(separator: " ")
                let rests = forms.filter { $0.rest != .nothing }.map { form in
                    "; _@NAME@_\(form.rest == .folder ? "folders" : "files") \(form.text)"
                }
                return words + rests.joined()
            }
        }
    }

    private static let template = #"""
        # Completion of @NAME@ for bash. For this shell: source <(@NAME@ completion bash)
        # For every shell: @NAME@ completion bash > ~/.local/share/bash-completion/completions/@NAME@

        # Adds those of the words that begin with $current.
        _@NAME@_words() {
            local word
            for word in "$@"; do
                [[ $word == "$current"* ]] || continue
                COMPREPLY+=("$word")
                [[ $word != *: ]] || compopt -o nospace 2>/dev/null
            done
        }

        # Adds folders, and files with one of the endings $2...; any file where there are none. $1 stands before the path.
        _@NAME@_files() {
            local before=$1 path ending
            shift
            [[ $current == "$before"* ]] || return 0
            compopt -o filenames 2>/dev/null
            while IFS= read -r path; do
                if [[ -d $path || $# -eq 0 ]]; then
                    COMPREPLY+=("$before$path")
                    continue
                fi
                for ending in "$@"; do
                    [[ $path != *."$ending" ]] || COMPREPLY+=("$before$path")
                done
            done < <(compgen -f -- "${current#"$before"}")
        }

        # Adds folders. $1 stands before the path.
        _@NAME@_folders() {
            local path
            [[ $current == "$1"* ]] || return 0
            compopt -o filenames 2>/dev/null
            while IFS= read -r path; do
                COMPREPLY+=("$1$path")
            done < <(compgen -d -- "${current#"$1"}")
        }

        # Adds the values of the option $2 of the verb $1; what stands without an option where $2 is empty.
        _@NAME@_values() {
            case $1:$2 in
        @VALUES@    esac
        }

        # Sets $count: how many values the option $2 of the verb $1 takes.
        _@NAME@_count() {
            count=none
            case $1:$2 in
        @COUNTS@    esac
        }

        # Adds the options of the verb $1.
        _@NAME@_options() {
            case $1 in
        @NAMES@    esac
        }

        _@NAME@() {
            local words=() word glue= index current verb option= count=none ended=
            # bash parts words at = and : too; this puts --name=value and json:FILE together again.
            for ((index = 0; index <= COMP_CWORD; index++)); do
                word=${COMP_WORDS[index]}
                if ((index > 1)) && [[ $word == [=:]* || (-n $glue && -n $word) ]]; then
                    words[${#words[@]} - 1]+=$word
                else
                    words+=("$word")
                fi
                glue=
                [[ $word != *[=:] ]] || glue=1
            done
            COMPREPLY=()
            current=${words[${#words[@]} - 1]}
            if ((${#words[@]} <= 2)); then
                _@NAME@_words @VERBS@
                return
            fi
            # A verb of two words counts as one; the second is complete when another follows.
            ((${#words[@]} == 3)) || case "${words[1]} ${words[2]}" in
        @PAIRS@    esac
            verb=${words[1]}
            # Which option is still waiting for a value where the cursor is.
            for word in "${words[@]:2:${#words[@]} - 3}"; do
                if [[ -n $ended || $word == -- ]]; then
                    ended=1 option=
                elif [[ $word == -?* ]]; then
                    _@NAME@_count "$verb" "$word"
                    option=
                    [[ $count == none ]] || option=$word
                elif [[ $count == one ]]; then
                    count=none option=
                fi
            done
            if [[ -n $ended ]]; then
                _@NAME@_values "$verb" ''
            elif [[ $current == --*=* ]]; then
                option=${current%%=*}
                current=${current#*=}
                _@NAME@_values "$verb" "$option"
            elif [[ $current == -* ]]; then
                _@NAME@_options "$verb"
            else
                _@NAME@_values "$verb" "$option"
                if [[ -z $option && -z $current && ${#COMPREPLY[@]} -eq 0 ]]; then
                    _@NAME@_options "$verb"
                fi
            fi
            # bash replaces only what comes after the last colon of the word.
            if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
                word=${current%"${current##*:}"}
                COMPREPLY=("${COMPREPLY[@]#"$word"}")
            fi
        }

        complete -F _@NAME@ @NAME@

        """#
}
