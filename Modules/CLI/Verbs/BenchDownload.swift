/// `ferry bench download`: how fast a file comes, beside curl and aria2c.
enum BenchDownload {
    static let verb = Verb(
        name: "bench download",
        summary: "measure how fast a file comes, beside curl and aria2c",
        discussion: """
            Serves a file from memory by an nginx of its own on 127.0.0.1, and has it fetched into memory by ferry, curl \
            and aria2c in turn, each as a process of its own. Only ferry computes the SHA-256 on the way; so curl is also \
            measured with sha256sum after it. The time is that of the whole process.
            """,
        examples: [
            .init(
                purpose: "A gigabyte, where nginx-light, curl and aria2 are installed",
                command: "ferry bench download"
            ),
            .init(
                purpose: "Over a far, slow line, which the tests bring along",
                command: "ferry bench download --bytes 200000000 --connections 8 "
                    + "--through '.build/release/ferry-slow-line {port} 80 4000000'"
            ),
            .init(
                purpose: "From a server of the net",
                command: "ferry bench download --url https://example.com/large.ipa --runs 3"
            ),
        ],
        options: [
            Option(
                name: "--bytes",
                value: "N",
                kind: .number(1...64_000_000_000),
                standard: "1073741824",
                help: "how long the file is"
            ),
            Option(
                name: "--connections",
                value: "N",
                kind: .number(1...16),
                help: "by how many connections ferry and aria2c fetch it; otherwise ferry chooses, and aria2c has four"
            ),
            Option(
                name: "--through",
                value: "COMMAND",
                help: "a proxy to fetch it through: is given the server's {port}, and prints its own"
            ),
            Option(name: "--url", value: "URL", kind: .url, help: "fetch this instead, from wherever it is"),
            Option(
                name: "--runs",
                value: "N",
                kind: .number(1...1000),
                standard: "5",
                help: "how often each is measured; the medians count"
            ),
            .json,
        ],
        run: run
    )
}
