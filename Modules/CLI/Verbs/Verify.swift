/// `ferry verify`: whether an app's signature is right, and how two apps differ.
enum Verify {
    static let verb = Verb(
        name: "verify",
        summary: "check an app's signature, and whether it would install",
        discussion: """
            Recomputes every hash, and asks what a device asks before it installs. IN is an archive, a folder NAME.app, or a \
            single Mach-O file. Each fault is told with its place, with what iOS answers where that is known, and with its \
            remedy; the exit code is 1 if there is any. docs/verify.md has them all.

            With --compare nothing is checked: it says what is other in IN than it was in BEFORE, file by file, key by key.
            """,
        examples: [
            .init(purpose: "Check a signed archive", command: "ferry verify Out.ipa"),
            .init(
                purpose: "For one device and its system",
                command: "ferry verify Out.ipa --device 00008110-001C195A0E91801E --os 17.5"
            ),
            .init(purpose: "A folder, or one file of code", command: "ferry verify build/Harbour.app"),
            .init(purpose: "What signing changed", command: "ferry verify Out.ipa --compare Harbour.ipa"),
        ],
        positionals: [
            Positional(name: "IN", kind: .file(["ipa"]), help: "the archive, folder or file of code to check")
        ],
        options: [
            Option(name: "--device", value: "UDID", help: "whether the profiles list this device"),
            Option(name: "--os", value: "VERSION", help: "whether the app runs on this version of the system"),
            Option(
                name: "--platform",
                value: "SYSTEM",
                kind: .choice(["iOS", "tvOS", "watchOS", "visionOS", "macOS"]),
                help: "whether the app is for this system"
            ),
            Option(
                name: "--compare",
                value: "BEFORE",
                kind: .file(["ipa"]),
                help: "say what is other in IN than in this archive or folder, and check nothing"
            ),
            .json,
        ],
        run: run
    )
}
