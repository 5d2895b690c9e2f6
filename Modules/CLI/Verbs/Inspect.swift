/// `ferry inspect`: what is in an archive.
enum Inspect {
    static let verb = Verb(
        name: "inspect",
        summary: "show what is inside an archive",
        discussion:
            """
            Bundles, ids, versions, architectures, signatures, entitlements and profiles. Nothing is unpacked.

            Icons in apps are PNGs of Apple's own kind, which other programs do not read; --icon writes a plain one.
            """,
        examples: [
            .init(purpose: "For people", command: "ferry inspect Harbour.ipa"),
            .init(purpose: "For programs", command: "ferry inspect Harbour.ipa --json"),
            .init(purpose: "The icon as well", command: "ferry inspect Harbour.ipa --icon harbour.png"),
        ],
        positionals: [Positional(name: "IN", kind: .file(["ipa"]), help: "the archive to look at")],
        options: [
            Option(
                name: "--icon",
                value: "FILE",
                kind: .file(["png"]),
                help: "write the app's icon there, as a plain PNG"
            ),
            .json,
        ],
        run: run
    )
}
