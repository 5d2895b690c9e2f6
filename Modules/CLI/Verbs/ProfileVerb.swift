/// `ferry profile`: what provisioning profiles say.
enum ProfileVerb {
    static let verb = Verb(
        name: "profile",
        summary: "show provisioning profiles: for which apps, devices and certificates, and until when",
        discussion: """
            One profile is shown with all that it says, several as a table. A folder stands for all profiles in it.

            The exit code is 1 if a file is no profile, or is damaged; the others are shown all the same.
            """,
        examples: [
            .init(purpose: "All that one says", command: "ferry profile app.mobileprovision"),
            .init(purpose: "What there is in a folder", command: "ferry profile ~/Profiles"),
            .init(
                purpose: "Which of them are for this device and this certificate",
                command: "ferry profile ~/Profiles --device 00008110-001C195A0E91801E --certificate dev.cer"
            ),
        ],
        positionals: [
            Positional(
                name: "FILE",
                kind: .file(ProfileFiles.endings),
                help: "profiles, or folders with profiles",
                repeats: true
            )
        ],
        options: [
            Option(name: "--devices", help: "list the devices, not only how many they are"),
            Option(name: "--device", value: "UDID", help: "say whether this device is in it"),
            Option(name: "--long", help: "show all that each says, also where there are several"),
            Option(
                name: "--p12",
                value: "FILE",
                kind: .file(["p12", "pfx"]),
                help: "say whether this identity may sign with it"
            ),
            Option(
                name: "--certificate",
                value: "FILE",
                kind: .file(["pem", "cer", "crt"]),
                help: "the same for a certificate, which needs no password"
            ),
            .passwordFile, .json,
        ],
        environment: [.p12Password],
        run: run
    )
}
