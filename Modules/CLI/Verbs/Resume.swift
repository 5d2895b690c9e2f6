/// `ferry resume`: goes on with installs that no process runs any more.
enum Resume {
    static let verb = Verb(
        name: "resume",
        summary: "go on with installs that were stopped, or whose process died",
        discussion: """
            Each goes on where it was: what has arrived of a download is kept, a finished download is not fetched again, and \
            a finished signature not made again, if their files still have the length and SHA-256 that were written down. \
            One that was held stays held. --all leaves out those that failed; give their ids.

            The options of the first call are known, but not its secrets: the password comes from the file that was named \
            then, from --password-file, the environment or a prompt. A URL with a password or a token in it, the archive's \
            or its list's, has to be given again. An app from a list is chosen again, from the list as it is now. By which \
            address phones reach this machine is not known either: what goes to phones gets a new link.
            """,
        examples: [
            .init(purpose: "After a crash or a restart", command: "ferry resume --all"),
            .init(
                purpose: "One, with the password from a file",
                command: "ferry resume 7q2m --password-file pw.txt"
            ),
            .init(
                purpose: "One whose URL has a token",
                command: "ferry resume 7q2m --url 'https://example.com/App.ipa?token=…'"
            ),
        ],
        positionals: [.installs],
        options: [
            .allInstalls("all that were stopped; the same as no ID"),
            Option(
                name: "--url",
                value: "URL",
                kind: .url,
                help: "the source or its list again, where a part of it was not written down"
            ),
            .passwordFile,
        ] + ServingPlace.options.map { $0.under(ServingPlace.group) } + [
            .noCache,
            .reporter,
            .json,
        ],
        environment: .identity,
        run: run
    )
}
