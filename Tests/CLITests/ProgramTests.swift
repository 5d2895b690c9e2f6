import FerryBytes
import Synchronization
import Testing

@testable import ferry

/// What a program wrote, stream by stream.
final class Recording: Sendable {
    private let texts = Mutex((output: "", errors: ""))
    /// What was written as the result.
    var output: String { texts.withLock { $0.output } }
    /// What was written beside it.
    var errors: String { texts.withLock { $0.errors } }

    /// A console that writes here.
    func console(columns: Int = 80) -> Console {
        Console(
            output: .init(columns: columns) { bytes in
                self.texts.withLock { $0.output += String(decoding: bytes, as: UTF8.self) }
            },
            errors: .init(columns: columns) { bytes in
                self.texts.withLock { $0.errors += String(decoding: bytes, as: UTF8.self) }
            }
        )
    }
}

/// A program whose verbs end in each of the ways.
private let endings = Program(
    name: "ferry",
    version: "9",
    summary: "end",
    verbs: [
        Verb(name: "fail", summary: "fail", options: [.json]) { _ in
            throw FileFailure("open", "/x/y", errorNumber: 2)
        },
        Verb(name: "stop", summary: "stop") { _ in throw CancellationError() },
        Verb(name: "refuse", summary: "refuse") { _ in .refused },
        Verb(name: "odd", summary: "odd") { _ in throw OutOfBounds(offset: 1, needed: 2, available: 3) },
        Verb(name: "work", summary: "work", options: [.json]) { invocation in
            try invocation.console.printJSON(["path": "a/b", "json": "\(invocation.arguments.flag("--json"))"])
            return .done
        },
    ]
)

@Suite struct `The program` {
    private func run(_ line: String, _ program: Program = endings) async -> (code: ExitCode, out: String, err: String) {
        let recording = Recording()
        let arguments = line.split(separator: " ").map(String.init)
        let code = await program.run(arguments, console: recording.console(), environment: [:])
        return (code, recording.output, recording.errors)
    }

    @Test(
        arguments: [
            ("fail", .failed, "ferry: /x/y: cannot open: No such file or directory.\n       Check the path.\n"),
            (
                "fail --json", .failed,
                #"{"error":{"code":"failed","message":"/x/y: cannot open: No such file or directory."#
                    + #"","remedy":"Check the path."}}"# + "\n"
            ),
            ("stop", .cancelled, "ferry: Cancelled.\n"),
            ("refuse", .refused, ""),
            ("odd", .failed, "ferry: 2 bytes are needed at offset 0x1, but only 3 are there\n"),
            ("fial", .usage, "ferry: “fial” is nothing that ferry does.\n       Did you mean fail? See: ferry help\n"),
            (
                "--fail", .usage,
                "ferry: --fail is no option of ferry itself.\n"
                    + "       Options of a verb go after the verb. See: ferry help\n"
            ),
            ("fail x", .usage, "ferry: “x” is one argument too many for ferry fail.\n       See: ferry help fail\n"),
            (
                "fail --jsn --json", .usage,
                #"{"error":{"code":"unknownOption","message":"--jsn is no option of ferry fail."#
                    + #"","remedy":"Did you mean --json? See: ferry help fail"}}"# + "\n"
            ),
        ] as [(String, ExitCode, String)]
    )
    func `says on standard error how it ended`(line: String, code: ExitCode, errors: String) async {
        let result = await run(line)
        #expect(result.code == code)
        #expect(result.err == errors)
        #expect(result.out == "")
    }

    @Test func `writes results as data on one line`() async {
        let result = await run("work --json")
        #expect(result.code == .done)
        #expect(result.out == #"{"json":"true","path":"a/b"}"# + "\n")
    }

    @Test func `shows its version`() async {
        #expect(await run("--version", .ferry).out == "ferry 0.1.0\n")
    }

    @Test(arguments: ["--help", "-h", "help"]) func `shows what it does`(line: String) async {
        let result = await run(line, .ferry)
        #expect(result.code == .done)
        for verb in Program.ferry.verbs {
            #expect(result.out.contains("\n  \(verb.name) "))
        }
    }

    @Test func `without a verb says what it does, as an error`() async {
        let result = await run("", .ferry)
        #expect(result.code == .usage)
        #expect(result.out == "")
        #expect(result.err == (await run("help", .ferry).out))
    }

    @Test(arguments: ["help sign", "sign --help", "sign -h", "sign a --bogus --help", "sign -o --help"])
    func `explains a verb`(line: String) async {
        let result = await run(line, .ferry)
        #expect(result.code == .done)
        #expect(result.out.hasPrefix("Re-sign archives.\n\nUsage\n  ferry sign IN... -o FILE"))
    }

    @Test func `takes --help after -- as an argument`() async {
        #expect(await run("inspect -- --help", .ferry).code == .failed)
    }

    @Test func `suggests a verb to explain`() async {
        #expect(await run("help sing", .ferry).err.contains("Did you mean sign?"))
    }
}

@Suite struct `Help` {
    @Test func `of a verb is two columns, wrapped`() {
        let text = HelpPage(columns: 60, hasStyle: false).page(of: Download.verb)
        #expect(
            text == """
                Download a file, going on where an earlier try ended.

                Usage
                  ferry download URL -o FILE [OPTIONS]

                What has arrived is kept until the file is whole: the same
                command given again goes on from there, where the server
                proves that its file is still the same. A large file from a
                slow server comes by several connections.

                A full disk holds the download until there is room again.

                Arguments
                  URL  the file's https address

                Downloading
                      --connections N    how many connections one file comes
                                         by; otherwise as many as bring it
                                         faster, at most 16
                      --limit-rate RATE  the most bytes a second, of all
                                         connections together: 800k, 2M
                      --proxy URL        the proxy to go through; otherwise
                                         what http_proxy, https_proxy and
                                         no_proxy say
                      --ca-file FILE     certificates to trust instead of
                                         the system's (PEM)

                Logins
                      --header-file FILE  send these header fields along,
                                          one “Name: value” a line, to the
                                          address's own host
                      --bearer-file FILE  send the token in the first line
                                          as “Authorization: Bearer”, to the
                                          address's own host
                      --netrc             take logins from ~/.netrc
                      --netrc-file FILE   take logins from this file of that
                                          form

                Other options
                  -o, --output FILE     where the file goes; it appears
                                        there when it is complete
                      --sha256 HEX      the SHA-256 that the download must
                                        have
                      --mirror URL      another address of the same file,
                                        for when the first fails; with
                                        --sha256 both bring parts; may be
                                        given several times
                      --reporter WHERE  where to show how far it is:
                                        terminal, json:FILE, json:- (JSON
                                        lines on standard output), apns:FILE
                                        (a phone's Live Activity) or
                                        exec:PROGRAM (a program of yours
                                        that reads JSON lines); may be given
                                        several times
                      --json            print the result, and any error, as
                                        one line of JSON
                  -h, --help            show this help

                Examples
                  With a checksum:
                    ferry download https://example.com/Harbour.ipa -o Harbour.ipa --sha256 \
                9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08

                  From a second server where the first fails, no faster than
                  2 MB a second:
                    ferry download https://example.com/Harbour.ipa --mirror \
                https://example.org/Harbour.ipa -o Harbour.ipa --limit-rate 2M

                  With a token, from a server of your own authority:
                    ferry download https://builds.example/Harbour.ipa -o Harbour.ipa \
                --bearer-file token.txt --ca-file authority.pem

                """
        )
    }

    @Test(arguments: [(500, 100), (100, 100), (72, 72), (3, 60)])
    func `keeps to the terminal's width, and to 100`(columns: Int, widest: Int) {
        let page = HelpPage(columns: columns, hasStyle: false)
        for verb in Program.ferry.verbs {
            let copied = Set(verb.examples.map { "    " + $0.command })
            for line in page.page(of: verb).split(separator: "\n") where !copied.contains(String(line)) {
                #expect(line.count <= widest, "\(line)")
                #expect(line.last != " ")
            }
        }
    }

    @Test func `has bold headings where they show`() {
        #expect(HelpPage(columns: 80, hasStyle: true).page(of: sample).contains("\u{1B}[1mOptions\u{1B}[0m\n"))
        #expect(!HelpPage(columns: 80, hasStyle: false).page(of: sample).contains("\u{1B}"))
    }

    @Test(arguments: Program.ferry.verbs.map(\.name))
    func `has examples that the parser takes`(name: String) throws {
        let verb = try Program.ferry.named(name)
        for example in verb.examples {
            // What the shell would replace or take away is of no interest to the parser.
            let plain = example.command.replacing(#/ > .*/#, with: "").replacing(#/<\(.*?\)|'[^']*'/#, with: "X=Y")
            let words = plain.split(separator: " ").map(String.init)
            guard words.first == "ferry" else { continue }
            #expect(words.dropFirst().prefix(verb.words.count).elementsEqual(verb.words))
            #expect(throws: Never.self) { try verb.parse(Array(words.dropFirst(1 + verb.words.count))) }
        }
    }
}
