/// What was given on the command line, checked against its verb's description.
///
/// Options go by their long name with its dashes, positionals by theirs; a name that the verb does not have is our own bug.
struct ParsedArguments: Sendable, Equatable {
    /// What was given, by name.
    private(set) var given: [String: [String]]
    private let standards: [String: String]
    private let names: Set<String>

    /// Holds `given` for `verb`.
    init(_ verb: Verb, given: [String: [String]]) {
        self.given = given
        let options = verb.allOptions
        names = Set(options.map(\.name) + verb.positionals.map(\.name))
        standards = Dictionary(options.compactMap { option in option.standard.map { (option.name, $0) } }) { $1 }
    }

    /// The same with other values for some; one without any is as though it had not been given.
    func replacing(_ values: [String: [String]]) -> ParsedArguments {
        var copy = self
        for (name, values) in values {
            precondition(names.contains(name), "The verb describes no \(name).")
            copy.given[name] = values.isEmpty ? nil : values
        }
        return copy
    }

    /// Whether the flag was given.
    func flag(_ name: String) -> Bool {
        isGiven(name)
    }

    /// Whether the flag was given, for what verbs share that do not all have it.
    func flagIfDescribed(_ name: String) -> Bool {
        given[name] != nil
    }

    /// The value that was given, for what verbs share that do not all have it.
    func valueIfDescribed(_ name: String) -> String? {
        given[name]?.last
    }

    /// The number that was given, for what verbs share that do not all have it.
    func numberIfDescribed(_ name: String) -> Int? {
        valueIfDescribed(name).flatMap { Int($0) }
    }

    /// Whether the option or positional was given at all, its standard value aside.
    func isGiven(_ name: String) -> Bool {
        precondition(names.contains(name), "The verb describes no \(name).")
        return given[name] != nil
    }

    /// The value, or its standard; `nil` where there is neither.
    func value(_ name: String) -> String? {
        isGiven(name) ? given[name]?.last : standards[name]
    }

    /// All values, or the standard one; empty where there is neither.
    func values(_ name: String) -> [String] {
        isGiven(name) ? given[name] ?? [] : standards[name].map { [$0] } ?? []
    }

    /// The value of what the description says must be given.
    func required(_ name: String) -> String {
        guard let value = value(name) else { preconditionFailure("\(name) is not described as required.") }
        return value
    }

    /// The value of what the description says is a number; `nil` where it was not given and has no standard.
    func number(_ name: String) -> Int? {
        value(name).flatMap { Int($0) }
    }
}
