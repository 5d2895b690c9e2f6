/// `ferry install`: the whole way, from where an app is published to where it goes.
enum Install {
    static let verb = Verb(
        name: "install",
        summary: "download, re-sign and install apps",
        discussion: """
            Fetches each SOURCE, signs it with your identity and profiles, checks the result, and installs it. \
            Nothing is written to the target before the plan for the app stands and its signature has been checked.

            With --source, each SOURCE is an app of that published list, by its bundle id: the newest version that the \
            target's system runs, or the one after an @. Its archive must be what the list says: the id, the version, the \
            size and the SHA-256, as far as the list says them.

            Each install is written down, so that “ferry jobs”, “hold”, “release” and “cancel” reach it from another \
            terminal. One that was interrupted, or whose process died, goes on where it was with “ferry resume”, or when \
            the same command is given again.
            """,
        examples: [
            .init(
                purpose: "From an address into a folder",
                command: "ferry install https://example.com/Harbour.ipa --p12 dev.p12 --profile dev.mobileprovision "
                    + "--to folder:out"
            ),
            .init(
                purpose: "The newest version in a published list, for a device with iOS 16.4",
                command: "ferry install --source https://example.com/apps.json com.example.harbour --os 16.4 "
                    + "--p12 dev.p12 --profile dev.mobileprovision --to folder:out"
            ),
            .init(
                purpose: "Onto the iPhone at the cable",
                command: "ferry install Harbour.ipa --p12 dev.p12 --profile dev.mobileprovision --to device"
            ),
            .init(
                purpose: "Onto a phone that opens the link, which trusts this machine's own authority",
                command: "ferry install Harbour.ipa --p12 dev.p12 --profile dev.mobileprovision --to ota "
                    + "--listen 0.0.0.0:8470 --host 192.168.1.5 --local-ca"
            ),
            .init(
                purpose: "Two apps under one wildcard profile, with a log beside the progress",
                command: "ferry install A.ipa B.ipa --p12 dev.p12 --profile wild.mobileprovision --to folder:out "
                    + "--reporter terminal --reporter json:install.log"
            ),
        ],
        positionals: [
            Positional(
                name: "SOURCE",
                kind: .fileOrURL(["ipa"]),
                help: "the archive to install: a file or an https address; with --source, BUNDLE.ID[@VERSION[(BUILD)]]",
                repeats: true
            )
        ],
        options: .signing + [
            Option(
                name: "--to",
                value: "TARGET",
                kind: .forms(TargetChoice.forms),
                isRequired: true,
                help: "where the app goes"
            )
        ] + ServingPlace.options.map { $0.under(ServingPlace.group) } + [
            .source.under(OptionGroup.source), .targetSystem.under(OptionGroup.source),
            .allowMismatch.under(OptionGroup.source),
            Option(name: "--keep", value: "FILE", kind: .file(["ipa"]), help: "keep the signed archive there"),
            .sha256,
            .mirror.under(OptionGroup.downloading),
            .noCache,
            .noRecord,
            .reporter,
            .json,
        ] + .downloading + .requestHeaders + .netrc,
        alternatives: [Option].identityAlternatives,
        environment: .identity + [.usbmuxd],
        run: run
    )
}
