import FerryPropertyList
import Foundation
import TestKit
import Testing

@Suite
struct `A JSON text` {
    @Test func `becomes a property list, with dates and data, in its order`() throws {
        let text = """
            {"z": "a\\u00e4\\ud83c\\udf0a\\n\\/", "a": [1, -2, 1.0, 1e3, true, false, {}, []],
             "d": {"$date": "2026-01-31T00:00:00Z"}, "b": {"$data": "aGk="}, "big": 18446744073709551615}
            """
        let value = try PropertyList.parse(json: Array(text.utf8))
        #expect(
            value == [
                "z": "aä🌊\n/", "a": [1, -2, 1.0, 1000.0, true, false, [:], []],
                "d": .date(PropertyListDate(secondsSince1970: 1_769_817_600)), "b": .data(Array("hi".utf8)),
                "big": .unsigned(.max),
            ]
        )
        #expect(value.dictionary?.keys == ["z", "a", "d", "b", "big"])
    }

    /// Texts that are no JSON, and where each is wrong.
    private static let faults: [(text: String, words: String)] = [
        ("", "ends where a value is due"), ("{", "a key in quotes is due"), ("[1,]", "no value begins"),
        (#"{"a":1,}"#, "a key in quotes"), (#"{"a":1 "b":2}"#, "a comma or a closing brace"),
        (#"{"a":1,"a":2}"#, "comes twice"), ("01", "a zero too many"), ("-", "no digits"), ("1.", "after a point"),
        ("1e", "in an exponent"), ("1e999", "out of range"), ("99999999999999999999", "does not fit"),
        ("null", "null is no value"), (#"{"a": null}"#, "null is no value"), ("\"a", "does not end"),
        ("\"a\nb\"", "a control character"), (#""\x""#, "is no escape"), (#""\u12g4""#, "four hexadecimal"),
        (#""\ud800""#, "half a surrogate"), (#""\ud800\u0041""#, "half a surrogate"), ("1 2", "something follows"),
        ("tru", "no value begins"), (#"{"$date": "tomorrow"}"#, "is no date"), (#"{"$data": "?"}"#, "no base64"),
        ("{\n\n\"a\" 1}", "line 3"),
    ]

    @Test(arguments: faults)
    private func `that is wrong is refused with its place`(fault: (text: String, words: String)) {
        let error = #expect(throws: PropertyListError.self) { try PropertyList.parse(json: Array(fault.text.utf8)) }
        #expect(error?.message.contains(fault.words) == true, "\(error?.message ?? "")")
    }

    @Test func `that was published for others is read with what their reader takes`() throws {
        let text = """
            \u{FEFF}{"a": [1, null, 2,], "b": null, "c": "x\ty", "a": "again", "d": "\\ud800\\u0041", "e": 1e999,
             "f": 99999999999999999999, "g": {"$date": "tomorrow",}, "h": "\\udc00", }
            """
        #expect(
            try PropertyList.parse(json: Array(text.utf8), dialect: .published) == [
                "a": [1, [:], 2], "c": "x\ty", "d": "\u{FFFD}A", "e": .real(.infinity), "f": .real(1e20),
                "g": ["$date": "tomorrow"], "h": "\u{FFFD}",
            ]
        )
    }

    @Test(arguments: [
        "[,]", "{,}", "[1,,]", "{\"a\":1,,}", "[1 2]", "null", "[nul]", "[1]]", "\"\\ud8", "{\"a\"}", "[1,",
    ])
    func `that was published for others and is wrong all the same is refused`(text: String) {
        #expect(throws: PropertyListError.self) { try PropertyList.parse(json: Array(text.utf8), dialect: .published) }
        // As it is by the reader whose ways the dialect has.
        #expect(throws: (any Error).self) { try JSONDecoder().decode([String: Int?].self, from: Data(text.utf8)) }
    }

    @Test func `that is nested too deep is refused, not followed`() {
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
        let error = #expect(throws: PropertyListError.self) { try PropertyList.parse(json: deep) }
        #expect(error?.code == .tooMuch)
    }

    @Test func `of any bytes is read as Foundation reads it, or refused`() throws {
        var generator = SeededGenerator(seed: 5)
        let letters = Array(#"{}[]",:truefalsn0123.-e\u "#.utf8)
        var accepted = 0
        for _ in 0..<20000 {
            let count = Int.random(in: 0..<12, using: &generator)
            let text = (0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] }
            let own = try? PropertyList.parse(json: text)
            let lenient = try? PropertyList.parse(json: text, dialect: .published)
            #expect(own == nil || lenient != nil, "\(String(decoding: text, as: UTF8.self)), seed \(generator.seed)")
            let other = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            if own != nil {
                accepted += 1
                #expect(other != nil, "\(String(decoding: text, as: UTF8.self)), seed \(generator.seed)")
            }
        }
        #expect(accepted > 100)
    }
}
