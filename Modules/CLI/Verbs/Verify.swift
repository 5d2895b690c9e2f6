/// `ferry verify`: whether an archive's signature is right.
enum Verify {
    static let verb = Verb(
        name: "verify",
        summary: "check an archive's signature, and whether it would install",
        discussion:
            "Recomputes every hash. Each fault is told with its place and its remedy; the exit code is 1 if there is any.",
        examples: [.init(purpose: "Check a signed archive", command: "ferry verify Out.ipa")],
        positionals: [Positional(name: "IN", kind: .file(["ipa"]), help: "the archive to check")],
        options: [.json],
        run: run
    )
}
