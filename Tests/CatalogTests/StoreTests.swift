import FerryAppBundle
import FerryBytes
import FerryWeb
import Foundation
import TestKit
import Testing

@testable import FerryCatalog

private let body = Array(
    #"{"apps": [{"bundleIdentifier": "com.example.a", "version": "1", "downloadURL": "a.ipa"}]}"#.utf8
)
private let newer = Array(
    #"{"apps": [{"bundleIdentifier": "com.example.b", "version": "2", "downloadURL": "b.ipa"}]}"#.utf8
)

/// A server of one list, a cache, and a date that is set by hand.
private struct World: Sendable {
    let pages: Pages
    let folder: TemporaryFolder
    let clock = WallClock()

    /// Seconds since 1970 that pass when a test says so.
    final class WallClock: Sendable {
        let time = Guarded<Int64>(1_000_000)
    }

    init() throws {
        pages = try Pages()
        folder = try TemporaryFolder()
    }

    var url: String { pages.server.url("/apps.json?token=secret") }
    var place: String { pages.server.url("/apps.json?…") }
    var path: String { "/apps.json?token=secret" }

    func store(offline: Bool = false, limits: SourceLimits = SourceLimits()) -> SourceStore {
        let web = WebFetch(timeout: .seconds(20))
        let clock = clock
        let ask: SourceStore.Ask = { try await web.answer(to: $0) }
        return SourceStore(
            folder: folder.path("ferry/sources"),
            ask: offline ? nil : ask,
            now: { clock.time.withLock { $0 } },
            limits: limits
        )
    }

    /// Serves a body with an ETag, and 304 to who has it.
    func serve(_ body: [UInt8], _ fields: [(name: String, value: String)] = [("ETag", "\"1\"")]) {
        pages.set(path) { request in
            let isSame = fields.contains { name, value in
                request.headers[name == "ETag" ? "if-none-match" : "if-modified-since"] == value
            }
            return isSame ? HTTPServer.Response(304) : HTTPServer.Response(200, fields, body: body)
        }
    }

    func files() throws -> [String] { try folder.contents().filter { $0.hasSuffix(".source") } }
}

@Suite(.timeLimit(.minutes(10))) struct `A store of sources` {
    @Test func `gives what the server has, with addresses from where it is`() async throws {
        let world = try World()
        world.serve(body)
        let stored = try await world.store().source(at: world.url)
        #expect(stored.freshness == .fetched)
        #expect(stored.warning == nil)
        #expect(stored.place == world.place)
        #expect(stored.source.apps[0].versions[0].downloadURL == world.pages.server.url("/a.ipa"))
    }

    @Test(arguments: [("ETag", "\"1\""), ("ETag", "W/\"1\""), ("Last-Modified", "Tue, 05 Mar 2024 14:07:09 GMT")])
    func `asks whether anything changed`(name: String, value: String) async throws {
        let world = try World()
        world.serve(body, [(name, value)])
        _ = try await world.store().source(at: world.url)
        #expect(try await world.store().source(at: world.url).freshness == .unchanged)
        #expect(world.pages.server.exchanges.map(\.status) == [200, 304])
        world.serve(newer, [(name, value + "2")])
        let stored = try await world.store().source(at: world.url)
        #expect(stored.freshness == .fetched)
        #expect(stored.source.apps[0].identifier == "com.example.b")
    }

    @Test func `keeps one file an address, named after its SHA-256, without the address in it`() async throws {
        let world = try World()
        world.serve(body)
        _ = try await world.store().source(at: world.url)
        let sum = try #require(Tool("sha256sum"))
        let digest = try await onThread { try sum.run([], input: Array(world.url.utf8)).text.prefix(64) }
        let files = try world.files()
        #expect(files == ["ferry/sources/\(digest).source"])
        #expect(try world.folder.contents().count == 3)
        #expect(!String(decoding: try world.folder.read(files[0]), as: UTF8.self).contains("secret"))
        let attributes = try FileManager.default.attributesOfItem(atPath: world.folder.path(files[0]))
        #expect((attributes[.posixPermissions] as? Int) == 0o600)
    }

    @Test func `works without a connection, and says how old the list is`() async throws {
        let world = try World()
        world.serve(body)
        _ = try await world.store().source(at: world.url)
        world.clock.time.withLock { $0 += 3 * 3600 + 5 }
        world.pages.server.stop()
        let stored = try await world.store().source(at: world.url)
        #expect(stored.source.apps[0].identifier == "com.example.a")
        let warning = try #require(stored.warning)
        #expect(
            warning.hasPrefix("\(world.place): this is the list as it was 3 hours ago, for it could not be fetched: ")
        )
        #expect(!warning.contains("secret"))
        let offline = try await world.store(offline: true).source(at: world.url)
        #expect(offline.warning == "\(world.place): this is the list as it was 3 hours ago.")
    }

    @Test(arguments: [429, 500, 503]) func `bears a server that has trouble`(status: Int) async throws {
        let world = try World()
        world.serve(body)
        _ = try await world.store().source(at: world.url)
        world.pages.set(world.path) { _ in HTTPServer.Response(status) }
        let stored = try await world.store().source(at: world.url)
        #expect(stored.warning?.contains("the server answers with status \(status).") == true)
    }

    @Test(arguments: [
        (404, "", "the server answers with status 404, which means that it is not there."),
        (403, "", "the server answers with status 403, which means that it may not be read."),
        (304, "", "the server answers with status 304."), (500, "", "the server answers with status 500."),
        (
            200, "<html>\n<h1>Sign in</h1>",
            "this is a web page and no app source; it begins with “<html>”."
        ),
        (200, "{\"apps\": [", "The JSON is wrong at line 1 (byte 10): it ends where a value is due."),
        (200, "", "this is empty."),
    ])
    func `says what came instead, and keeps nothing`(status: Int, text: String, words: String) async throws {
        let world = try World()
        world.pages.set(world.path) { _ in
            HTTPServer.Response(status, [("Content-Type", "text/html")], body: Array(text.utf8))
        }
        let error = await #expect(throws: CatalogError.self) { try await world.store().source(at: world.url) }
        #expect(error?.message == "\(world.place): \(words)")
        #expect(error?.remedy != nil)
        #expect(try world.files() == [])
    }

    @Test func `does not lose a good list for a bad answer`() async throws {
        let world = try World()
        world.serve(body)
        _ = try await world.store().source(at: world.url)
        world.pages.set(world.path, Array("<html>".utf8))
        await #expect(throws: CatalogError.self) { try await world.store().source(at: world.url) }
        #expect(try await world.store(offline: true).source(at: world.url).source.apps.count == 1)
    }

    @Test func `fetches anew what is damaged in its folder`() async throws {
        let world = try World()
        world.serve(body)
        _ = try await world.store().source(at: world.url)
        let file = try world.files()[0]
        let whole = try world.folder.read(file)
        for bytes in [[], Array("garbage".utf8), Array(whole.dropLast()), whole + [0x20], Array(whole.prefix(20))] {
            try world.folder.write(bytes, to: file)
            #expect(try await world.store().source(at: world.url).freshness == .fetched)
            #expect(try world.folder.read(file) == whole)
        }
    }

    @Test func `forgets a list that nobody asked for in ninety days`() async throws {
        let world = try World()
        world.serve(body)
        let other = world.pages.server.url("/other.json")
        world.pages.set("/other.json", newer)
        let today = Int64(Date().timeIntervalSince1970)
        world.clock.time.withLock { $0 = today }
        _ = try await world.store().source(at: world.url)
        world.clock.time.withLock { $0 = today + 89 * 86400 }
        _ = try await world.store().source(at: other)
        #expect(try world.files().count == 2)
        world.clock.time.withLock { $0 = today + 91 * 86400 }
        _ = try await world.store().source(at: other)
        let sum = try #require(Tool("sha256sum"))
        let digest = try await onThread { try sum.run([], input: Array(other.utf8)).text.prefix(64) }
        #expect(try world.files() == ["ferry/sources/\(digest).source"])
    }

    @Test func `reads no more than the limit`() async throws {
        let world = try World()
        world.serve(body)
        var limits = SourceLimits()
        limits.maximumBytes = body.count - 1
        let error = await #expect(throws: CatalogError.self) {
            try await world.store(limits: limits).source(at: world.url)
        }
        #expect(error?.code == .fetch)
        #expect(error?.message.contains("more than \(body.count - 1) bytes") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func `has nothing to show where it may not ask and has not asked`() async throws {
        let world = try World()
        let error = await #expect(throws: CatalogError.self) {
            try await world.store(offline: true).source(at: world.url)
        }
        #expect(error?.remedy == "Fetch it once without --offline.")
    }

    @Test func `ends when its task is cancelled`() async throws {
        let world = try World()
        let (asked, sink) = AsyncStream.makeStream(of: Void.self)
        world.pages.set(world.path) { _ in
            sink.yield()
            return HTTPServer.Response(200, body: body).with { $0.pauseAfter = 1 }
        }
        let task = Task { () -> CatalogError? in
            do {
                _ = try await world.store().source(at: world.url)
                return nil
            } catch {
                return error as? CatalogError
            }
        }
        for await _ in asked { break }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
    }

    @Test func `may be used by several at once`() async throws {
        let world = try World()
        world.serve(body)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<16 {
                group.addTask { try await world.store().source(at: world.url).source.apps.count }
            }
            for try await count in group { #expect(count == 1) }
        }
        #expect(try world.folder.contents().count == 3)
    }
}

@Suite struct `A book of sources` {
    @Test func `is written as it is read`() throws {
        var book = SourceBook()
        try book.add("games", "altstore://source?url=https://me:secret@example.com/games.json?token=secret")
        try book.add("my-apps_2", "http://example.com/\"quoted\".json")
        let again = try SourceBook(json: book.json, path: "sources.json")
        #expect(again == book)
        #expect(again.entries.map(\.name) == ["games", "my-apps_2"])
        #expect(again.url(named: "games") == "https://me:secret@example.com/games.json?token=secret")
        #expect(again.entries[0].shownURL == "https://example.com/games.json?…")
        #expect(try SourceBook(json: SourceBook().json, path: "x") == SourceBook())
    }

    @Test func `is JSON by another's judgement`() throws {
        var book = SourceBook()
        try book.add("a", "https://example.com/ä\\\"")
        let object = try JSONSerialization.jsonObject(with: Data(book.json)) as? [String: [[String: String]]]
        #expect(object == ["sources": [["name": "a", "url": "https://example.com/ä\\\""]]])
    }

    @Test(arguments: [
        "", "add", "list", "remove", "a.json", "a/b", "-a", "a b", "ä", String(repeating: "a", count: 65),
    ])
    func `has no names that could mean something else`(name: String) {
        var book = SourceBook()
        let error = #expect(throws: CatalogError.self) { try book.add(name, "https://example.com") }
        #expect(error?.code == .name)
        #expect(book.entries == [])
    }

    @Test func `keeps the first of two with one name`() throws {
        var book = SourceBook()
        try book.add("a", "https://example.com/1?secret")
        try book.add("a", "https://example.com/1?secret")
        let error = #expect(throws: CatalogError.self) { try book.add("a", "https://example.com/2") }
        #expect(error?.message == "There is a source “a” already: https://example.com/1?….")
        #expect(book.entries.count == 1)
        try book.remove("a")
        #expect(book.entries == [])
        #expect(throws: CatalogError.self) { try book.remove("a") }
    }

    @Test(arguments: [
        "", "[]", "{}", "{\"sources\": [{}]}", "{\"sources\": [{\"name\": \"a\"}]}",
        "{\"sources\": [{\"name\": \"a\", \"url\": \"file:///x\"}]}", "{\"sources\": {}}",
    ])
    func `that is damaged is refused by its name`(text: String) {
        let error = #expect(throws: CatalogError.self) { try SourceBook(json: Array(text.utf8), path: "sources.json") }
        #expect(error?.message.hasPrefix("sources.json: ") == true)
        #expect(error?.remedy != nil)
    }
}

@Suite struct `An installed app` {
    private func list(_ apps: [(String, String, String?, String?)]) throws -> AppSource {
        let entries = apps.map { name, version, build, minimum in
            """
            {"name": "\(name)", "bundleIdentifier": "com.example.a", "versions": [{"version": "\(version)",
             "buildVersion": "\(build ?? "")", "minOSVersion": "\(minimum ?? "")", "downloadURL": "https://e.com/\(name)"}]}
            """
        }
        return try source("{\"apps\": [\(entries.joined(separator: ","))]}")
    }

    @Test(
        arguments: [
            ("1.1", nil, nil, "1.1"), ("1.0", nil, nil, nil), ("1.0.0", nil, nil, nil), ("0.9", "99", nil, nil),
            ("1.0", "8", nil, "1.0"), ("1.0", "7", nil, nil), ("1.1", nil, "18.0", nil), ("1.10", nil, "17.0", "1.10"),
        ] as [(String, String?, String?, String?)]
    )
    func `has an update where a later version runs`(
        version: String,
        build: String?,
        minimum: String?,
        expected: String?
    ) throws {
        let installed = InstalledVersion(identifier: "com.example.a", name: "A", version: "1.0", build: "7")
        let source = try list([("A", version, build, minimum)])
        let update = UpdateSearch([("Test", source)]).update(of: installed, for: .init("17.5"))
        #expect(update?.newest.version == expected)
    }

    @Test func `is updated from the source that has the latest, by its own name first`() throws {
        let installed = InstalledVersion(identifier: "com.example.a", name: "Rose", version: "1.0", build: nil)
        let one = try list([("Thorn", "9.0", nil, nil), ("rose", "1.5", nil, nil)])
        let two = try list([("Rose", "1.10", nil, nil)])
        let update = UpdateSearch([("one", one), ("two", two)]).update(of: installed, for: nil)
        #expect(update?.place == "two")
        #expect(update?.newest.version == "1.10")
        let other = InstalledVersion(identifier: "com.example.b", name: "Rose", version: "1.0", build: nil)
        #expect(UpdateSearch([("one", one)]).update(of: other, for: nil) == nil)
    }
}
