import FerryBytes
import Foundation
import TestKit
import Testing

@testable import FerryWeb

@Suite(.timeLimit(.minutes(10))) struct `A small thing on the web` {
    @Test func `comes with its status and its header fields`() async throws {
        let server = try HTTPServer { request in
            HTTPServer.Response(
                request.headers["if-none-match"] == "\"one\"" ? 304 : 200,
                [("ETag", "\"one\""), ("X-Twice", "first"), ("x-TWICE", " second ")],
                body: request.headers["if-none-match"] == nil ? Array("body".utf8) : []
            )
        }
        var request = FetchRequest(url: server.url())
        let first = try await WebFetch().answer(to: request)
        #expect(first.status == 200)
        #expect(first.body == Array("body".utf8))
        #expect(first.fields["etag"] == "\"one\"")
        #expect(first.fields["x-twice"] == "second ")
        request.fields["If-None-Match"] = first.fields["etag"]
        let second = try await WebFetch().answer(to: request)
        #expect(second.status == 304)
        #expect(second.body == [])
    }

    @Test func `leaves out header fields without end`() async throws {
        let long = String(repeating: "x", count: 9000)
        let server = try HTTPServer { _ in
            HTTPServer.Response(200, [("Long", long), ("ETag", "\"1\"")] + (0..<300).map { ("X-\($0)", "y") })
        }
        let answer = try await WebFetch().answer(to: FetchRequest(url: server.url()))
        #expect(answer.fields["long"] == nil)
        #expect(answer.fields["etag"] == "\"1\"")
        #expect(answer.fields.count == 200)
    }

    @Test func `sends no field that would end its line`() async throws {
        let server = try HTTPServer { _ in HTTPServer.Response(200) }
        var request = FetchRequest(url: server.url())
        request.fields = ["A": "x\r\nEvil: yes", "B": "good"]
        _ = try await WebFetch().answer(to: request)
        let sent = try #require(server.exchanges.first?.request.headers)
        #expect(sent["b"] == "good")
        #expect(sent["a"] == nil && sent["evil"] == nil)
    }

    @Test func `has the fields of the last answer after a redirect`() async throws {
        let server = try HTTPServer { request in
            request.path == "/file"
                ? HTTPServer.Response(302, [("Location", "/next"), ("ETag", "\"of the redirect\"")])
                : HTTPServer.Response(200, [("Last-Modified", "now")], body: Array("x".utf8))
        }
        let answer = try await WebFetch().answer(to: FetchRequest(url: server.url()))
        #expect(answer.fields["etag"] == nil)
        #expect(answer.fields["last-modified"] == "now")
    }

    @Test(.enabled(if: Tool("gzip") != nil, "gzip is not installed"))
    func `counts what is packed as it is unpacked`() async throws {
        let gzip = try #require(Tool("gzip"))
        let packed = try await onThread { try gzip.run(["-c"], input: [UInt8](repeating: 0x61, count: 100_000)).output }
        let server = try HTTPServer { _ in HTTPServer.Response(200, [("Content-Encoding", "gzip")], body: packed) }
        var request = FetchRequest(url: server.url("/file?token=secret"))
        request.longestAnswer = 100_000
        #expect(try await WebFetch().answer(to: request).body == [UInt8](repeating: 0x61, count: 100_000))
        request.longestAnswer = 99_999
        let error = await #expect(throws: FetchError.self) { try await WebFetch().answer(to: request) }
        #expect(error?.code == .tooLong)
        #expect(error?.message.contains("99999 bytes") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(.enabled(if: Nginx.isInstalled, "\(Nginx.absent)"))
    func `is not led from https to http`() async throws {
        let nginx = try await onThread { try Nginx() }
        try nginx.folder.write(Array("body".utf8), to: "files/file")
        var web = WebFetch()
        web.caFile = nginx.folder.path("certificate.pem")
        let secure = "https://127.0.0.1:\(nginx.securePort)"
        #expect(try await web.fetch(FetchRequest(url: secure + "/up")) == Array("body".utf8))
        let error = await #expect(throws: FetchError.self) {
            try await web.answer(to: FetchRequest(url: secure + "/down"))
        }
        #expect(error?.code == .redirect)
        #expect(error?.message == "\(secure)/down: it leads on from https to something else, which is not followed.")
    }

    @Test func `is not led to a file of this machine`() async throws {
        let server = try HTTPServer { _ in HTTPServer.Response(302, [("Location", "file:///etc/passwd")]) }
        let error = await #expect(throws: FetchError.self) {
            try await WebFetch().answer(to: FetchRequest(url: server.url()))
        }
        #expect(error?.code == .redirect)
        #expect(server.exchanges.count == 1)
    }

    @Test func `is no address with a zero byte in it`() {
        #expect(WebAddress("https://example.org\0.evil.org/") == nil)
        #expect(WebAddress("https://example.org/")?.resolving("a\0b") == nil)
    }

    @Test(arguments: [
        ("https://me:secret@example.org/a?b=secret#c", "https://example.org/a?…"), ("nonsense?secret", "nonsense?…"),
        ("https://example.org/a", "https://example.org/a"), ("a\u{1B}b", "a\\u{1B}b"),
    ])
    func `is called by its address without what may be a secret`(url: String, shown: String) {
        #expect(WebAddress.shown(url) == shown)
    }
}
