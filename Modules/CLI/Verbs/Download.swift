/// `ferry download`: fetches one file.
enum Download {
    static let verb = Verb(
        name: "download",
        summary: "download a file, going on where an earlier try ended",
        discussion: """
            What has arrived is kept until the file is whole: the same command given again goes on from there, where the \
            server proves that its file is still the same. A large file from a slow server comes by several connections.

            A full disk holds the download until there is room again.
            """,
        examples: [
            .init(
                purpose: "With a checksum",
                command: "ferry download https://example.com/Harbour.ipa -o Harbour.ipa --sha256 "
                    + "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
            ),
            .init(
                purpose: "From a second server where the first fails, no faster than 2 MB a second",
                command: "ferry download https://example.com/Harbour.ipa --mirror https://example.org/Harbour.ipa "
                    + "-o Harbour.ipa --limit-rate 2M"
            ),
            .init(
                purpose: "With a token, from a server of your own authority",
                command: "ferry download https://builds.example/Harbour.ipa -o Harbour.ipa --bearer-file token.txt "
                    + "--ca-file authority.pem"
            ),
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
            .mirror,
            .reporter,
            .json,
        ] + .downloading + .requestHeaders + .netrc,
        run: run
    )
}
