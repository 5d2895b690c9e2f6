import FerryBytes

extension Verb {
    /// Checks what follows the verb's name on the command line.
    ///
    /// - `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`; short flags in one bundle, the last of which may take a value.
    /// - `--` ends the options, and the values of a list.
    /// - A list takes everything up to the next option, so that positionals go before it or after `--`.
    /// - A value that begins with a dash is written `--name=-value`; a dash alone is a value.
    func parse(_ arguments: [String]) throws(UsageError) -> ParsedArguments {
        var scan = ArgumentScan(verb: self)
        try scan.read(arguments)
        try scan.assignPositionals()
        try scan.checkOptions()
        return ParsedArguments(self, given: scan.given)
    }
}

/// One walk over the arguments of a verb.
private struct ArgumentScan {
    let verb: Verb
    /// What was found so far, by long name.
    var given: [String: [String]] = [:]
    /// What stood without a name, in order.
    private var loose: [String] = []
    /// The list option that took the last word.
    private var lastList: Option?

    init(verb: Verb) {
        self.verb = verb
    }

    mutating func read(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                loose += rest
                return
            } else if argument.hasPrefix("--") {
                try readLong(argument, &rest)
            } else if isOption(argument) {
                try readShort(argument, &rest)
            } else {
                loose.append(argument)
            }
        }
    }

    private func isOption(_ argument: String) -> Bool {
        argument.hasPrefix("-") && argument != "-"
    }

    private mutating func readLong(_ argument: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let option = verb.option(parts[0]), option.name == parts[0] else {
            throw unknown(parts[0])
        }
        if parts.count == 2 {
            guard !option.isFlag else {
                throw error(.unexpectedValue, "\(option.name) takes no value, but was given “\(parts[1])”.")
            }
            try record([parts[1]], for: option)
        } else {
            try takeValues(of: option, as: option.name, &rest)
        }
    }

    private mutating func readShort(_ argument: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        var letters = argument.dropFirst()
        while let letter = letters.popFirst() {
            let name = "-\(letter)"
            guard let option = verb.option(name) else {
                // `-json` is rather `--json` than `-j -s -o -n`.
                throw unknown(argument.count > 2 ? verb.option("-" + argument)?.name ?? name : name, typed: argument)
            }
            if option.isFlag {
                try record([], for: option)
            } else if letters.isEmpty {
                try takeValues(of: option, as: name, &rest)
            } else {
                try record([String(letters)], for: option)
                return
            }
        }
    }

    /// Takes what follows an option: nothing, a value, or all values up to the next option.
    private mutating func takeValues(
        of option: Option,
        as typed: String,
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        var values: [String] = []
        if !option.isFlag {
            while let next = rest.first, !isOption(next), values.isEmpty || option.count == .list {
                values.append(next)
                rest.removeFirst()
            }
            guard !values.isEmpty else {
                let advice = rest.first.flatMap { next in
                    next == "--" ? nil : "A value that begins with a dash is written \(option.name)=\(next)."
                }
                throw error(.missingValue, "\(typed) needs a value (\(option.value ?? "")).", advice ?? "")
            }
        }
        try record(values, for: option)
    }

    private mutating func record(_ values: [String], for option: Option) throws(UsageError) {
        if option.count == .once, !option.isFlag, given[option.name] != nil {
            throw error(.repeatedOption, "\(option.name) is given more than once.", "Keep the one that is meant.")
        }
        for value in values {
            try check(value, option.kind, option.name)
        }
        given[option.name, default: []] += values
        if option.count == .list {
            lastList = option
        }
    }

    private func check(_ value: String, _ kind: ValueKind, _ name: String) throws(UsageError) {
        guard let fault = kind.fault(in: value) else { return }
        let meant = suggestion(for: value, among: kind.words).map { "Did you mean \($0)?" }
        throw error(.invalidValue, "\(name): “\(value)” \(fault).", meant ?? "")
    }

    mutating func assignPositionals() throws(UsageError) {
        var rest = loose[...]
        for positional in verb.positionals {
            let taken = positional.repeats ? rest : rest.prefix(1)
            rest = rest.dropFirst(taken.count)
            guard !taken.isEmpty else {
                if positional.isOptional || isAnyGiven(positional.isSparedBy) { continue }
                let advice = lastList.map { list in
                    "Everything after \(list.name) up to the next option is taken as its values: "
                        + "put \(positional.name) first, or after --."
                }
                throw error(.missingArgument, "\(positional.name) is missing: \(positional.help).", advice ?? "")
            }
            for value in taken {
                try check(value, positional.kind, positional.name)
            }
            given[positional.name] = Array(taken)
        }
        if let surplus = rest.first {
            throw error(.unexpectedArgument, "“\(surplus)” is one argument too many for ferry \(verb.name).")
        }
    }

    private func isAnyGiven(_ names: [String]) -> Bool {
        names.contains { given[$0] != nil }
    }

    func checkOptions() throws(UsageError) {
        for option in verb.options where option.isRequired && given[option.name] == nil {
            if isAnyGiven(option.isSparedBy) { continue }
            throw error(.missingOption, "\(described(option)) is missing: \(option.help).")
        }
        try checkAlternatives()
    }

    private func checkAlternatives() throws(UsageError) {
        guard !verb.alternatives.isEmpty else { return }
        let begun = verb.alternatives.filter { group in group.contains { given[$0] != nil } }
        guard let chosen = begun.first else {
            if verb.sparesAlternatives { return }
            let choices = verb.alternatives.map { $0.joined(separator: " with ") }
            throw error(.missingOption, "\(listed(choices, "or")) is missing.")
        }
        guard begun.count == 1 else {
            let both = begun.compactMap { group in group.first { given[$0] != nil } }
            throw error(.conflictingOptions, "\(listed(both, "and")) exclude each other.", "Give one of them.")
        }
        if let missing = chosen.first(where: { given[$0] == nil }) {
            let present = chosen.first { given[$0] != nil } ?? ""
            throw error(.missingOption, "\(present) is given without \(missing).", "Give both.")
        }
    }

    private func described(_ option: Option) -> String {
        let name = option.short ?? option.name
        return option.value.map { "\(name) \($0)" } ?? name
    }

    private func unknown(_ name: String, typed: String? = nil) -> UsageError {
        let typed = typed ?? name
        let names = verb.allOptions.map(\.name)
        let meant = names.contains(name) ? name : suggestion(for: name, among: names)
        let inside = name.count == 2 && typed != name ? "\(name) (in \(typed))" : typed
        return error(
            .unknownOption,
            "\(inside) is no option of ferry \(verb.name).",
            meant.map { "Did you mean \($0)?" } ?? ""
        )
    }

    private func error(_ code: UsageError.Code, _ message: String, _ advice: String = "") -> UsageError {
        UsageError(code, message, advice: advice, verb: verb.name)
    }
}
