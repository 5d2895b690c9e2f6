import FerryPropertyList
import TestKit
import Testing

@Suite
struct `A strings file` {
    private static let text = """
        /* Name below the icon; "quoted" */
        "CFBundleDisplayName" = "Hafen";   // "CFBundleDisplayName" = "no";
        CFBundleName = Harbour.1;
        'single' = 'it;';
        """

    /// A text, what it says, and what becomes of it with another display name.
    struct Golden: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let values: [String: String]
        let changed: String

        init(_ description: String, _ text: String, _ values: [String: String], _ changed: String) {
            testDescription = description
            self.text = text
            self.values = values
            self.changed = changed
        }
    }

    static let key = "CFBundleDisplayName"

    private static let goldens = [
        Golden(
            "comments around it",
            "/* \"x\" = 1; */\n\"CFBundleDisplayName\" = \"Hafen\"; // \"CFBundleDisplayName\" = \"no\";\nb=c.d;",
            [key: "Hafen", "b": "c.d"],
            "/* \"x\" = 1; */\n\"CFBundleDisplayName\" = \"Ü \\\"q\\\"\"; // \"CFBundleDisplayName\" = \"no\";\nb=c.d;"
        ),
        Golden(
            "a word as key and value",
            "CFBundleDisplayName=Hafen;",
            [key: "Hafen"],
            "CFBundleDisplayName=\"Ü \\\"q\\\"\";"
        ),
        Golden(
            "escapes",
            #""a\"b" = "x\n\t\\\U00fc\u00fC\344";"#.replacing("\\344", with: "\\101"),
            ["a\"b": "x\n\t\\üüA"],
            #""a\"b" = "x\n\t\\\U00fc\u00fC\101";"# + "\n\"CFBundleDisplayName\" = \"Ü \\\"q\\\"\";\n"
        ),
        Golden("no value", "\"CFBundleDisplayName\";\n", [key: key], "\"CFBundleDisplayName\" = \"Ü \\\"q\\\"\";\n"),
        Golden(
            "twice, and the last counts",
            "CFBundleDisplayName = a;\nCFBundleDisplayName = b",
            [key: "b"],
            "CFBundleDisplayName = \"Ü \\\"q\\\"\";\nCFBundleDisplayName = \"Ü \\\"q\\\"\""
        ),
        Golden("empty", "", [:], "\"CFBundleDisplayName\" = \"Ü \\\"q\\\"\";\n"),
        Golden("only a comment", "// nothing", [:], "// nothing\n\"CFBundleDisplayName\" = \"Ü \\\"q\\\"\";\n"),
        Golden("braces", "{ a = b; }", ["a": "b"], "{ a = b; \n\"CFBundleDisplayName\" = \"Ü \\\"q\\\"\";\n}"),
        Golden(
            "single quotes",
            "'a b' = 'c\"d';\n",
            ["a b": "c\"d"],
            "'a b' = 'c\"d';\n\"CFBundleDisplayName\" = \"Ü \\\"q\\\"\";\n"
        ),
        Golden(
            "a surrogate pair by escapes",
            #"a = "\Ud83c\Udf0a";"#,
            ["a": "🌊"],
            #"a = "\Ud83c\Udf0a";"# + "\n\"CFBundleDisplayName\" = \"Ü \\\"q\\\"\";\n"
        ),
        Golden(
            "no semicolon at the end",
            "a = b;\nc = \"d\"",
            ["a": "b", "c": "d"],
            "a = b;\nc = \"d\"\n;\n\"CFBundleDisplayName\" = \"Ü \\\"q\\\"\";\n"
        ),
        Golden(
            "no semicolon before a comment",
            "a = b // c",
            ["a": "b"],
            "a = b // c\n;\n\"CFBundleDisplayName\" = \"Ü \\\"q\\\"\";\n"
        ),
        Golden(
            "no semicolon before a brace",
            "{ a = b\n}",
            ["a": "b"],
            "{ a = b\n;\n\"CFBundleDisplayName\" = \"Ü \\\"q\\\"\";\n}"
        ),
        Golden(
            "a key alone, without a semicolon",
            "a",
            ["a": "a"],
            "a\n;\n\"CFBundleDisplayName\" = \"Ü \\\"q\\\"\";\n"
        ),
        Golden("Windows lines", "a = b;\r\n", ["a": "b"], "a = b;\r\n\"CFBundleDisplayName\" = \"Ü \\\"q\\\"\";\n"),
    ]

    /// How a text may be written, with the bytes.
    enum Writing: String, CaseIterable {
        case utf8, utf8Marked, littleMarked, bigMarked, little, big

        func bytes(_ text: String) -> [UInt8] {
            switch self {
            case .utf8: Array(text.utf8)
            case .utf8Marked: [0xEF, 0xBB, 0xBF] + Array(text.utf8)
            case .littleMarked: [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
            case .bigMarked: [0xFE, 0xFF] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            case .little: text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
            case .big: text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            }
        }
    }

    @Test(arguments: goldens, Writing.allCases)
    private func `of the old style keeps all but the text that changes`(golden: Golden, writing: Writing) throws {
        // Without a mark an empty text is UTF-8.
        guard !golden.text.isEmpty || writing != .little && writing != .big else { return }
        let file = try StringsFile(bytes: writing.bytes(golden.text))
        var values: [String: String] = [:]
        for (key, value) in file.dictionary { values[key] = value.string }
        #expect(values == golden.values)
        let changed = file.setting(Self.key, to: "Ü \"q\"")
        #expect(changed == writing.bytes(golden.changed), "\(String(decoding: changed, as: UTF8.self))")
        #expect(try StringsFile(bytes: changed)[Self.key] == "Ü \"q\"")
    }

    @Test func `may hold data, arrays and dictionaries`() throws {
        let text = "a = <0fbd77 1C>; b = (x, \"y z\", ); c = { d = { e = f; }; };"
        let file = try StringsFile(bytes: Array(text.utf8))
        #expect(file.dictionary == ["a": .data([0x0F, 0xBD, 0x77, 0x1C]), "b": ["x", "y z"], "c": ["d": ["e": "f"]]])
    }

    @Test(
        .enabled(if: Tool("python3") != nil, "python3 is missing"),
        arguments: [PropertyList.Format.binary, .xml]
    )
    func `that is a property list stays one, as plistlib sees it`(format: PropertyList.Format) throws {
        let list: PropertyList = ["CFBundleDisplayName": "Hafen", "x": "y & z", "n": ["one": "1"]]
        let changed = try StringsFile(bytes: list.encoded(as: format)).setting(Self.key, to: "Ü \"q\" <&>")
        let script =
            "import sys,plistlib,json; d=sys.stdin.buffer.read(); p=plistlib.loads(d);"
            + "print(json.dumps(p,sort_keys=True,ensure_ascii=False), d[:6]==b'bplist')"
        let seen = try #require(Tool("python3")).run(["-c", script], input: changed, environment: ["PYTHONUTF8": "1"])
        let expected = #"{"CFBundleDisplayName": "Ü \"q\" <&>", "n": {"one": "1"}, "x": "y & z"}"#
        #expect(seen.text == "\(expected) \(format == .binary ? "True" : "False")\n", "\(seen.errors)")
    }

    /// Texts that are no strings file, and why.
    private static let faults: [(text: String, words: String)] = [
        ("\"a", "a text does not end"), ("a = ", "ends where a text is due"), ("a b;", "a semicolon is due"),
        ("/* x", "a comment does not end"), ("a = <0>;", "half a byte"), ("a = <0g>;", "no hexadecimal digit"),
        ("a = (b c);", "a comma or a closing"), ("a = {b = c;", "a closing brace"), ("}", "no text begins"),
        ("{a=b;} c", "something follows"), (#"a = "\U""#, "hexadecimal digits are due"),
        (#"a = "\377";"#, "past ASCII"),
        ("\n\na = \"\\Ud800\";", "line 3"), ("a = <00", "data does not end"), ("\"a\\", "a text does not end"),
    ]

    @Test(arguments: faults)
    private func `that is damaged is refused with its place`(fault: (text: String, words: String)) {
        let error = #expect(throws: PropertyListError.self) { try StringsFile(bytes: Array(fault.text.utf8)) }
        #expect(error?.message.contains(fault.words) == true, "\(error?.message ?? "")")
    }

    @Test func `in what cannot be read, or is too much, is refused`() {
        for bytes: [UInt8] in [
            [0xFF, 0xFE, 0, 0], [0, 0, 0xFE, 0xFF], [0xFF, 0xFE, 0x20], [0x22, 0xFF, 0x22, 0x3B],
        ] {
            #expect(throws: PropertyListError.self) { try StringsFile(bytes: bytes) }
        }
        let deep = Array("a = ".utf8) + [UInt8](repeating: UInt8(ascii: "("), count: 1_000_000)
        let error = #expect(throws: PropertyListError.self) { try StringsFile(bytes: deep) }
        #expect(error?.code == .tooMuch)
    }

    @Test func `cut at any length or with any byte changed is read or refused`() throws {
        var generator = SeededGenerator(seed: 3)
        for writing in Writing.allCases {
            let whole = writing.bytes(Self.text + " d = <00>; e = (1, 2); f = {g = h;};")
            #expect(try StringsFile(bytes: whole).dictionary.count == 6)
            for count in 0..<whole.count { _ = try? StringsFile(bytes: Array(whole[..<count])) }
            for place in whole.indices {
                var changed = whole
                changed[place] = UInt8.random(in: 0...255, using: &generator)
                guard let file = try? StringsFile(bytes: changed) else { continue }
                let edited = try StringsFile(bytes: file.setting(Self.key, to: "x\\\"\n\u{1}"))
                #expect(edited[Self.key] == "x\\\"\n\u{1}", "byte \(place), seed \(generator.seed)")
            }
        }
    }
}
