/// `ferry updates`: which installed apps have a newer version.
enum UpdatesVerb {
    static let verb = Verb(
        name: "updates",
        summary: "show which apps in a folder have a newer version in a published list",
        discussion: """
            Looks for each app of FOLDER, by its bundle id, in the lists that were given a name with ferry source add, or in \
            those of --source. Apps that were signed with another id than the list has are not found.

            The exit code is 0 whether there are updates or not, and 1 if a list or an app could not be read; the others \
            are shown all the same.
            """,
        examples: [
            .init(purpose: "In all lists that have a name", command: "ferry updates out"),
            .init(
                purpose: "In one list, for a device with iOS 16.4, as data",
                command: "ferry updates out --source https://example.com/apps.json --os 16.4 --json"
            ),
        ],
        positionals: [
            Positional(name: "FOLDER", kind: .folder, help: "where apps were installed with --to folder:FOLDER")
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
        run: run
    )
}
