import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3)), .enabled(if: Tool("curl") != nil, "curl is not installed"))
struct `ferry install --to ota` {
    private static func page(_ running: Running) -> String? {
        running.errors.firstMatch(of: /open in Safari on the phone: (http\S+\/)\n/).map { String($0.1) }
    }

    private static func curl(_ url: String, _ options: [String] = []) async throws -> Tool.Result {
        try await onThread {
            try Tool(path: Tool("curl")?.path ?? "curl").run(["-sS", "--noproxy", "*"] + options + [url])
        }
    }

    @Test func `offers a link, and ends when a phone has all of the app`() async throws {
        let ferry = try Command()
        let running = try ferry.start(
            ["install", ferry.kit.path("Harbour.ipa"), "--to", "ota", "--listen", "127.0.0.1:0"] + ferry.kit.hands()
        )
        let page = try #require(
            try await onThread { running.waits { Self.page(running) != nil } ? Self.page(running) : nil }
        )
        #expect(try await Self.curl(page).text.contains("Waiting for the phone"))
        // Whoever was led here by a name of his own gets nothing, not even with the secret.
        #expect(try await Self.curl(page, ["-H", "Host: evil.example", "-w", "%{http_code}"]).text.hasSuffix("421"))
        #expect(try await Self.curl(page + "manifest.plist").text.contains(page + "app.ipa"))
        let archive = try await Self.curl(page + "app.ipa").output
        // The page gets to know, before the server ends.
        #expect(try await Self.curl(page + "state").text.contains("delivered"))
        let end = try await onThread { try running.result() }
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.errors.contains("delivered"))
        let path = try ferry.out("Signed.ipa")
        try Data(archive).write(to: URL(fileURLWithPath: path))
        let check = try await ferry.run(["verify", path])
        #expect(check.status == 0, "\(check.text)")
        #expect(ferry.files(in: "state/ferry/work").isEmpty)
    }

    @Test func `takes the link along when it is stopped, and goes on with a new one`() async throws {
        let ferry = try Command()
        let running = try ferry.start(
            ["install", ferry.kit.path("Harbour.ipa"), "--to", "ota", "--listen", "127.0.0.1:0"] + ferry.kit.hands()
        )
        #expect(try await onThread { running.waits { Self.page(running) != nil } }, "it ended before")
        let end = try await onThread { try running.end(with: SIGINT) }
        #expect(end.status == 130 && end.errors.contains("ferry resume"))
        #expect(!ferry.files(in: "state/ferry/work").contains { $0.hasPrefix("links") })
        let next = try ferry.start(["resume", "--all", "--listen", "127.0.0.1:0"])
        let page = try #require(try await onThread { next.waits { Self.page(next) != nil } ? Self.page(next) : nil })
        _ = try await Self.curl(page + "app.ipa")
        let result = try await onThread { try next.result() }
        #expect(result.status == 0, "\(result.errors)")
    }
}
