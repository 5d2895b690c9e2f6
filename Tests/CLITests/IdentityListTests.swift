import FerryBytes
import Foundation
import Testing

@testable import ferry

@Suite struct `A list of identities` {
    @Test func `stands for options, with paths from its own folder`() throws {
        let json = """
            [
                {"name": "Ä b", "certificate": "c.pem", "key": "pkcs11:token=T;object=O", "chain": ["/x/root.cer", "i.cer"],
                 "passwordFile": "pin", "profiles": ["a.mobileprovision", "b.mobileprovision"], "bundleID": "org.x",
                 "uniqueID": "auto", "entitlements": {"app": "a=b.plist", "org.x.share": "s.plist"}, "recipe": "r.json"},
                {"name": "two", "p12": "two.p12", "passwordEnvironment": "TWO", "entitlements": "e=f.plist"}
            ]
            """
        let list = try IdentityList(json: Array(json.utf8), file: "keys/all.json")
        #expect(list.entries.map(\.name) == ["Ä b", "two"])
        #expect(
            list.entries[0].options == [
                "--certificate": ["keys/c.pem"], "--key": ["pkcs11:token=T;object=O"],
                "--chain": ["/x/root.cer", "keys/i.cer"], "--password-file": ["keys/pin"],
                "--profile": ["keys/a.mobileprovision", "keys/b.mobileprovision"], "--bundle-id": ["org.x"],
                "--unique-id": ["auto"], "--entitlements": ["keys/a=b.plist", "org.x.share=keys/s.plist"],
                "--recipe": ["keys/r.json"],
            ]
        )
        #expect(list.entries[1].passwordVariable == "TWO")
        // Without a slash an option would take it for a bundle and its file.
        let here = try IdentityList(json: Array(json.utf8), file: "all.json")
        #expect(here.entries[1].options == ["--p12": ["two.p12"], "--entitlements": ["./e=f.plist"]])
    }

    @Test func `of the guide is read, and has every key`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../docs")
        let page = String(decoding: try Data(contentsOf: root.appendingPathComponent("many.md")), as: UTF8.self)
        let json = try #require(page.components(separatedBy: "```json\n").last?.components(separatedBy: "```").first)
        let list = try IdentityList(json: Array(json.utf8), file: "all.json")
        #expect(list.entries.map(\.name) == ["acme", "Beta Ltd"])
        let rows = page.components(separatedBy: "\n| `name` |").last?.components(separatedBy: "\n\n").first ?? ""
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
        for key in Set(object.flatMap(\.keys)) where key != "name" { #expect(rows.contains("`\(key)`"), "\(key)") }
        #expect(Set(object.flatMap(\.keys)).count == 12)
    }

    @Test(
        arguments: [
            (#"{"name": "a"}"#, "expected a list of identities, found a dictionary", "docs/many.md has every key"),
            ("[", "", nil),
            ("[]", "there is no identity in the list", "docs/many.md has every key"),
            ("[5]", "[0]: expected an identity, which is an object, found the number 5", "docs/many.md"),
            (#"[{"p12": "a"}]"#, "[0]: it has no “name”", "docs/many.md"),
            (#"[{"name": "a"}]"#, "[0]: it has neither “p12” nor both “certificate” and “key”", "docs/many.md"),
            (#"[{"name": "a", "key": "k"}]"#, "[0]: it has neither “p12” nor both", "docs/many.md"),
            (
                #"[{"name": "a", "p12": "x", "key": "k"}]"#, "[0]: “p12” goes without “certificate” and “key”",
                "Give one"
            ),
            (
                #"[{"name": "a", "p12": "x", "profile": ["x"]}]"#, "[0].profile: no identity has such a key",
                "“profiles”"
            ),
            (#"[{"name": "a", "p21": "x"}]"#, "[0].p21: no identity has such a key", "Did you mean “p12”?"),
            (#"[{"name": "a", "colour": "x"}]"#, "[0].colour: no identity has such a key", "docs/many.md"),
            (#"[{"name": "a", "password": "geheim"}]"#, "[0].password: a password does not stand", "“passwordFile”"),
            (
                #"[{"name": "a", "Password": "geheim"}]"#, "[0].Password: a password does not stand",
                "passwordEnvironment"
            ),
            (#"[{"name": "a", "p12": 5}]"#, "[0].p12: expected the path of a file, found the number 5", "docs/many.md"),
            (#"[{"name": "a", "p12": ""}]"#, "[0].p12: expected the path of a file, found the text “”", "docs/many.md"),
            (
                #"[{"name": "a", "p12": "x", "profiles": "y"}]"#,
                "[0].profiles: expected a list of paths, found the text “y”", "docs/many.md"
            ),
            (
                #"[{"name": "a", "p12": "x", "profiles": ["y", true]}]"#,
                "[0].profiles[1]: expected the path of a file, found true", "docs/many.md"
            ),
            (
                #"[{"name": "a", "p12": "x", "uniqueID": "allways"}]"#,
                "[0].uniqueID: expected one of auto, always, never, found the text “allways”", "Did you mean always?"
            ),
            (
                #"[{"name": "a", "p12": "x", "entitlements": {"a/b": "y"}}]"#,
                "[0].entitlements.a/b: no bundle has such an identifier", "docs/many.md"
            ),
            (
                #"[{"name": "a", "p12": "x", "entitlements": ["y"]}]"#,
                "[0].entitlements: expected the path of a file, or an object of bundles and files", "docs/many.md"
            ),
            (
                #"[{"name": "a", "p12": "x", "passwordFile": "y", "passwordEnvironment": "Z"}]"#,
                "[0]: “passwordFile” and “passwordEnvironment” exclude each other", "Give one of them."
            ),
            (#"[{"name": "../x"}]"#, "[0].name: expected a name that a folder may have, found the text", "slash"),
            (#"[{"name": "a/b"}]"#, "[0].name: expected a name that a folder may have", "slash"),
            (#"[{"name": ".a"}]"#, "[0].name: expected a name that a folder may have", "dot"),
            (#"[{"name": ""}]"#, "[0].name: expected a name that a folder may have", "slash"),
            (#"[{"name": "a\u001b"}]"#, "[0].name: expected a name that a folder may have", "slash"),
            (
                #"[{"name": "a", "p12": "x"}, {"name": "a", "p12": "y"}]"#, "[1]: “a” is the name of [0] already",
                "Give each a name of its own."
            ),
            (
                #"[{"name": "ä", "p12": "x"}, {"name": "Ä", "p12": "y"}]"#,
                "[1]: “Ä” is the name of [0] already, but for capitals", "Give each a name of its own."
            ),
            (
                #"[{"name": "\u00e9", "p12": "x"}, {"name": "e\u0301", "p12": "y"}]"#,
                "[1]: “e\u{301}” is the name of [0] already", "Give each a name of its own."
            ),
        ] as [(String, String, String?)]
    )
    func `says where it is wrong and what to write`(json: String, message: String, remedy: String?) throws {
        let error = try #require(throws: (any Error).self) {
            try IdentityList(json: Array(json.utf8), file: "keys/all.json")
        }
        let explained = try #require(error as? any ExplainedError)
        #expect(explained.message.hasPrefix("keys/all.json: " + message), "\(explained.message)")
        if let remedy { #expect(explained.remedy?.contains(remedy) == true, "\(explained.remedy ?? "")") }
        #expect(!explained.message.contains("geheim"))
        #expect(explained.remedy?.contains("geheim") != true)
    }
}

@Suite struct `Archives that are signed at once` {
    @Test(arguments: [(1, 2), (2, 2), (8, 2), (16, 4), (24, 6), (128, 8)])
    func `are a quarter of the cores, within bounds`(cores: Int, jobs: Int) {
        #expect(Sign.standardJobs(cores: cores) == jobs)
    }
}
