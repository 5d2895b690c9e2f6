import FerryRecord

extension Positional {
    /// `ID…`: installs of the record.
    static let installs = Positional(
        name: "ID",
        kind: .text,
        help: "an install, as “ferry jobs” calls it; the beginning is enough where only one begins so",
        isOptional: true,
        repeats: true
    )
}

extension Option {
    /// `--all`: every install, with what that means.
    static func allInstalls(_ help: String) -> Option { Option(name: "--all", help: help) }

    /// `--no-record`: nothing is written down.
    static let noRecord = Option(
        name: "--no-record",
        help: "write nothing down: it cannot be seen, held or gone on with by another process"
    )
}

/// `ferry hold`, `release` and `cancel`: orders for installs, whichever process runs them.
enum Orders {
    static let hold = Verb(
        name: "hold",
        summary: "hold installs where they are, from any terminal",
        discussion: """
            A download stops, and what is being signed waits before it is put in place, until it is released: for any time, \
            and across restarts. The process that runs it hears of it within a second.
            """,
        examples: [
            .init(purpose: "Everything, for a video call", command: "ferry hold --all"),
            .init(purpose: "One of them", command: "ferry hold 7q2m"),
        ],
        positionals: [.installs],
        options: [.allInstalls("all that have not ended"), .json],
        run: { try await run(.hold, $0) }
    )

    static let release = Verb(
        name: "release",
        summary: "let held installs go on, from any terminal",
        discussion: """
            One that no process runs is not begun by this, but “ferry resume” then goes on with it at once.
            """,
        examples: [.init(purpose: "Everything", command: "ferry release --all")],
        positionals: [.installs],
        options: [.allInstalls("all that have not ended"), .json],
        run: { try await run(.release, $0) }
    )

    static let cancel = Verb(
        name: "cancel",
        summary: "end installs and remove what has arrived of them, from any terminal",
        discussion: """
            What was installed before stays. One that is being put in place at this moment may be installed all the same; \
            this waits a moment for it and says which of the two it became.
            """,
        examples: [
            .init(purpose: "One", command: "ferry cancel 7q2m"),
            .init(purpose: "All that have not ended", command: "ferry cancel --all"),
        ],
        positionals: [.installs],
        options: [.allInstalls("all that have not ended"), .json],
        run: { try await run(.cancel, $0) }
    )
}
