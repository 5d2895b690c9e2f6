/// `ferry inspect`: what is in an archive.
enum Inspect {
    static let verb = Verb(
        name: "inspect",
        summary: "show what is inside an archive",
        discussion:
            """
            Bundles, ids, versions, architectures, signatures, entitlements and profiles. Nothing is unpacked.

            With --plan it is what ferry sign would change: --p12, or --certificate and --key, and --profile are needed \
            then.

            Icons in apps are PNGs of Apple's own kind, which other programs do not read; --icon-to writes a plain one.
            """,
        examples: [
            .init(purpose: "For people", command: "ferry inspect Harbour.ipa"),
            .init(purpose: "For programs", command: "ferry inspect Harbour.ipa --json"),
            .init(
                purpose: "What signing would change",
                command: "ferry inspect Harbour.ipa --plan --p12 dev.p12 --profile wild.mobileprovision --name Mine"
            ),
            .init(purpose: "The icon as well", command: "ferry inspect Harbour.ipa --icon-to harbour.png"),
        ],
        positionals: [Positional(name: "IN", kind: .file(["ipa"]), help: "the archive to look at")],
        options: [
            Option(
                name: "--icon-to",
                value: "FILE",
                kind: .file(["png"]),
                help: "write the app's icon there, as a plain PNG"
            ),
            Option(
                name: "--plan",
                help: "show for each bundle what ferry sign would change with the same options; nothing is written"
            ),
        ]
            + [Option].signingOrNot.map { option in
                var option = option
                option.isRequired = false
                return option
            } + [.json],
        environment: .identity,
        run: run
    )
}
