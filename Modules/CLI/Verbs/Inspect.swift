/// `ferry inspect`: what is in an archive.
enum Inspect {
    static let verb = Verb(
        name: "inspect",
        summary: "show what is inside an archive",
        discussion:
            "Bundles, ids, versions, architectures, signatures, entitlements and profiles. Nothing is unpacked.",
        examples: [
            .init(purpose: "For people", command: "ferry inspect Harbour.ipa"),
            .init(purpose: "For programs", command: "ferry inspect Harbour.ipa --json"),
        ],
        positionals: [Positional(name: "IN", kind: .file(["ipa"]), help: "the archive to look at")],
        options: [.json],
        run: run
    )
}
