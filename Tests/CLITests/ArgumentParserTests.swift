import Testing

@testable import ferry

/// A verb with one option of every sort.
let sample = Verb(
    name: "paint",
    summary: "paint things",
    positionals: [
        Positional(name: "WALL", kind: .text, help: "what to paint"),
        Positional(name: "MORE", kind: .text, help: "what else", isOptional: true, repeats: true),
    ],
    options: [
        Option(name: "--output", short: "-o", value: "FILE", kind: .file([]), help: "where"),
        Option(name: "--quick", short: "-q", help: "be quick"),
        Option(name: "--verbose", short: "-v", help: "talk"),
        Option(name: "--colour", short: "-c", value: "NAME", kind: .text, count: .list, help: "colours"),
        Option(name: "--note", value: "TEXT", count: .repeated, help: "notes"),
        Option(name: "--coats", value: "N", kind: .number(1...9), standard: "2", help: "how often"),
        Option(name: "--finish", value: "SORT", kind: .choice(["matt", "gloss"]), help: "how it shines"),
        Option(name: "--digest", value: "HEX", kind: .hexadecimal(digits: 4), help: "a digest"),
        Option(
            name: "--to",
            value: "PLACE",
            kind: .forms([.init(text: "here"), .init(text: "folder:", rest: .folder)]),
            help: "where to"
        ),
    ],
    run: { _ in .done }
)

@Suite struct `A command line` {
    @Test(
        arguments: [
            ("a", ["WALL": ["a"]]),
            ("a b c", ["WALL": ["a"], "MORE": ["b", "c"]]),
            ("a --output x", ["WALL": ["a"], "--output": ["x"]]),
            ("--output x a", ["WALL": ["a"], "--output": ["x"]]),
            ("--output=x a", ["WALL": ["a"], "--output": ["x"]]),
            ("--output=x=y a", ["WALL": ["a"], "--output": ["x=y"]]),
            ("--output=-x a", ["WALL": ["a"], "--output": ["-x"]]),
            ("-o x a", ["WALL": ["a"], "--output": ["x"]]),
            ("-ox a", ["WALL": ["a"], "--output": ["x"]]),
            ("-o - a", ["WALL": ["a"], "--output": ["-"]]),
            ("-", ["WALL": ["-"]]),
            ("-q a", ["WALL": ["a"], "--quick": []]),
            ("-q -q a", ["WALL": ["a"], "--quick": []]),
            ("-qv a", ["WALL": ["a"], "--quick": [], "--verbose": []]),
            ("-qvox a", ["WALL": ["a"], "--quick": [], "--verbose": [], "--output": ["x"]]),
            ("-vo x a", ["WALL": ["a"], "--verbose": [], "--output": ["x"]]),
            ("a --colour r g b", ["WALL": ["a"], "--colour": ["r", "g", "b"]]),
            ("a --colour r g -c b -q", ["WALL": ["a"], "--colour": ["r", "g", "b"], "--quick": []]),
            ("--colour r g -- a", ["WALL": ["a"], "--colour": ["r", "g"]]),
            ("--colour=r a", ["WALL": ["a"], "--colour": ["r"]]),
            ("-cr a", ["WALL": ["a"], "--colour": ["r"]]),
            ("--note x a --note y", ["WALL": ["a"], "--note": ["x", "y"]]),
            ("-- --quick -v --", ["WALL": ["--quick"], "MORE": ["-v", "--"]]),
            ("a --coats 9", ["WALL": ["a"], "--coats": ["9"]]),
            ("a --finish gloss", ["WALL": ["a"], "--finish": ["gloss"]]),
            ("a --to folder:x --digest 00fF", ["WALL": ["a"], "--to": ["folder:x"], "--digest": ["00fF"]]),
            ("a --to here", ["WALL": ["a"], "--to": ["here"]]),
        ] as [(String, [String: [String]])]
    )
    func `is understood`(line: String, given: [String: [String]]) throws {
        #expect(try sample.parse(line.split(separator: " ").map(String.init)).given == given)
    }
}
