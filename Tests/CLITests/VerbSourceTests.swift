import FerrySample
import Foundation
import TestKit
import Testing

/// A server with a list of apps, and the command.
struct Market: Sendable {
    let ferry: Command
    let pages: Pages

    init() throws {
        ferry = try Command()
        pages = try Pages()
    }

    var url: String { pages.server.url("/apps.json?token=secret") }
    var shown: String { pages.server.url("/apps.json?…") }

    /// Serves a list, with a validator.
    func serve(_ json: String) {
        pages.set("/apps.json?token=secret") { request in
            guard request.headers["if-none-match"] != "\"1\"" else { return HTTPServer.Response(304) }
            return HTTPServer.Response(200, [("ETag", "\"1\"")], body: Array(json.utf8))
        }
    }

    /// The archive of the kit's app on the server.
    func serveArchive(at path: String) throws {
        let file = ServedFile(try ferry.kit.folder.read("Harbour.ipa"))
        pages.set(path) { file.answer($0) }
    }

    /// A list of two good apps and one that is lost.
    static let mixed = """
        {"name": "Test Market", "sourceURL": "https://example.com/apps.json", "apps": [
          {"name": "Harbour", "bundleIdentifier": "com.example.harbour", "developerName": "Ann", "versions": [
            {"version": "3.0", "date": "2026-03-05", "size": "12600000", "downloadURL": "h3.ipa", "minOSVersion": "18.0"},
            {"version": "1.2", "buildVersion": "12", "date": "2025-01-31T10:00:00Z", "size": 4711, "downloadURL": "h1.ipa",
             "minOSVersion": "14.0"}]},
          {"name": "Lost", "version": "1"},
          {"name": "Kettle", "bundleIdentifier": "com.example.kettle", "version": "2.0", "downloadURL": "https://example.com/k.ipa"}
        ]}
        """

    /// Options of a signature and the place for apps.
    var way: [String] { ferry.kit.hands() + ["--to", "folder:" + ferry.home.path("apps")] }
}

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry source` {
    @Test func `shows the apps of a list, and tells what it lost`() async throws {
        let market = try Market()
        market.serve(Market.mixed)
        let result = try await market.ferry.run(["source", market.url])
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.text == """
                Test Market: 2 apps

                name     identifier           version  date        size   needs
                Harbour  com.example.harbour  3.0      2026-03-05  13 MB  iOS 18.0
                Kettle   com.example.kettle   2.0      –           –      –

                """
        )
        #expect(result.errors == "! apps[1] “Lost”, bundleIdentifier: it is missing; the app is left out.\n")
    }

    @Test func `shows what a system runs`() async throws {
        let market = try Market()
        market.serve(Market.mixed)
        let result = try await market.ferry.run(["source", market.url, "--os", "16.4", "--json"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await Python.value(result.output, "apps.0.versions.0.version") == "1.2")
        #expect(try await Python.value(result.output, "apps.0.versions.0.bytes") == "4711")
        #expect(try await Python.value(result.output, "apps.0.versions.0.url") == market.pages.server.url("/h1.ipa"))
        #expect(try await Python.value(result.output, "apps.0.versions.0.date") == "2025-01-31T10:00:00Z")
        #expect(try await Python.value(result.output, "problems.0.loss") == "app")
        #expect(try await Python.value(result.output, "freshness") == "fetched")
        #expect(!result.text.contains("secret"))
        let old = try await market.ferry.run(["source", market.url, "--os", "13"])
        #expect(
            old.text.contains("Harbour  com.example.harbour  –        –     –     iOS 14.0 at least"),
            "\(old.text)"
        )
    }

    @Test func `searches, and shows every version of one app`() async throws {
        let market = try Market()
        let file = try market.ferry.home.write(Array(Market.mixed.utf8), to: "apps.json")
        let found = try await market.ferry.run(["source", file, "--search", "ANN harb"])
        #expect(found.text.hasPrefix("Test Market: 1 of 2 apps\n"))
        #expect(!found.text.contains("Kettle"))
        let none = try await market.ferry.run(["source", file, "--search", "nothing"])
        #expect(none.status == 0)
        #expect(none.text == "Test Market: no match in 2 apps\n")
        let app = try await market.ferry.run(["source", file, "--app", "com.example.harbour", "--os", "16"])
        #expect(
            app.text.hasSuffix(
                """
                  ✗  3.0       2026-03-05  13 MB   –  iOS 18.0
                  ✓  1.2 (12)  2025-01-31  4.7 kB  –  iOS 14.0

                """
            ),
            "\(app.text)"
        )
        let wrong = try await market.ferry.run(["source", file, "--app", "com.example.harbor"])
        #expect(wrong.status == 1)
        #expect(wrong.errors.contains("Did you mean com.example.harbour?"))
    }

    @Test func `asks only whether the list has changed, and works without a connection`() async throws {
        let market = try Market()
        market.serve(Market.mixed)
        for _ in 0..<2 { #expect(try await market.ferry.run(["source", market.url]).status == 0) }
        #expect(market.pages.server.exchanges.map(\.status) == [200, 304])
        market.pages.server.stop()
        let result = try await market.ferry.run(["source", market.url])
        #expect(result.status == 0)
        #expect(result.text.contains("Harbour"))
        #expect(result.errors.contains("\(market.shown): this is the list as it was "))
        #expect(!result.errors.contains("secret"))
        let offline = try await market.ferry.run(["source", market.url, "--offline", "--json"])
        #expect(try await Python.value(offline.output, "freshness") == "kept")
        #expect(market.ferry.files(in: "cache/ferry/sources").filter { $0.hasSuffix(".source") }.count == 1)
    }

    @Test func `gives names that stand for lists`() async throws {
        let market = try Market()
        market.serve(Market.mixed)
        let link = "altstore://source?url=" + market.url
        let added = try await market.ferry.run(["source", "add", "games", link])
        #expect(added.status == 0, "\(added.errors)")
        #expect(added.text == "games is \(market.shown), with 2 apps\n")
        #expect(added.errors == "! \(market.shown): 1 problem; ferry source shows them.\n")
        let listed = try await market.ferry.run(["source", "list"])
        #expect(listed.text == "games  \(market.shown)\n")
        #expect(try await market.ferry.run(["source", "games"]).text.contains("Harbour"))
        let again = try await market.ferry.run(["source", "add", "games", "https://example.com/other.json"])
        #expect(again.status == 1)
        #expect(again.errors.contains("There is a source “games” already"))
        let file = try FileManager.default.attributesOfItem(atPath: market.ferry.home.path("config/ferry/sources.json"))
        #expect((file[.posixPermissions] as? Int) == 0o600)
        let typo = try await market.ferry.run(["source", "gamse"])
        #expect(typo.status == 1)
        #expect(typo.errors.contains("There is no source “gamse”."))
        #expect(typo.errors.contains("Did you mean games?"))
        #expect(try await market.ferry.run(["source", "remove", "games"]).status == 0)
        #expect(try await market.ferry.run(["source", "remove", "games"]).status == 1)
        let empty = try await market.ferry.run(["source", "list", "--json"])
        #expect(empty.text == "{\"sources\":[]}\n")
    }

    @Test func `names nothing that is no list`() async throws {
        let market = try Market()
        market.pages.set("/apps.json?token=secret", Array("<html>\n".utf8))
        let result = try await market.ferry.run(["source", "add", "games", market.url])
        #expect(result.status == 1)
        #expect(result.errors.contains("\(market.shown): this is a web page and no app source"))
        #expect(market.ferry.files(in: "config") == [])
        let unchecked = try await market.ferry.run(["source", "add", "games", market.url, "--unchecked"])
        #expect(unchecked.status == 0, "\(unchecked.errors)")
    }

    @Test func `keeps every name where several are given at once`() async throws {
        let market = try Market()
        try await withThrowingTaskGroup(of: Int32.self) { group in
            for index in 0..<8 {
                group.addTask {
                    try await market.ferry.run(
                        ["source", "add", "list\(index)", "https://example.com/\(index)", "--unchecked"]
                    ).status
                }
            }
            for try await status in group { #expect(status == 0) }
        }
        let listed = try await market.ferry.run(["source", "list"])
        #expect(listed.text.split(separator: "\n").count == 8)
    }
}

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry install from a list` {
    private func list(_ fields: String = "", version: String = "1.2") -> String {
        """
        {"apps": [{"name": "Harbour", "bundleIdentifier": "com.example.harbour", "versions": [
          {"version": "9.0", "date": "2026-02-02", "downloadURL": "none.ipa", "minOSVersion": "26.0"},
          {"version": "\(version)", "date": "2026-01-01", "downloadURL": "Harbour.ipa"\(fields)}
        ]}]}
        """
    }

    @Test func `carries the newest version that the system runs to a folder`() async throws {
        let market = try Market()
        let bytes = try market.ferry.kit.folder.read("Harbour.ipa")
        let sum = try #require(Tool("sha256sum"))
        let digest = try await onThread { try sum.run([], input: bytes).text.prefix(64).uppercased() }
        market.serve(list(", \"size\": \"\(bytes.count)\", \"sha256\": \"\(digest)\""))
        try market.serveArchive(at: "/Harbour.ipa")
        let result = try await market.ferry.run(
            ["install", "--source", market.url, "com.example.harbour", "--os", "18.1"] + market.way
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text == market.ferry.home.path("apps/com.example.harbour/Harbour.app") + "\n")
        #expect(
            result.errors.contains(
                "! Harbour: it comes by plain HTTP, and so does its list: anybody on the way can change it."
            )
        )
        #expect(result.errors.contains("! Harbour: 1.2 is taken instead of 9.0, which needs iOS 26.0."))
        #expect(!result.errors.contains("secret"))
    }

    @Test(arguments: [
        (", \"size\": 5", "size", "5 bytes were expected, but the file has"),
        (", \"buildVersion\": \"999\"", "version", "the source says build 999, the archive has"),
    ])
    func `refuses what is not as the list says, unless that is allowed`(
        fields: String,
        what: String,
        words: String
    ) async throws {
        let market = try Market()
        market.serve(list(fields))
        try market.serveArchive(at: "/Harbour.ipa")
        let arguments = ["install", "--source", market.url, "com.example.harbour@1.2"] + market.way
        let refused = try await market.ferry.run(arguments + ["--json"])
        #expect(refused.status == 1)
        let message = try await Python.value(refused.output, "error.message")
        #expect(message.contains(words), "\(message)")
        #expect(try await Python.value(refused.output, "error.remedy").contains("--allow-mismatch \(what)"))
        #expect(market.ferry.files(in: "apps") == [])
        let allowed = try await market.ferry.run(arguments + ["--allow-mismatch", what])
        #expect(allowed.status == 0, "\(allowed.errors)")
    }

    @Test func `never takes another app`() async throws {
        let market = try Market()
        market.serve(list().replacing("com.example.harbour", with: "com.example.other"))
        try market.serveArchive(at: "/Harbour.ipa")
        let result = try await market.ferry.run(
            ["install", "--source", market.url, "com.example.other@1.2", "--allow-mismatch", "version"] + market.way
        )
        #expect(result.status == 1)
        #expect(
            result.errors.contains(
                "the source says identifier com.example.other, the archive has com.example.harbour"
            ),
            "\(result.errors)"
        )
        #expect(market.ferry.files(in: "apps") == [])
    }

    @Test(
        arguments: [
            (["com.example.harbor"], 1, "Did you mean com.example.harbour?"),
            (["com.example.harbour@1.3"], 1, "Did you mean 1.2?"),
            (["com.example.harbour@9.0", "--os", "16"], 1, "needs iOS 26.0, the target has 16.0."),
            (["com.example.harbour", "--os", "new"], 2, "“new” is no version"),
            (["com.example.harbour", "--allow-mismatch", "id"], 2, "is not version or size"),
        ] as [([String], Int32, String)]
    )
    func `says what there is where it cannot`(arguments: [String], status: Int32, words: String) async throws {
        let market = try Market()
        market.serve(list())
        let result = try await market.ferry.run(["install", "--source", market.url] + arguments + market.way)
        #expect(result.status == status)
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(market.ferry.files(in: "apps") == [])
    }

    /// The id of the one install that is written down.
    private func job(_ market: Market) async throws -> String {
        let jobs = try await market.ferry.run(["jobs", "--all", "--json"])
        #expect(try await Python.value(jobs.output, "0.source") == "com.example.harbour")
        return try await Python.value(jobs.output, "0.id")
    }

    @Test func `goes on with what was asked for, once a list's token is given again`() async throws {
        let market = try Market()
        market.serve(list(", \"size\": 5"))
        let failed = try await market.ferry.run(
            ["install", "--source", market.url, "com.example.harbour", "--os", "18.1", "--allow-mismatch", "size"]
                + market.way
        )
        #expect(failed.status == 1, "there is no archive yet")
        for name in market.ferry.files(in: "state/ferry/record") where name.contains("sqlite") {
            let bytes = try market.ferry.home.read("state/ferry/record/" + name)
            #expect(!bytes.has("secret"), "\(name)")
        }
        try market.serveArchive(at: "/Harbour.ipa")
        let id = try await job(market)
        let refused = try await market.ferry.run(["resume", id])
        #expect(refused.status == 2)
        #expect(refused.errors.contains("ferry resume \(id) --url URL"), "\(refused.errors)")
        let other = try await market.ferry.run(["resume", id, "--url", market.pages.server.url("/Harbour.ipa")])
        #expect(other.status == 2)
        let result = try await market.ferry.run(["resume", id, "--url", market.url])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("1.2 is taken instead of 9.0, which needs iOS 26.0."))
        #expect(result.errors.contains("the source says size 5, the archive has"), "\(result.errors)")
        #expect(result.text == market.ferry.home.path("apps/com.example.harbour/Harbour.app") + "\n")
    }

    @Test(arguments: ["apps.json", "games"])
    func `goes on from another folder, by the list's file or name`(named: String) async throws {
        let market = try Market()
        let whole = list().replacing("\"Harbour.ipa\"", with: "\"\(market.pages.server.url("/Harbour.ipa"))\"")
        market.serve(whole)
        try market.ferry.home.write(Array(whole.utf8), to: "apps.json")
        #expect(try await market.ferry.run(["source", "add", "games", market.url]).status == 0)
        let words = ["install", "--source", named, "com.example.harbour", "--os", "18.1"] + market.way
        #expect(try await market.ferry.run(words).status == 1, "there is no archive yet")
        try market.serveArchive(at: "/Harbour.ipa")
        let resume = ["resume", try await job(market)]
        let environment = market.ferry.environment
        let result = try await onThread {
            try Tool(path: Command.path).run(resume, in: "/", environment: environment)
        }
        #expect(result.status == 0, "\(result.errors)")
        #expect(market.ferry.files(in: "apps/com.example.harbour/Harbour.app").contains("Info.plist"))
    }

    @Test func `fetches anew what an earlier process fetched and the list no longer means`() async throws {
        let market = try Market()
        market.serve(list(", \"buildVersion\": \"999\"").replacing("Harbour.ipa", with: "Old.ipa"))
        try market.serveArchive(at: "/Old.ipa")
        let words = ["install", "--source", market.url, "com.example.harbour", "--os", "18.1"] + market.way
        #expect(try await market.ferry.run(words).status == 1, "the archive has another build")
        var app = SampleApp()
        app.build = "999"
        let file = ServedFile(try app.archive(level: 1))
        market.pages.set("/Old.ipa") { file.answer($0) }
        let result = try await market.ferry.run(["resume", try await job(market), "--url", market.url])
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test(arguments: [["--os", "16"], ["--allow-mismatch", "size"]])
    func `has options that say nothing without a list`(option: [String]) async throws {
        let market = try Market()
        let result = try await market.ferry.run(
            ["install", market.ferry.kit.path("Harbour.ipa")] + option + market.way
        )
        #expect(result.status == 2)
        #expect(result.errors.contains("\(option[0]) goes with --source."))
    }
}
