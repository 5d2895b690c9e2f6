import FerryAppBundle
import FerryPropertyList
import Testing

@Suite
struct `A path of keys` {
    @Test(arguments: [
        ("A", ["A"]), ("A.B.0", ["A", "B", "0"]), (#"A\.B.C\\D"#, ["A.B", #"C\D"#]), ("é.ü", ["é", "ü"]),
    ])
    func `parts at dots and is written as it was read`(text: String, parts: [String]) throws {
        let path = try PropertyPath(text)
        #expect(path.parts == parts)
        #expect(path.description == text)
    }

    @Test(arguments: ["", ".", "A.", ".A", "A..B", #"A\"#, String(repeating: "a.", count: 40) + "a"])
    func `with an empty part, or too many, is none`(text: String) {
        let error = #expect(throws: AppBundleError.self) { try PropertyPath(text) }
        #expect(error?.code == .keyPath)
        #expect(error?.remedy != nil)
    }

    private static let list: PropertyList = ["a": ["b": [["c": 1], 2]], "s": "text"]

    /// A path, a value put there, and what comes of it.
    private static let puts: [(path: String, value: PropertyList, result: PropertyList?)] = [
        ("a.b.0.c", "x", ["a": ["b": [["c": "x"], 2]], "s": "text"]),
        ("a.b.2", true, ["a": ["b": [["c": 1], 2, true]], "s": "text"]),
        ("a.b.2.d", 1, ["a": ["b": [["c": 1], 2, ["d": 1]]], "s": "text"]),
        ("n.e.w", 1.5, ["a": ["b": [["c": 1], 2]], "s": "text", "n": ["e": ["w": 1.5]]]),
        ("a", [:], ["a": [:], "s": "text"]),
        ("a.b.3", 1, nil), ("a.b.-1", 1, nil), ("a.b.x", 1, nil), ("s.t", 1, nil), ("a.b.1.x", 1, nil),
    ]

    @Test(arguments: puts)
    private func `puts a value there, or says why not`(
        put: (path: String, value: PropertyList, result: PropertyList?)
    ) throws {
        var list = Self.list
        let path = try PropertyPath(put.path)
        if let result = put.result {
            try list.set(put.value, at: path)
            #expect(list == result)
            #expect(list[at: path] == put.value)
        } else {
            #expect(throws: AppBundleError.self) { try list.set(put.value, at: path) }
            #expect(list == Self.list)
        }
    }

    @Test func `removes a value there`() throws {
        var list = Self.list
        #expect(list.remove(at: try PropertyPath("a.b.0.c")))
        #expect(list.remove(at: try PropertyPath("a.b.1")))
        #expect(list.remove(at: try PropertyPath("s")))
        #expect(!list.remove(at: try PropertyPath("s")))
        #expect(!list.remove(at: try PropertyPath("a.b.9")))
        #expect(list == ["a": ["b": [[:]]]])
    }
}

@Suite
struct `A typed value` {
    private static let values: [(text: String, value: PropertyList)] = [
        ("true", true), ("false", false), ("True", "True"), ("12", 12), ("-3", -3), ("007", "007"), ("--1", "--1"),
        ("1.5", 1.5), ("1e3", 1000.0), ("-0.5", -0.5), ("1.2.3", "1.2.3"), ("", ""), ("e", "e"), ("inf", "inf"),
        ("nan", "nan"), ("0x10", "0x10"), ("text", "text"), ("string:12", "12"), ("string:", ""),
        ("integer:12", 12), ("real:2", 2.0), ("boolean:true", true), ("[1, \"a\"]", [1, "a"]),
        (#"{"a": {"$data": "aGk="}}"#, ["a": .data([0x68, 0x69])]), (#""12""#, "12"),
        ("data:aGk=", .data([0x68, 0x69])),
        ("date:2001-01-01T00:00:00Z", .date(PropertyListDate(secondsSince2001: 0))),
        ("18446744073709551615", .unsigned(.max)), ("0", 0), ("-0", 0),
    ]

    @Test(arguments: values)
    private func `is what it looks like`(typed: (text: String, value: PropertyList)) throws {
        #expect(try PropertyList(typed: typed.text) == typed.value)
    }

    @Test func `stays text where text was`() throws {
        #expect(try PropertyList(typed: "1.0", replacing: "0.9") == "1.0")
        #expect(try PropertyList(typed: "true", replacing: "x") == "true")
        #expect(try PropertyList(typed: "real:1.0", replacing: "0.9") == 1.0)
        #expect(try PropertyList(typed: "[1]", replacing: "0.9") == [1])
        #expect(try PropertyList(typed: "1.0", replacing: 2) == 1.0)
    }

    @Test(arguments: ["integer:x", "integer:1.5", "date:now", "data:?", "boolean:1", "[1", "{\"a\":null}", "real:x"])
    func `that is not of its kind is refused`(text: String) {
        let error = #expect(throws: AppBundleError.self) { try PropertyList(typed: text) }
        #expect(error?.code == .value)
    }
}
