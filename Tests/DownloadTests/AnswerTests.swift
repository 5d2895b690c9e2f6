import FerryBytes
import FerryWeb
import Testing

@testable import FerryDownload

@Suite struct `The head of an answer` {
    // Forms of RFC 9110 §14.4, and what is none of them.
    @Test(
        arguments: [
            ("bytes 42-1233/1234", .part(first: 42, last: 1233, total: 1234)),
            ("bytes 42-1233/*", .part(first: 42, last: 1233, total: nil)),
            ("Bytes */1234", .nothing(total: 1234)),
            ("bytes */*", .unclear),
            ("bytes 5-4/10", .unclear),
            ("bytes 0-10/10", .unclear),
            ("bytes 0-9223372036854775807/*", .unclear),
            ("bytes 0-9223372036854775808/9223372036854775809", .unclear),
            ("bytes -1-4/10", .unclear),
            ("bytes +1-4/10", .unclear),
            ("bytes 1-4", .unclear),
            ("items 0-1/2", .unclear),
            ("", .unclear),
        ] as [(String, Answer.Range)]
    )
    func `has a range that is read strictly`(text: String, range: Answer.Range) {
        #expect(Answer.Range(text) == range)
    }

    @Test(
        arguments: [
            ([], nil),
            (["ETag: \"a\""], "\"a\""),
            (["ETag: W/\"a\""], nil),
            (["ETag: a"], nil),
            (["ETag: \""], nil),
            (["ETag: \"a\"", "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT"], "\"a\""),
            (["ETag: W/\"a\"", "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT"], "Thu, 01 Jan 2026 00:00:00 GMT"),
            (["Last-Modified: yesterday"], nil),
            (["Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT", "Date: Thu, 01 Jan 2026 00:00:00 GMT"], nil),
            (
                ["Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT", "Date: Thu, 01 Jan 2026 00:00:01 GMT"],
                "Thu, 01 Jan 2026 00:00:00 GMT"
            ),
        ] as [([String], String?)]
    )
    func `has a validator only where it is a strong one`(lines: [String], validator: String?) {
        var answer = Answer()
        for line in ["HTTP/1.1 200 OK"] + lines { answer.read(line) }
        #expect(answer.version(totalBytes: nil).validator == validator)
    }

    @Test func `forgets what came before the last status line`() {
        var answer = Answer()
        for line in ["HTTP/1.1 103 Early Hints", "ETag: \"a\"", "", "HTTP/2 200 ", "CONTENT-LENGTH:  12 "] {
            answer.read(line)
        }
        #expect(answer == Answer(status: 200, length: 12))
    }

    @Test func `can be cut and garbled anywhere`() {
        let head = Array("HTTP/1.1 206 OK\r\nContent-Range: bytes 1-2/3\r\nContent-Length: 2\r\nETag: \"a\"\r\n".utf8)
        func read(_ bytes: [UInt8]) -> Answer {
            var answer = Answer()
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\r\n") { answer.read(line) }
            return answer
        }
        #expect(read(head).range == .part(first: 1, last: 2, total: 3))
        for place in head.dropLast(2).indices {
            #expect(read(Array(head[..<place])) != read(head))
            for bit in 0..<8 {
                var garbled = head
                garbled[place] ^= 1 << bit
                _ = read(garbled).version(totalBytes: nil)
            }
        }
    }

    @Test func `has no length where the body is in chunks`() {
        var answer = Answer(status: 200, length: 5)
        answer.read("Transfer-Encoding: chunked")
        #expect(answer.bodyLength == nil)
    }

    @Test(arguments: ["-1", "12a", "9223372036854775808", "", "0x10", "１"])
    func `has no length that is no number`(text: String) {
        var answer = Answer(status: 200)
        answer.read("Content-Length: \(text)")
        #expect(answer.length == nil)
    }
}

@Suite struct `An address` {
    @Test(
        arguments: [
            ("/tmp/a:b.ipa", "/tmp/a:b.ipa"),
            ("a.ipa", "a.ipa"),
            ("./http:x", "./http:x"),
            ("file:///tmp/a%20b%C3%A4", "/tmp/a bä"),
            ("FILE:/tmp/a", "/tmp/a"),
            ("file://LOCALHOST/tmp/a?b#c", "/tmp/a"),
        ]
    )
    func `can be a local file`(text: String, path: String) throws {
        #expect(try DownloadSource(text) == .file(path: path))
    }

    @Test(
        arguments: [
            ("", .badURL), ("a\0b", .badURL), ("http://", .badURL), ("http://a:99999/", .badURL),
            ("http://a b/", .badURL),
            ("file://server/share", .badURL), ("file:tmp", .badURL), ("file:///%zz", .badURL), ("file:///%00", .badURL),
            ("file:///%ff", .badURL), ("ftp://a/b", .unsupportedScheme), ("data:,x", .unsupportedScheme),
            ("itms-services://?x", .unsupportedScheme),
        ] as [(String, DownloadError.Code)]
    )
    func `can be wrong`(text: String, code: DownloadError.Code) {
        let error = #expect(throws: DownloadError.self) { try DownloadSource(text) }
        #expect(error?.code == code)
        #expect(error?.remedy != nil)
    }

    @Test func `gives up its password and its query before it is shown`() throws {
        let address = try #require(WebAddress("https://me:p%40ss@example.org:8443/a b?token=1#part"))
        #expect(address.url == "https://example.org:8443/a%20b?token=1")
        #expect(address.shown == "https://example.org:8443/a%20b?…")
        #expect(address.user?.revealed == "me")
        #expect(address.password?.revealed == "p@ss")
        let next = address.following("https://other:secret@example.org/x")
        #expect(next?.user == nil && next?.url == "https://example.org/x")
    }

    @Test(
        arguments: [
            ("../x", "http://a/x"), ("//b/y", "http://b/y"), ("?q", "http://a/d/e?q"), ("HTTP://A/z", "http://A/z"),
        ]
    )
    func `leads on as RFC 3986 says`(location: String, url: String) throws {
        #expect(try #require(WebAddress("http://a/d/e")).following(location)?.url == url)
    }

    @Test(
        arguments: [
            ("http://a/", "http://A:80/x", true), ("http://a/", "https://a/", false), ("http://a/", "http://b/", false),
            ("http://a/", "http://a:81/", false), ("https://a/", "https://a:443/", true),
        ]
    )
    func `knows its own origin`(one: String, other: String, isSame: Bool) throws {
        #expect(try #require(WebAddress(one)).sharesOrigin(with: #require(WebAddress(other))) == isSame)
    }
}

@Suite(.timeLimit(.minutes(10))) struct `What a download tells` {
    @Test func `keeps each fact and only the latest progress`() async {
        let box = EventBox()
        box.tell(.started(totalBytes: 9, resumedFrom: 0))
        for count in 1...1000 { box.tell(.progress(completedBytes: Int64(count), totalBytes: nil)) }
        box.tell(.held(reason: nil))
        for count in 1...1000 { box.tell(.progress(completedBytes: Int64(count), totalBytes: nil)) }
        box.tell(.failed(.cancelled))
        box.tell(.released)
        var events: [DownloadEvent] = []
        while let event = await box.next() { events.append(event) }
        #expect(
            events == [
                .started(totalBytes: 9, resumedFrom: 0), .progress(completedBytes: 1000, totalBytes: nil),
                .held(reason: nil),
                .progress(completedBytes: 1000, totalBytes: nil), .failed(.cancelled),
            ]
        )
        #expect(await box.outcome() == .failure(.cancelled))
    }

    @Test func `reaches a reader and waiters that were there before`() async {
        let box = EventBox()
        async let event = box.next()
        async let one = box.outcome()
        async let two = box.outcome()
        box.tell(.failed(.cancelled))
        #expect(await event == .failed(.cancelled))
        #expect(await (one, two) == (.failure(.cancelled), .failure(.cancelled)))
        #expect(await box.next() == nil)
    }

    @Test func `lets a reader go that is cancelled`() async {
        let box = EventBox()
        let reader = Task { await box.next() }
        reader.cancel()
        #expect(await reader.value == nil)
    }
}
