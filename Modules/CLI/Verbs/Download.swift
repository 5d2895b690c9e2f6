/// `ferry download`: fetches one file.
enum Download {
    static let verb = Verb(
        name: "download",
        summary: "download a file, going on where an earlier try ended",
        examples: [
            .init(
                purpose: "With a checksum",
                command: "ferry download https://example.com/Harbour.ipa -o Harbour.ipa --sha256 "
                    + "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
            )
        ],
        positionals: [Positional(name: "URL", kind: .url, help: "the file's https address")],
        options: [
            Option(
                name: "--output",
                short: "-o",
                value: "FILE",
                kind: .file([]),
                isRequired: true,
                help: "where the file goes; it appears there when it is complete"
            ),
            .sha256,
            .reporter,
            .json,
        ],
        run: run
    )
}
