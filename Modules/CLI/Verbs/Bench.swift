/// `ferry bench`: how long signing takes, beside other commands.
enum Bench {
    static let verb = Verb(
        name: "bench",
        summary: "measure how long signing takes, beside any other command",
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
            .json,
        ],
        alternatives: [Option].identityAlternatives,
        environment: .identity,
        run: run
    )
}
