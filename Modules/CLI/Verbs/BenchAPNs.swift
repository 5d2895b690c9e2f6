/// `ferry bench apns`: how fast pushes are sent, beside h2load.
enum BenchAPNs {
    static let verb = Verb(
        name: "bench apns",
        summary: "measure how fast pushes are sent, beside h2load",
        discussion: """
            Starts a push service of its own on 127.0.0.1, in a process of its own, and sends pushes to it over one \
            connection. It checks every push as Apple's does, and counts which arrived.

            “sendAll” keeps the pushes under way by itself, “send” has a task wait for each. The time includes the \
            connection and the handshake. Processor time is that of the connection's thread and of the whole process.
            """,
        examples: [
            .init(purpose: "Beside h2load, where nghttp2-client is installed", command: "ferry bench apns --runs 7"),
            .init(
                purpose: "Whether any push is lost when the service keeps leaving",
                command: "ferry bench apns --goaway-every 1000"
            ),
        ],
        options: [
            Option(
                name: "--requests",
                value: "N",
                kind: .number(1...10_000_000),
                standard: "100000",
                help: "how many pushes a run sends"
            ),
            Option(
                name: "--streams",
                value: "N",
                kind: .number(1...1000),
                standard: "100",
                help: "how many are under way at once"
            ),
            Option(
                name: "--goaway-every",
                value: "N",
                kind: .number(1...10_000_000),
                help: "have the service leave after every so many pushes; without h2load, which does not resend"
            ),
            Option(
                name: "--runs",
                value: "N",
                kind: .number(1...1000),
                standard: "5",
                help: "how often each is measured; the medians count"
            ),
            Option(
                name: "--serve",
                value: "FOLDER",
                kind: .folder,
                help: "be the push service, with its keys in FOLDER, until standard input ends"
            ),
            .json,
        ],
        run: run
    )
}
