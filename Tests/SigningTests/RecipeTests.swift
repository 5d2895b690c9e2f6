import FerryAppBundle
import FerryPropertyList
import FerrySigning
import Foundation
import TestKit
import Testing

@Suite
struct `A recipe` {
    /// Where the guides are.
    private static let docs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("docs")

    /// The example of the guide, which has every key.
    static func example() throws -> [UInt8] {
        let guide = try String(contentsOf: docs.appendingPathComponent("recipe.md"), encoding: .utf8)
        let parts = guide.components(separatedBy: "```json\n")
        let block = try #require(parts.dropFirst().first?.components(separatedBy: "\n```").first)
        return Array(block.utf8)
    }

    @Test func `of the guide has every key, and is read`() throws {
        let recipe = try SigningRecipe(json: Self.example(), folder: "/recipes")
        #expect(recipe.displayName == "Harbour Two")
        #expect(recipe.icon == "/recipes/icon.png")
        #expect(recipe.devices == [.iphone, .ipad])
        #expect(recipe.settings.first?.key.description == "UIStatusBarHidden")
        let json = try #require(
            JSONSerialization.jsonObject(with: Data(Self.example())) as? [String: Any]
        )
        #expect(Set(json.keys) == Set(SigningRecipe.keys))
        let guide = try String(contentsOf: Self.docs.appendingPathComponent("recipe.md"), encoding: .utf8)
        for key in SigningRecipe.keys { #expect(guide.contains("`\(key)`"), "\(key) has a line in the guide") }
    }

    @Test func `comes back from JSON as it went`() throws {
        let recipe = try SigningRecipe(json: Self.example())
        let encoder = JSONEncoder()
        let again = try SigningRecipe(json: Array(encoder.encode(recipe)))
        #expect(Set(again.settings) == Set(recipe.settings))
        var (one, other) = (recipe, again)
        one.settings = []
        other.settings = []
        // Objects of JSON have no order.
        one.addedFiles.sort { $0.path < $1.path }
        other.addedFiles.sort { $0.path < $1.path }
        #expect(one == other)
        // By any decoder, too.
        let decoded = try JSONDecoder().decode(SigningRecipe.self, from: Data(Self.example()))
        #expect(decoded.displayName == recipe.displayName)
        #expect(decoded.keptExtensions == recipe.keptExtensions)
    }

    /// What is wrong, and the words that say where and what.
    private static let faults: [(json: String, words: [String])] = [
        ("[]", ["r.json: expected an object, found an array"]),
        ("{", ["r.json: The JSON is wrong at line 1"]),
        (#"{"nmae": "x"}"#, ["r.json: nmae: no recipe has such a key", "Did you mean “name”?"]),
        (#"{"minimumos": "x"}"#, ["minimumos: no recipe has", "“minimumOS”"]),
        (#"{"zzzzzzzzzz": 1}"#, ["zzzzzzzzzz: no recipe has", "docs/recipe.md"]),
        (#"{"name": 5}"#, ["r.json: name: expected a text, found the number 5"]),
        (#"{"version": 1.0}"#, ["version: expected a text, found the number 1.0"]),
        (#"{"fileSharing": "yes"}"#, ["fileSharing: expected true or false, found the text “yes”"]),
        (#"{"devices": ["iphone", "ipod"]}"#, ["devices[1]: expected one of iphone, ipad", "“ipod”"]),
        (#"{"devices": "ipad"}"#, ["devices: expected a list of devices, found the text “ipad”"]),
        (#"{"devices": []}"#, ["devices: expected at least one"]),
        (#"{"appearance": "drak"}"#, ["appearance: expected one of light, dark, automatic", "Did you mean dark?"]),
        (#"{"set": {"A..B": 1}}"#, ["set.A..B", "one of its parts is empty"]),
        (#"{"set": [1]}"#, ["set: expected an object of keys and values, found an array"]),
        (#"{"unset": ["a", 1]}"#, ["unset[1]: expected a text, found the number 1"]),
        (#"{"add": {"x": true}}"#, ["add.x: expected the path of a file, found true"]),
        (#"{"inject": "x.dylib"}"#, ["inject: expected a list of files, found the text “x.dylib”"]),
        (#"{"inject": [1]}"#, ["inject[0]: expected the path of a file, or an object with file, into, weak"]),
        (#"{"inject": [{"into": "all"}]}"#, ["inject[0]: expected an object with the key file"]),
        (#"{"inject": [{"file": "x", "inot": "all"}]}"#, ["inject[0].inot: what is injected", "Did you mean “into”?"]),
        (#"{"inject": [{"file": "x", "weak": "no"}]}"#, ["inject[0].weak: expected true or false"]),
        (#"{"injectBy": "path"}"#, ["injectBy: expected one of rpath, executable-path"]),
        (#"{"removeDylibs": ["a", 2]}"#, ["removeDylibs[1]: expected a text, found the number 2"]),
        (#"{"renameDylibs": {"a": 2}}"#, ["renameDylibs.a: expected a path, found the number 2"]),
        (#"{"dropExtensions": "some"}"#, ["dropExtensions: expected “all” or a list of texts"]),
        (#"{"entitlements": {"app": 1}}"#, ["entitlements.app: expected the path of a file, or an object"]),
        (#"{"name": null}"#, ["null is no value"]),
        (#"{"name": "a", "name": "b"}"#, ["comes twice"]),
    ]

    @Test(arguments: faults)
    private func `that is wrong says where and what is right`(fault: (json: String, words: [String])) {
        let error = #expect(throws: RecipeError.self) {
            try SigningRecipe(json: Array(fault.json.utf8), file: "r.json")
        }
        let whole = (error?.message ?? "") + " " + (error?.remedy ?? "")
        for words in fault.words { #expect(whole.contains(words), "\(words) in \(whole)") }
    }

    @Test func `gives way to what another one says`() throws {
        let one = try SigningRecipe(
            json: Array(
                #"{"name": "a", "build": "1", "set": {"X": 1, "Y": 1}, "add": {"f": "1", "g": "1"}, "remove": ["r"], "inject": ["t"], "renameDylibs": {"a": "1", "b": "1"}}"#
                    .utf8
            )
        )
        let other = try SigningRecipe(
            json: Array(
                #"{"name": "b", "set": {"X": 2}, "unset": ["Y"], "add": {"f": "2"}, "remove": ["r", "s"], "inject": ["t", "u"], "renameDylibs": {"a": "2"}}"#
                    .utf8
            )
        )
        let both = one.overridden(by: other)
        #expect(both.displayName == "b")
        #expect(both.build == "1")
        #expect(both.settings.map(\.value) == [.exact(1), .exact(2)])
        #expect(both.unsets.map(\.description) == ["Y"])
        #expect(Set(both.addedFiles.map { $0.path + $0.source }) == ["f2", "g1"])
        #expect(both.removedFiles == ["r", "s"])
        #expect(both.injections.map(\.source) == ["t", "u"])
        #expect(both.renamedLibraries.map { $0.name + $0.path }.sorted() == ["a2", "b1"])
    }

    @Test(arguments: [
        ("A.B", nil, "A.B"), ("com.x.share:A", "com.x.share", "A"), ("*:A.0", "*", "A.0"), (#"A\:B"#, nil, #"A\:B"#),
    ])
    func `names keys of bundles`(text: String, bundle: String?, path: String) throws {
        let key = try SigningRecipe.Key(text)
        #expect(key.bundle == bundle)
        #expect(key.description == text)
    }
}
