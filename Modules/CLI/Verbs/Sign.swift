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
            ),
            .p12,
            Option(
                name: "--certificate",
                value: "FILE",
                kind: .file(["pem", "cer", "crt"]),
                help: "the certificate, as PEM or DER, instead of --p12"
            ),
            Option(
                name: "--key",
                value: "FILE",
                kind: .file(["pem", "key"]),
                help: "the certificate's private key, as PEM"
            ),
            Option(
                name: "--chain",
                value: "FILE",
                kind: .file(["pem", "cer", "crt"]),
                count: .list,
                needs: "--certificate",
                help: "the certificates above it, up to the root"
            ),
            .passwordFile,
            .profile,
            .bundleID,
            .foreignExtensions,
            .pageSize,
            Option(
                name: "--entitlements",
                value: "FILE",
                kind: .file(["plist", "entitlements", "xml"]),
                help: "the main app's entitlements, instead of what it had cut down to what its profile allows"
            ),
            Option(
                name: "--verify",
                value: "HOW",
                kind: .forms([
                    .init(text: "standard", summary: "read back all that is new"),
                    .init(text: "full", summary: "read back everything"),
                ]),
                standard: "standard",
                help: "how the result is checked"
            ),
            .reporter,
            .json,
        ],
        alternatives: [["--p12"], ["--certificate", "--key"]],
        environment: [.p12Password],
        run: run
    )
}
