/// `ferry source`: published lists of apps.
enum SourceVerb {
    /// What a source may be named by.
    static let location = Positional(
        name: "SOURCE",
        kind: .fileOrURL(["json"]),
        help: "a list of apps: its https address, a store's link to it, a file, or a name that it was given"
    )

    static let verb = Verb(
        name: "source",
        summary: "show the apps of a published list, as stores have them",
        discussion: """
            SOURCE is a list in the form that AltStore, SideStore, Feather and others read. A bad entry is left out and told, \
            and the rest is shown.

            What is fetched is kept in $XDG_CACHE_HOME/ferry/sources: the next time, the server is only asked whether it \
            has changed, and without a connection the kept one is shown, with its age. An address with a token in it is \
            shown without what follows its question mark.
            """,
        examples: [
            .init(purpose: "All its apps", command: "ferry source https://example.com/apps.json"),
            .init(
                purpose: "What of it a device with iOS 16.4 can run, as data",
                command: "ferry source https://example.com/apps.json --os 16.4 --json"
            ),
            .init(purpose: "By a name that it was given", command: "ferry source games --search chess"),
            .init(purpose: "Every version of one app", command: "ferry source games --app com.example.harbour"),
        ],
        positionals: [location],
        options: [
            Option(
                name: "--search",
                value: "WORDS",
                help: "only apps in whose name, identifier, developer or subtitle all these words are"
            ),
            Option(name: "--app", value: "BUNDLE.ID", help: "every version of this app"),
            .targetSystem, .sourceOffline, .json,
        ],
        run: run
    )

    static let add = Verb(
        name: "source add",
        summary: "give a published list of apps a name",
        discussion: """
            The list is fetched once, so that a wrong address is found now. The names are kept in \
            $XDG_CONFIG_HOME/ferry/sources.json, which only you may read.
            """,
        examples: [
            .init(
                purpose: "So that games stands for it",
                command: "ferry source add games https://example.com/apps.json"
            ),
            .init(
                purpose: "By a link for a store",
                command: "ferry source add games altstore://source?url=https://example.com/apps.json"
            ),
        ],
        positionals: [
            Positional(name: "NAME", kind: .text, help: "letters, digits, - and _"),
            Positional(name: "URL", kind: .url, help: "its https address, or a store's link to it"),
        ],
        options: [Option(name: "--unchecked", help: "do not fetch it"), .json],
        run: runAdd
    )

    static let remove = Verb(
        name: "source remove",
        summary: "forget the name of a published list",
        examples: [.init(purpose: "Forget it", command: "ferry source remove games")],
        positionals: [Positional(name: "NAME", kind: .text, help: "the name that it was given")],
        options: [.json],
        run: runRemove
    )

    static let list = Verb(
        name: "source list",
        summary: "show the published lists that have a name",
        examples: [.init(purpose: "Which there are", command: "ferry source list")],
        options: [.json],
        run: runList
    )
}
