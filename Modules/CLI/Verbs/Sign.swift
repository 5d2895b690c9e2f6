/// `ferry sign`: re-signs one archive.
enum Sign {
    static let verb = Verb(
        name: "sign",
        summary: "re-sign an archive",
        discussion: """
            First plans everything: bundle ids, profiles, entitlements, room for signatures, what is encrypted or \
            expired. Where the plan cannot stand it says every reason at once, writes nothing, and ends with exit code 3.

            --profile takes all files up to the next option, so IN goes before it.
            """,
        examples: [
            .init(
                purpose: "With an identity and one profile for each bundle",
                command:
                    "ferry sign In.ipa -o Out.ipa --p12 dev.p12 --profile app.mobileprovision share.mobileprovision"
            ),
            .init(
                purpose: "Under a new id, the password from a password store",
                command: "ferry sign In.ipa -o Out.ipa --p12 dev.p12 --password-file <(pass show ferry) "
                    + "--profile wild.mobileprovision --bundle-id com.example.mine"
            ),
        ],
        positionals: [Positional(name: "IN", kind: .file(["ipa"]), help: "the archive to sign")],
        options: [
            Option(
                name: "--output",
                short: "-o",
                value: "FILE",
                kind: .file(["ipa"]),
                isRequired: true,
                help: "where the signed archive goes"
            )
        ] + .signing + [.reporter, .json],
        alternatives: [Option].identityAlternatives,
        environment: .identity,
        run: run
    )
}
