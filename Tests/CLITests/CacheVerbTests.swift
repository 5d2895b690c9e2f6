import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `ferry cache` {
    @Test func `shows and forgets what is known of archives`() async throws {
        let ferry = try Command()
        // An archive that was written a moment ago is not known by its times.
        try await Task.sleep(for: .seconds(3))
        let sign = { (out: String, more: [String]) in
            ["sign", ferry.kit.path("Harbour.ipa"), "-o", try ferry.out(out)] + ferry.kit.hands() + more
        }
        #expect(try await ferry.run(sign("a.ipa", ["--no-cache"])).status == 0)
        let none = try await ferry.run(["cache", "--json"])
        #expect(try await Python.value(none.output, "archives") == "0")
        for out in ["b.ipa", "c.ipa"] {
            let result = try await ferry.run(sign(out, []))
            #expect(result.status == 0, "\(result.errors)")
        }
        let one = try await ferry.run(["cache", "--json"])
        #expect(try await Python.value(one.output, "archives") == "1")
        #expect(try await Python.value(one.output, "folder") == ferry.home.path("cache/ferry/archives"))
        #expect(try await ferry.run(["verify", ferry.out("c.ipa")]).status == 0)
        let cleared = try await ferry.run(["cache", "--clear"])
        #expect(cleared.status == 0)
        #expect(cleared.text.hasPrefix("forgot 1 archive, "))
        #expect(try await ferry.run(["cache"]).text.hasPrefix("0 archives, 0 bytes of at most "))
    }
}
