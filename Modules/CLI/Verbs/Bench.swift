/// `ferry bench`: how long signing takes, beside other commands.
enum Bench {
    static let verb = Verb(
        name: "bench",
        summary: "measure how long signing takes, beside any other command",
        discussion: """
            first: an archive that nobody has signed before, with its phases. known: one that was signed before, by another \
            identity and under another id. one by one, at once: several archives, by one thread in turn, and by all \
            threads together.

            Each row is the median of --runs turns, in which everything is measured once: a machine that slows down slows \
            all of it. Outputs are written to memory where the system has such a place.
            """,
        examples: [
            .init(
                purpose: "Against another signer",
                command: "ferry bench In.ipa --p12 dev.p12 --profile wild.mobileprovision "
                    + "--against 'zsign=zsign -k dev.p12 -m wild.mobileprovision -o {out} {in}'"
            )
        ],
        positionals: [Positional(name: "IN", kind: .file(["ipa"]), help: "the archive to sign again and again")],
        options: .signing + [
            Option(
                name: "--runs",
                value: "N",
                kind: .number(1...1000),
                standard: "5",
                help: "how often each command is measured"
            ),
            Option(
                name: "--against",
                value: "NAME=COMMAND",
                count: .repeated,
                help: "another command, in which {in} and {out} stand for the two archives"
            ),
            Option(
                name: "--archives",
                value: "N",
                kind: .number(0...64),
                standard: "8",
                help: "how many archives are signed at once; 0 leaves those rows out"
            ),
            .json,
        ],
        alternatives: [Option].identityAlternatives,
        environment: .identity,
        run: run
    )
}
