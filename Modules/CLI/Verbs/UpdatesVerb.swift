/// `ferry updates`: which installed apps have a newer version.
enum UpdatesVerb {
    static let verb = Verb(
        name: "updates",
        summary: "show which apps in a folder or on a device have a newer version in a published list",
        discussion: """
            Looks for each app of TARGET, by its bundle id, in the lists that were given a name with ferry source add, or in \
            those of --source. Apps that were signed with another id than the list has are not found. On a device, versions that its system does \
            not run are passed over.

            The exit code is 0 whether there are updates or not, and 1 if a list or an app could not be read; the others \
            are shown all the same.
            """,
        examples: [
            .init(purpose: "In all lists that have a name", command: "ferry updates out"),
            .init(purpose: "Of the device that is connected", command: "ferry updates device"),
            .init(
                purpose: "In one list, for a device with iOS 16.4, as data",
                command: "ferry updates out --source https://example.com/apps.json --os 16.4 --json"
            ),
        ],
        positionals: [
            Positional(
                name: "TARGET",
                kind: .folder,
                help: "a folder of apps, as of --to folder:DIR; or device or device:UDID"
            )
        ],
        options: [
            Option(
                name: "--source",
                value: "SOURCE",
                kind: .fileOrURL(["json"]),
                count: .repeated,
                help: "look in this list: an address, a file or a name"
            ),
            .targetSystem, .sourceOffline, .json,
        ],
        environment: [.usbmuxd],
        run: run
    )
}
