/// `ferry identity`: who would sign.
enum IdentityVerb {
    static let verb = Verb(
        name: "identity",
        summary: "show a signing identity: whose it is, how long it lasts, which profiles it fits",
        discussion: """
            Subject, team, kind, validity, key and chain of a .p12, of PEM files or of a key in a token. A certificate \
            alone can be looked at as well, without --key.

            What the chain lacks is fetched as for signing: from the addresses that the certificates name, and from Apple. \
            The exit code is 1 if a certificate of the chain is out of date or revoked, if the chain is not whole, or if \
            --online gets no clear answer.
            """,
        examples: [
            .init(purpose: "Whose it is, and how long it lasts", command: "ferry identity dev.p12"),
            .init(
                purpose: "Which of these profiles it can sign with",
                command: "ferry identity dev.p12 --profile *.mobileprovision"
            ),
            .init(purpose: "Whether Apple has revoked it", command: "ferry identity dev.p12 --online"),
            .init(
                purpose: "A key in a token",
                command: "ferry identity dev.pem --key 'pkcs11:token=Signing;object=dev' --password-file pin.txt"
            ),
        ],
        positionals: [
            Positional(
                name: "FILE",
                kind: .file(["p12", "pfx", "pem", "cer", "crt"]),
                help: "a .p12, or a certificate as PEM or DER, with its key in the same file or by --key",
                isOptional: true
            )
        ],
        options: [
            .p12, .certificate, .key, .chain, .passwordFile,
            Option(
                name: "--profile",
                value: "FILE",
                kind: .file(["mobileprovision"]),
                count: .list,
                help: "profiles to compare it with; a folder stands for all in it"
            ),
            Option(name: "--online", help: "ask the authorities whether its certificates were revoked (OCSP)"),
            .offline, .fetchTimeout, .json,
        ],
        environment: .identity,
        run: run
    )
}
