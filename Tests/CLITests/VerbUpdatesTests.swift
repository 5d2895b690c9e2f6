import Foundation
import TestKit
import Testing

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry updates` {
    /// The command with the kit's app in a folder.
    private func market() async throws -> Market {
        let market = try Market()
        let result = try await market.ferry.run(["install", market.ferry.kit.path("Harbour.ipa")] + market.way)
        try #require(result.status == 0, "\(result.errors)")
        market.serve(Market.mixed)
        return market
    }

    @Test func `lists what has a newer version`() async throws {
        let market = try await market()
        let apps = market.ferry.home.path("apps")
        let result = try await market.ferry.run(["updates", apps, "--source", market.url])
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.text
                == "Harbour  com.example.harbour  1.2  →  3.0  2026-03-05  13 MB  \(market.shown)\n"
        )
        let data = try await market.ferry.run(["updates", "folder:" + apps, "--source", market.url, "--json"])
        #expect(try await Python.value(data.output, "appCount") == "1")
        #expect(try await Python.value(data.output, "updates.0.newest.version") == "3.0")
        #expect(try await Python.value(data.output, "updates.0.version") == "1.2")
        let build = try await market.ferry.run(["updates", apps, "--source", market.url, "--os", "16.4"])
        #expect(build.text.contains(")  →  1.2 (12)  2025-01-31"), "\(build.text)")
        let old = try await market.ferry.run(["updates", apps, "--source", market.url, "--os", "13"])
        #expect(old.status == 0)
        #expect(old.text == "\(apps): no newer version in these lists for 1 app\n")
    }

    @Test func `looks in the lists that have a name, and tells of one that cannot be had`() async throws {
        let market = try await market()
        let apps = market.ferry.home.path("apps")
        let none = try await market.ferry.run(["updates", apps])
        #expect(none.status == 2)
        #expect(none.errors.contains("ferry source add NAME URL"))
        #expect(try await market.ferry.run(["source", "add", "games", market.url]).status == 0)
        let gone = market.pages.server.url("/gone.json")
        #expect(try await market.ferry.run(["source", "add", "gone", gone, "--unchecked"]).status == 0)
        let result = try await market.ferry.run(["updates", apps])
        #expect(result.status == 1)
        #expect(result.text.hasSuffix("13 MB  games\n"), "\(result.text)")
        #expect(result.errors.contains("\(gone): the server answers with status 404"))
    }

    @Test func `tells of an app that cannot be read`() async throws {
        let market = try await market()
        try market.ferry.home.write(Array("x".utf8), to: "apps/com.example.broken/Broken.app/Info.plist")
        try market.ferry.home.write(Array("x".utf8), to: "apps/note.txt")
        let result = try await market.ferry.run(["updates", market.ferry.home.path("apps"), "--source", market.url])
        #expect(result.status == 1)
        #expect(result.text.hasPrefix("Harbour"))
        #expect(result.errors.contains("com.example.broken/Broken.app/Info.plist"))
    }

    @Test func `cannot look at a folder that is not there`() async throws {
        let market = try Market()
        let missing = try await market.ferry.run(["updates", "nowhere", "--source", "x.json"])
        #expect(missing.status == 1)
        #expect(missing.errors.contains("nowhere"))
    }
}
