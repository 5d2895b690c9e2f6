/// `ferry inspect`: what is in an archive.
enum Inspect {
    static let verb = Verb(
        name: "inspect",
        summary: "show what is inside an archive",
        discussion:
            "Bundles, ids, versions, architectures, signatures, entitlements and profiles. Nothing is unpacked. "
            + "With --plan it is what ferry sign would change: --p12, or --certificate and --key, and --profile are needed then.",
        examples: [
            .init(purpose: "For people", command: "ferry inspect Harbour.ipa"),
            .init(purpose: "For programs", command: "ferry inspect Harbour.ipa --json"),
            .init(
                purpose: "What signing would change",
                command: "ferry inspect Harbour.ipa --plan --p12 dev.p12 --profile wild.mobileprovision --name Mine"
            ),
        ],
        positionals: [Positional(name: "IN", kind: .file(["ipa"]), help: "the archive to look at")],
        options: [
            Option(
                name: "--plan",
                help: "show for each bundle what ferry sign would change with the same options; nothing is written"
            )
        ]
            + [Option].signing.map { option in
                var option = option
                option.isRequired = false
                return option
            } + [.json],
        environment: [.p12Password],
        run: run
    )
}
