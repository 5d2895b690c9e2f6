import FerryAppBundle
import Testing

@testable import FerryCatalog

@Suite struct `A choice from a source` {
    private func version(
        _ name: String,
        build: String? = nil,
        min: String? = nil,
        max: String? = nil
    ) -> AppSource.Version {
        var version = AppSource.Version(version: name, downloadURL: "https://example.com/\(name).ipa")
        version.build = build
        version.minimumOS = min.flatMap { SystemVersion($0) }
        version.maximumOS = max.flatMap { SystemVersion($0) }
        return version
    }

    private var list: AppSource {
        var list = AppSource()
        list.apps = [
            AppSource.App(
                name: "Harbour",
                identifier: "com.example.harbour",
                versions: [
                    version("3.0", build: "31", min: "18.0"), version("3.0", build: "30", min: "18.0"),
                    version("2.0", min: "16.0", max: "17.9"), version("1.0", min: "12.0"),
                ]
            ),
            AppSource.App(
                name: "Rose",
                identifier: "com.example.chat",
                versions: [version("220.0"), version("219.0")]
            ),
            AppSource.App(
                name: "Thorn",
                identifier: "com.example.chat",
                versions: [version("220.0"), version("10.0")]
            ),
            AppSource.App(name: "Narrow", identifier: "com.example.narrow", versions: [version("1", min: "17.0")]),
            AppSource.App(
                name: "Both",
                identifier: "com.example.both",
                versions: [version("2", min: "18.0"), version("1", min: "17.0")]
            ),
        ]
        return list
    }

    private func choose(_ text: String, _ system: String? = nil) throws(CatalogError) -> ChosenVersion {
        try list.choose(try AppChoice(text), for: system.flatMap { SystemVersion($0) }, in: "Test")
    }

    @Test(
        arguments: [
            ("com.example.harbour", nil, "3.0", "31"), ("com.example.harbour", "18.1", "3.0", "31"),
            ("com.example.harbour", "17.5.1", "2.0", nil), ("com.example.harbour", "17.9.1", "1.0", nil),
            ("com.example.harbour", "12.0", "1.0", nil), ("com.example.harbour@2.0", nil, "2.0", nil),
            ("com.example.harbour@3.0", nil, "3.0", "31"), ("com.example.harbour@3.0(30)", nil, "3.0", "30"),
            ("com.example.harbour@3.0 (30)", "18.0", "3.0", "30"), ("harbour", nil, "3.0", "31"),
            ("Thorn", nil, "220.0", nil), ("com.example.chat@10.0", nil, "10.0", nil),
        ] as [(String, String?, String, String?)]
    )
    func `takes the newest version that the system runs, or the one that is named`(
        text: String,
        system: String?,
        version: String,
        build: String?
    ) throws {
        let chosen = try choose(text, system)
        #expect(chosen.version.version == version)
        #expect(chosen.version.build == build)
    }

    @Test func `tells which newer versions it passed over`() throws {
        #expect(try choose("com.example.harbour", "16.4").passedOver.map(\.build) == ["31", "30"])
        #expect(try choose("com.example.harbour").passedOver == [])
        #expect(try choose("com.example.harbour@1.0", "18.0").passedOver == [])
    }

    @Test(
        arguments: [
            (
                "com.example.harbor", nil, CatalogError.Code.unknownApp,
                "Test: there is no app “com.example.harbor” among its 5.", "Did you mean com.example.harbour?"
            ),
            (
                "COM.EXAMPLE.HARBOUR", nil, .unknownApp, "Test: there is no app “COM.EXAMPLE.HARBOUR” among its 5.",
                "Did you mean com.example.harbour?"
            ),
            (
                "zebra", nil, .unknownApp, "Test: there is no app “zebra” among its 5.",
                "ferry source with --search WORD looks for it."
            ),
            (
                "com.example.harbour@2.1", nil, .unknownVersion, "Test: Harbour has no version 2.1.",
                "Did you mean 2.0? There is 3.0, 3.0, 2.0, 1.0."
            ),
            (
                "com.example.harbour@3.0", "17.5", .system, "Test: Harbour 3.0 needs iOS 18.0, the target has 17.5.",
                "Its version 2.0 runs there."
            ),
            (
                "com.example.harbour@2.0", "18.0", .system,
                "Test: Harbour 2.0 runs up to iOS 17.9, the target has 18.0.",
                "Its version 3.0 runs there."
            ),
            (
                "com.example.narrow", "16.4", .system, "Test: Narrow 1 needs iOS 17.0, the target has 16.4.",
                "Take a target with another system."
            ),
            (
                "com.example.both", "16.4", .system,
                "Test: none of the 2 versions of Both runs there: the target has 16.4, and the least that one needs is iOS 17.0.",
                "Take a target with another system."
            ),
            (
                "com.example.chat", nil, .ambiguousApp,
                "Test: “com.example.chat” is 2 apps: “Rose” (220.0), “Thorn” (220.0).",
                "Give the name of the one that is meant instead, or its version: com.example.chat@VERSION."
            ),
            (
                "com.example.chat@220.0", nil, .ambiguousApp,
                "Test: “com.example.chat” is 2 apps: “Rose” (220.0), “Thorn” (220.0).",
                "Give the name of the one that is meant instead, or its version: com.example.chat@VERSION."
            ),
        ] as [(String, String?, CatalogError.Code, String, String)]
    )
    func `that is not there says what is`(
        text: String,
        system: String?,
        code: CatalogError.Code,
        message: String,
        remedy: String
    ) {
        let error = #expect(throws: CatalogError.self) { try choose(text, system) }
        #expect(error?.code == code)
        #expect(error?.message == message)
        #expect(error?.remedy == remedy)
    }

    @Test(arguments: ["", "@1.0", "com.example.a@", " @ "]) func `must name an app`(text: String) {
        #expect(throws: CatalogError.self) { try AppChoice(text) }
    }
}

@Suite struct `The order of versions` {
    @Test(arguments: [
        ("1.9", "1.10"), ("1.0", "1.0.1"), ("2.0-beta", "2.0"), ("2.0-beta.2", "2.0-beta.10"), ("1.2.3", "1.2.3.1"),
        ("9", "10"), ("1.15.11-0.0.8", "1.15.12"), ("99999999999999999998", "99999999999999999999"), ("", "1"),
        ("2.0a", "2.0b"), ("v1.2", "v1.3"), ("0.9", "1"),
    ])
    func `goes by numbers`(older: String, newer: String) {
        #expect(VersionNumber(older) < VersionNumber(newer))
        #expect(!(VersionNumber(newer) < VersionNumber(older)))
    }

    @Test(arguments: [("1.2", "v1.2"), ("1.0", "1"), ("1.02", "1.2"), ("2.0-Beta1", "2-beta.1"), ("", "0")])
    func `has some that are the same`(one: String, other: String) {
        #expect(VersionNumber(one) == VersionNumber(other))
    }

    @Test func `is the list's where its dates fall`() throws {
        func order(_ versions: [(String, String?)]) throws -> [String] {
            let fields = versions.map { name, date in
                "{\"version\": \"\(name)\", \"downloadURL\": \"https://e.com/\(name)\", \"date\": \"\(date ?? "")\"}"
            }
            let json = "{\"apps\": [{\"bundleIdentifier\": \"a\", \"versions\": [\(fields.joined(separator: ","))]}]}"
            return try source(json).apps[0].versions.map(\.version)
        }
        // Numbered anew, the newest first: the author knows.
        #expect(try order([("1.0", "2026-01-02"), ("805", "2026-01-01"), ("804", nil)]) == ["1.0", "805", "804"])
        // The newest last, all of one date, and none at all: by number.
        #expect(try order([("1.0", "2026-01-01"), ("1.1", "2026-01-02")]) == ["1.1", "1.0"])
        #expect(try order([("1.0", "2026-01-01"), ("1.1", "2026-01-01")]) == ["1.1", "1.0"])
        #expect(try order([("1.0", nil), ("1.1", nil)]) == ["1.1", "1.0"])
        #expect(
            try order([("1.1", "2026-01-02"), ("1.0", "2026-01-01"), ("1.2", "2026-01-03")]) == ["1.2", "1.1", "1.0"]
        )
    }
}

@Suite struct `A link to a source` {
    @Test(arguments: [
        ("https://example.com/apps.json", "https://example.com/apps.json"),
        ("altstore://source?url=https://example.com/apps.json", "https://example.com/apps.json"),
        ("sidestore://source?url=https%3A%2F%2Fexample.com%2Fapps.json%3Fa%3D1", "https://example.com/apps.json?a=1"),
        (
            "ALTSTORE-CLASSIC://source?url=https://example.com/apps.json?a=1&b=2",
            "https://example.com/apps.json?a=1&b=2"
        ),
        ("sidestore://source?x=1&url=https%3A%2F%2Fexample.com%2Fa&y=2", "https://example.com/a"),
        ("altstore://source/?url=example.com/apps.json", "https://example.com/apps.json"),
        ("feather://source/https://example.com/apps.json", "https://example.com/apps.json"),
        ("feather://source/example.com/apps.json?a=b", "https://example.com/apps.json?a=b"),
        ("feather://source/https%3A%2F%2Fexample.com%2Fapps.json", "https://example.com/apps.json"),
        ("livecontainer://sources?url=http://example.com/a", "http://example.com/a"),
        ("esign://addsource?url=https://example.com/a", "https://example.com/a"),
        ("  https://example.com/a\n", "https://example.com/a"),
    ])
    func `is its address`(text: String, url: String) throws {
        #expect(SourceLink.isMeant(by: text))
        #expect(try SourceLink.url(text) == url)
    }

    @Test(arguments: [
        ("source[abc]", CatalogError.Code.unsupported, "encoded list"),
        ("altstore://install?url=https://example.com/a.ipa", .address, "it names an archive and no source"),
        ("altstore://pal?url=https://example.com/", .address, "it names no source"),
        ("altstore://source", .address, "it names no source"), ("altstore://source?u=x", .address, "it has no url="),
        ("feather://source/", .address, "it names no source"),
        ("altstore://source?url=file:///etc/passwd", .address, "its address cannot be understood"),
        ("altstore://source?url=%zz", .address, "cannot be understood"), ("https://", .address, "cannot be understood"),
    ])
    func `can be none`(text: String, code: CatalogError.Code, words: String) {
        let error = #expect(throws: CatalogError.self) { try SourceLink.url(text) }
        #expect(error?.code == code)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(error?.remedy != nil)
    }

    @Test(arguments: ["apps.json", "games", "/tmp/apps.json", "file:///tmp/apps.json", "C:\\apps.json"])
    func `is not meant by a path or a name`(text: String) {
        #expect(!SourceLink.isMeant(by: text))
    }
}

@Suite struct `What a source says of an archive` {
    private var published: PublishedArchive {
        var published = PublishedArchive(identifier: "com.example.harbour")
        published.version = "1.2"
        published.build = "12"
        published.byteCount = 100
        published.sha256 = [UInt8](repeating: 0xAB, count: 32)
        return published
    }

    private var facts: ArchiveFacts {
        ArchiveFacts(
            identifier: "com.example.harbour",
            version: "1.2",
            build: "12",
            byteCount: 100,
            sha256: [UInt8](repeating: 0xAB, count: 32)
        )
    }

    @Test func `may fit`() throws {
        #expect(try published.check(facts, "a.ipa") == [])
        var other = facts
        other.version = "v1.2.0"
        #expect(try published.check(other, "a.ipa") == [])
        #expect(try PublishedArchive(identifier: "com.example.harbour").check(facts, "a.ipa") == [])
    }

    @Test(arguments: PublishedArchive.Trait.allCases)
    func `may not fit, and then both are told`(trait: PublishedArchive.Trait) {
        var facts = facts
        switch trait {
        case .identifier: facts.identifier = "com.example.boat"
        case .version: facts.version = "1.1"
        case .build: facts.build = nil
        case .size: facts.byteCount = 99
        case .sha256: facts.sha256 = [UInt8](repeating: 0xCD, count: 32)
        }
        let words =
            switch trait {
            case .identifier: "identifier com.example.harbour, the archive has com.example.boat"
            case .version: "version 1.2, the archive has 1.1"
            case .build: "build 12, the archive has none"
            case .size: "size 100, the archive has 99"
            case .sha256:
                "sha256 \(String(repeating: "ab", count: 32)), the archive has \(String(repeating: "cd", count: 32))"
            }
        let error = #expect(throws: CatalogError.self) { try published.check(facts, "a.ipa") }
        #expect(error?.code == .mismatch)
        #expect(error?.message == "a.ipa: the source says \(words).")
        let canPass = [.version, .build, .size].contains(trait)
        #expect(error?.remedy?.contains("--allow-mismatch") == canPass)
    }

    @Test func `may differ in what is tolerated, which is told`() throws {
        var (published, facts) = (published, facts)
        facts.version = "1.1"
        facts.build = "11"
        published.tolerated = [.version, .build]
        #expect(try published.check(facts, "a.ipa").map(\.trait) == [.version, .build])
        facts.identifier = "other"
        let error = #expect(throws: CatalogError.self) { try published.check(facts, "a.ipa") }
        #expect(error?.message == "a.ipa: the source says identifier com.example.harbour, the archive has other.")
    }
}
