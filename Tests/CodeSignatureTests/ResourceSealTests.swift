import FerryBytes
import FerryPropertyList
import Foundation
import TestKit
import Testing

@testable import FerryCodeSignature

private func file(_ text: String) -> ResourceSeal.Content {
    .file(Digests(of: Array(text.utf8)))
}

/// A seal as Python's plistlib reads it: the paths of a list of files, each with what its entry holds.
private func pythonEntries(_ seal: [UInt8], _ list: String) throws -> [String: String] {
    let script = """
        import plistlib, sys, json
        seal = plistlib.loads(sys.stdin.buffer.read())
        def show(value):
            if isinstance(value, bytes): return value.hex()
            if isinstance(value, dict): return " ".join(k + "=" + show(value[k]) for k in sorted(value))
            return str(value)
        json.dump({path: show(value) for path, value in seal[sys.argv[1]].items()}, sys.stdout)
        """
    let shown = try #require(Tool("python3")).run(["-c", script, list], input: seal)
    try #require(shown.status == 0, "\(shown.errors)")
    return try JSONDecoder().decode([String: String].self, from: Data(shown.output))
}

@Suite struct `A resource seal` {
    private static let names = [
        "a.txt", "a&b<c>.txt", "q\"uote'.txt", " lead", "trail ", "データ.txt", "tab\there", "emoji😀", "u\u{308}ni",
        "\u{FC}ni",
    ]

    @Test(.enabled(if: Tool("python3") != nil, "python3 is missing"), arguments: [false, true])
    func `is read by plistlib with every name and hash`(includesSHA1: Bool) throws {
        let contents: [(path: String, content: ResourceSeal.Content)] =
            Self.names.map { ($0, file($0)) } + [
                ("Info.plist", file("i")), ("PkgInfo", file("p")), ("sub/Info.plist", file("s")),
                ("link", .link(target: "../<x>&")), (".DS_Store", file("d")), ("sub/.DS_Store", file("d")),
                ("en.lproj/a.strings", file("e")), ("Base.lproj/a.nib", file("b")),
                ("fr.lproj/locversion.plist", file("f")), ("version.plist", file("v")), ("A.dSYM/x", file("y")),
                ("embedded.mobileprovision", file("m")),
                // Never sealed.
                ("_CodeSignature/CodeResources", file("c")), ("CodeResources", file("c")),
                ("_MASReceipt/receipt", file("r")),
            ]
        let seal = ResourceSeal.encoded(contents, includesSHA1: includesSHA1)
        func sha1(_ text: String) -> String { HashAlgorithm.sha1.digest(Array(text.utf8)).hex }
        func both(_ text: String) -> String {
            (includesSHA1 ? "hash=\(sha1(text)) " : "") + "hash2=" + HashAlgorithm.sha256.digest(Array(text.utf8)).hex
        }
        var files = Dictionary(uniqueKeysWithValues: Self.names.map { (Array($0.utf8), sha1($0)) })
        var files2 = Dictionary(uniqueKeysWithValues: Self.names.map { (Array($0.utf8), both($0)) })
        for (name, text) in [
            ("sub/Info.plist", "s"), ("Base.lproj/a.nib", "b"), ("version.plist", "v"), ("A.dSYM/x", "y"),
            ("embedded.mobileprovision", "m"),
        ] {
            files[Array(name.utf8)] = sha1(text)
            files2[Array(name.utf8)] = both(text)
        }
        // The old rules know neither .DS_Store nor Info.plist nor PkgInfo as special.
        for (name, text) in [("Info.plist", "i"), ("PkgInfo", "p"), (".DS_Store", "d"), ("sub/.DS_Store", "d")] {
            files[Array(name.utf8)] = sha1(text)
        }
        files[Array("en.lproj/a.strings".utf8)] = "hash=\(sha1("e")) optional=True"
        files2[Array("en.lproj/a.strings".utf8)] = both("e") + " optional=True"
        files2[Array("link".utf8)] = "symlink=../<x>&"
        // Swift's own strings would take the two spellings of ü for one key.
        func exact(_ list: String) throws -> [[UInt8]: String] {
            let shown = try pythonEntriesExactly(seal, list)
            return Dictionary(uniqueKeysWithValues: shown)
        }
        #expect(try exact("files") == files)
        #expect(try exact("files2") == files2)
    }

    private func pythonEntriesExactly(_ seal: [UInt8], _ list: String) throws -> [([UInt8], String)] {
        let script = """
            import plistlib, sys
            seal = plistlib.loads(sys.stdin.buffer.read())
            def show(value):
                if isinstance(value, bytes): return value.hex()
                if isinstance(value, dict): return " ".join(k + "=" + show(value[k]) for k in sorted(value))
                return str(value)
            for path, value in seal[sys.argv[1]].items(): print(path.encode().hex() + ":" + show(value))
            """
        let shown = try #require(Tool("python3")).run(["-c", script, list], input: seal)
        try #require(shown.status == 0, "\(shown.errors)")
        return try shown.text.split(separator: "\n").map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (try #require([UInt8](hex: String(parts[0]))), String(parts[1]))
        }
    }

    @Test(.enabled(if: SharedFolder.exists && Tool("python3") != nil, "\(SharedFolder.absent)"))
    func `that Xcode made is read as plistlib reads it`() throws {
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: SharedFolder.corpus("isign-CodeResources"))))
        let seal = try ResourceSeal(parsing: bytes)
        let (files, files2) = (try pythonEntries(bytes, "files"), try pythonEntries(bytes, "files2"))
        #expect(files.count > 5)
        #expect(seal.files.count == files.count)
        #expect(seal.files2.count == files2.count)
        for (path, shown) in files {
            let entry = try #require(seal.files[path])
            #expect(shown.contains(try #require(entry.sha1).hex))
            #expect(shown.contains("optional=True") == entry.isOptional)
            // Its own rules say what its entries say.
            #expect(seal.rules.kind(of: path) == (entry.isOptional ? .optional : .required))
        }
        for (path, shown) in files2 {
            let entry = try #require(seal.files2[path])
            #expect(entry.sha1.map { shown.contains($0.hex) } ?? true)
            #expect(entry.sha256.map { shown.contains($0.hex) } ?? true)
            #expect(shown.contains("optional=True") == entry.isOptional)
            #expect(seal.rules2?.kind(of: path) == (entry.isOptional ? .optional : .required))
        }
    }

    @Test(.enabled(if: SharedFolder.exists && Tool("unzip") != nil, "\(SharedFolder.absent)"))
    func `made from the files of an app has the entries that Apple's tool gave it`() throws {
        let unzip = try #require(Tool("unzip"))
        let archive = SharedFolder.corpus("fastlane-very-capable-app.ipa")
        let app = "Payload/very-capable-app.app/"
        let names = try unzip.run(["-Z1", archive]).text.split(separator: "\n").map(String.init)
        var contents: [(path: String, content: ResourceSeal.Content)] = []
        for name in names where name.hasPrefix(app) && !name.hasSuffix("/") && name != app + "very-capable-app" {
            let bytes = try unzip.run(["-p", archive, name]).output
            contents.append((String(name.dropFirst(app.count)), .file(Digests(of: bytes))))
        }
        let bytes = try unzip.run(["-p", archive, app + ResourceSeal.path]).output
        let theirs = try ResourceSeal(parsing: bytes)
        let hasSHA1 = theirs.files2.all.contains { $0.entry.sha1 != nil }
        let ours = try ResourceSeal(parsing: ResourceSeal.encoded(contents, includesSHA1: hasSHA1))
        #expect(theirs.files2.count > 3)
        #expect(ours.files == theirs.files)
        #expect(ours.files2 == theirs.files2)
        // It has rules for macOS too, two of them of one weight, and both match these; they are not in the seal.
        #expect(theirs.rules2?.kind(of: "Info.plist") == .omitted)
        #expect(theirs.rules2?.kind(of: "PkgInfo") == .omitted)
        #expect(SealVerifier.verify(theirs, contents: contents, bundle: "a") == [])
    }

    @Test func `that is cut or changed is an error or another seal, never a trap`() throws {
        let seal = ResourceSeal.encoded([("a", file("a")), ("b", .link(target: "a"))], includesSHA1: true)
        for length in 0..<seal.count - 1 {
            _ = try? ResourceSeal(parsing: Array(seal[..<length]))
        }
        for length in stride(from: 0, to: seal.count - 20, by: 13) {
            let error = #expect(throws: CodeSignatureError.self) { try ResourceSeal(parsing: Array(seal[..<length])) }
            #expect(error?.code == .seal)
        }
        for index in seal.indices {
            var changed = seal
            changed[index] ^= 0x15
            guard let seal = try? ResourceSeal(parsing: changed) else { continue }
            _ = SealVerifier.verify(seal, contents: [("a", file("a"))], bundle: "x")
        }
    }

    @Test(arguments: [
        "[]", "{}", "{ rules = (); }", "{ rules = { \"^.*\" = 1; }; files = (); }", "{ rules = { \"^(\" = 1; }; }",
    ])
    func `of another shape is refused`(description: String) throws {
        let shapes: [String: PropertyList] = [
            "[]": .array([]), "{}": .dictionary([:]), "{ rules = (); }": .dictionary(["rules": .array([])]),
            "{ rules = { \"^.*\" = 1; }; files = (); }": .dictionary(["rules": ["^.*": true], "files": .array([])]),
            "{ rules = { \"^(\" = 1; }; }": .dictionary(["rules": ["^(": true]]),
        ]
        let bytes = try #require(shapes[description]).encoded(as: .xml)
        let error = #expect(throws: CodeSignatureError.self) { try ResourceSeal(parsing: bytes) }
        #expect(error?.code == .seal)
    }
}

@Suite struct `A check of a seal` {
    private let contents: [(path: String, content: ResourceSeal.Content)] = [
        ("a", file("a")), ("b", file("b")), ("Info.plist", file("i")), ("en.lproj/x", file("x")),
        ("l", .link(target: "a")),
        (".DS_Store", file("d")), ("u\u{308}", file("1")), ("\u{FC}", file("2")),
        ("_CodeSignature/\u{301}x", file("3")),
    ]

    private func faults(
        _ change: (inout [(path: String, content: ResourceSeal.Content)]) -> Void
    ) throws -> [String] {
        let seal = try ResourceSeal(parsing: ResourceSeal.encoded(contents, includesSHA1: true))
        var changed = contents
        change(&changed)
        return SealVerifier.verify(seal, contents: changed, bundle: "A.app").map { "\($0.code.rawValue) \($0.place)" }
    }

    @Test func `finds nothing where nothing changed`() throws {
        #expect(try faults { _ in } == [])
    }

    @Test func `finds each change`() throws {
        #expect(try faults { $0[0].content = file("A") } == ["sealed-file-changed A.app/a"])
        #expect(try faults { $0.removeFirst() } == ["sealed-file-missing A.app/a"])
        #expect(try faults { $0.append(("new", file("n"))) } == ["file-not-sealed A.app/new"])
        #expect(try faults { $0[4].content = .link(target: "b") } == ["sealed-file-changed A.app/l"])
        #expect(try faults { $0[4].content = file("a") } == ["sealed-file-changed A.app/l"])
        #expect(try faults { $0[0].content = .link(target: "b") } == ["sealed-file-changed A.app/a"])
        #expect(try faults { $0[3].content = file("X") } == ["sealed-file-changed A.app/en.lproj/x"])
        // Sealed by the old rules only.
        #expect(try faults { $0[2].content = file("I") } == ["sealed-file-changed A.app/Info.plist"])
    }

    @Test func `lets what is optional be missing`() throws {
        #expect(try faults { $0.remove(at: 3) } == [])
    }

    @Test func `tells names apart by their bytes`() throws {
        #expect(try faults { $0[6].content = file("2") } == ["sealed-file-changed A.app/u\u{308}"])
        #expect(try faults { $0.remove(at: 7) } == ["sealed-file-missing A.app/\u{FC}"])
        #expect(try faults { $0.remove(at: 6) } == ["sealed-file-missing A.app/u\u{308}"])
    }

    @Test func `knows a part of the signature by its bytes`() throws {
        #expect(ResourceSeal.isSignaturePart("_CodeSignature/\u{301}x"))
        #expect(!ResourceSeal.isSignaturePart("_CodeSignature\u{301}/x"))
        #expect(!ResourceSeal.isSignaturePart("sub/_CodeSignature/x"))
    }
}

@Suite struct `A rule of a seal` {
    // What `printf '%s\n' PATH | LC_ALL=C grep -cE PATTERN` says.
    @Test(arguments: [
        (#"^Resources/"#, "Resources/a", true), (#"^Resources/"#, "a/Resources/a", false),
        (#"^Resources/.*\.lproj/"#, "Resources/en.lproj/a", true),
        (#"^Resources/.*\.lproj/"#, "Resources/enXlproj/a", false),
        (#"^[^/]+$"#, "a", true), (#"^[^/]+$"#, "a/b", false),
        (#"^(Frameworks|SharedFrameworks|PlugIns)/"#, "PlugIns/x", true),
        (#"^(Frameworks|SharedFrameworks|PlugIns)/"#, "Plug/x", false),
        (#".*\.dSYM($|/)"#, "x.dSYM", true), (#".*\.dSYM($|/)"#, "x.dSYM/a", true),
        (#".*\.dSYM($|/)"#, "x.dSYMs", false),
        (#"^a{2,3}$"#, "aa", true), (#"^a{2,3}$"#, "aaaa", false), (#"^[a-c]+x?$"#, "abcx", true),
        (#"^[]x]$"#, "]", true),
        (#"^(a|b)*c$"#, "ababc", true), (#"^(a|b)*c$"#, "abdc", false), (#"a+b"#, "xaab", true), (#"a.c"#, "abc", true),
        (#"^[[:digit:]]+$"#, "123", true), (#"^[[:digit:]]+$"#, "12a", false), (#"x$"#, "ax", true),
        (#"x$"#, "xa", false),
    ])
    func `matches as grep -E does`(pattern: String, path: String, expected: Bool) throws {
        let rules = try ResourceRules(.dictionary([pattern: true]))
        #expect((rules.kind(of: path) == .required) == expected)
        let grep = try #require(Tool("grep"))
        let counted = try grep.run(
            ["-cE", "--", pattern],
            input: Array((path + "\n").utf8),
            environment: ["LC_ALL": "C"]
        )
        #expect((counted.text == "1\n") == expected)
    }

    @Test(
        arguments: [
            "^(a+)+$", "^(a|a)*$", "^(a*)*b*$", "(.*)(.*)(.*)(.*)(.*)(.*)(.*)x", "(){255}{255}{255}{255}{255}",
            "a+++++++++++++++", "((a?){30}){30}", "(a{0,255}){0,255}",
        ],
        [40, 4000]
    )
    func `ends soon, whatever a stranger wrote`(pattern: String, length: Int) throws {
        // Or it is refused; the limit is far from what a pattern that backtracks would take.
        let time = ContinuousClock().measure {
            _ = try? ResourceRules(.dictionary([pattern: true])).kind(of: String(repeating: "a", count: length) + "!")
        }
        #expect(time < .seconds(20))
    }

    @Test(arguments: ["(", "[a", "a)", "*a", #"\"#, "a{2", "a{3,2}", "[z-a]", String(repeating: "(", count: 5000)])
    func `that is no expression is refused`(pattern: String) {
        let error = #expect(throws: CodeSignatureError.self) { try ResourceRules(.dictionary([pattern: true])) }
        #expect(error?.code == .seal)
    }

    @Test func `is one of not too many`() {
        func rules(_ count: Int) -> PropertyList {
            var rules = PropertyList.Dictionary()
            for number in 0..<count { rules["^\(number)/"] = true }
            return .dictionary(rules)
        }
        #expect(throws: Never.self) { try ResourceRules(rules(ResourceRules.ruleLimit)) }
        #expect(throws: CodeSignatureError.self) { try ResourceRules(rules(ResourceRules.ruleLimit + 1)) }
    }

    /// How many rules of how many steps each are still read: 8,192 steps is the most.
    @Test(arguments: [("(a{250}){16}", 2, true), ("(a{250}){16}", 3, false), ("a{64}", 110, true)])
    func `have no more steps together than can be matched against many files`(
        pattern: String,
        count: Int,
        isRead: Bool
    ) throws {
        var rules = PropertyList.Dictionary()
        for number in 0..<count { rules["^\(number)" + pattern] = true }
        if isRead {
            #expect(try ResourceRules(.dictionary(rules)).kind(of: "a") == nil)
        } else {
            #expect(throws: CodeSignatureError.self) { try ResourceRules(.dictionary(rules)) }
        }
    }
}
