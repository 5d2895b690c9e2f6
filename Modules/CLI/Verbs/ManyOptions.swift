extension OptionGroup {
    static let many = "Several archives or identities"
}

extension [Option] {
    /// How to sign more than one archive, or for more than one identity.
    static let many: [Option] = [
        Option(
            name: "--list",
            value: "FILE",
            kind: .file([]),
            help: "more archives to sign, a path a line; - reads standard input"
        ),
        .identities,
        Option(
            name: "--jobs",
            value: "N",
            kind: .number(1...64),
            help: "how many archives to sign at once; they share the cores [2 if not given, or a quarter of the cores]"
        ),
        Option(name: "--skip-existing", help: "leave an output that is newer than its archive as it is"),
        Option(name: "--stop-at-first-failure", help: "begin no more archives after one that fails"),
    ]
}

extension Option {
    /// `--identities FILE`: everybody to sign for.
    static let identities = Option(
        name: "--identities",
        value: "FILE",
        kind: .file(["json"]),
        help: "sign each archive once for every identity of that list, see docs/many.md"
    )
}
