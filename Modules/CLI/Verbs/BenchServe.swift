/// `ferry bench serve`: how fast phones are served, beside nginx.
enum BenchServe {
    static let verb = Verb(
        name: "bench serve",
        summary: "measure how fast phones are served, beside nginx",
        discussion: """
            Offers one app by a link, as ferry serve does, and has nginx serve the same files with the same certificate, both \
            on 127.0.0.1. curl fetches the archive from each in turn, by https and by http; the length of what came is \
            checked. Then h2load asks for the link's state, a few dozen bytes, again and again on connections that stay: \
            nginx has a file of that length for it. Ferry has two threads for the network, so nginx has two processes.

            Client and server share the machine's cores: the ratios within one run are what counts.
            """,
        examples: [
            .init(purpose: "Where nginx-light, curl and nghttp2-client are installed", command: "ferry bench serve"),
            .init(purpose: "A quick look", command: "ferry bench serve --bytes 50000000 --requests 20000 --runs 3"),
        ],
        options: [
            Option(
                name: "--bytes",
                value: "N",
                kind: .number(1_000_000...2_000_000_000),
                standard: "268435456",
                help: "how long the archive is, about"
            ),
            Option(
                name: "--requests",
                value: "N",
                kind: .number(1...100_000_000),
                standard: "100000",
                help: "how many small requests a run has"
            ),
            Option(
                name: "--connections",
                value: "N",
                kind: .number(1...1_000),
                standard: "32",
                help: "by how many connections they come"
            ),
            Option(
                name: "--runs",
                value: "N",
                kind: .number(1...1000),
                standard: "7",
                help: "how often each is measured; the medians count"
            ),
            .json,
        ],
        run: run
    )
}
