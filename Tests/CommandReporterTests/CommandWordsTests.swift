import TestKit
import Testing

@testable import FerryCommandReporter

@Suite struct `A command line` {
    static let lines: [(String, [String])] = [
        ("wall", ["wall"]), ("  wall  --room   a ", ["wall", "--room", "a"]),
        (#"wall "the big one""#, ["wall", "the big one"]),
        (#"wall 'it''s' "a\"b\\c\d""#, ["wall", "its", #"a"b\c\d"#]),
        (#"./my\ wall a""b"#, ["./my wall", "ab"]), (#"wall '' """#, ["wall", "", ""]),
        ("wall\ta\nb", ["wall", "a", "b"]),
        ("wall $HOME *.txt", ["wall", "$HOME", "*.txt"]), ("灯籠 é", ["灯籠", "é"]),
    ]

    @Test(arguments: lines) func `is parted as a shell parts it`(line: String, words: [String]) throws {
        #expect(try CommandWords.split(line) == words)
        // A shell says the same, where it would not look for variables and files.
        guard !line.contains("$"), let shell = Tool("sh") else { return }
        let printed = try shell.run([
            "-c", "for word in \(line.split(separator: "\n").joined(separator: " ")); do printf '%s|' \"$word\"; done",
        ])
        #expect(printed.text == words.map { $0 + "|" }.joined())
    }

    @Test(arguments: ["", "  ", "'wall", "wall \"a", "wall \\", "''", "a\u{0}b"])
    func `that is none is refused with a remedy`(line: String) {
        #expect { try CommandWords.split(line) } throws: { error in
            (error as? CommandReporterError)?.code == .command && (error as? CommandReporterError)?.remedy != nil
        }
    }
}
