/// `ferry jobs`: the installs of this machine, whichever process runs them.
enum Jobs {
    static let verb = Verb(
        name: "jobs",
        summary: "list the installs of this machine, and how far they are",
        discussion: """
            Those that have not ended, in the order in which they were begun; with --all also those that have. “stopped” is \
            one that no process runs: “ferry resume” goes on with it. Installs that ended are forgotten after two weeks.
            """,
        examples: [
            .init(purpose: "All the time", command: "ferry jobs --watch"),
            .init(purpose: "For a program", command: "ferry jobs --all --json"),
        ],
        options: [
            .allInstalls("also those that have ended"),
            Option(name: "--watch", help: "show them anew as they change, until ctrl-C"),
            .json,
        ],
        run: run
    )
}
