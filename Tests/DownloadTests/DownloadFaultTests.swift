import COpenSSL
import FerryBytes
import FerryDownload
import Foundation
import TestKit
import Testing

/// By OpenSSL's one-shot call, which our code does not use.
func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    SHA256(bytes, bytes.count, &digest)
    return digest
}

let sample: [UInt8] = {
    var generator = SeededGenerator(seed: 1)
    return generator.bytes(300_000)
}()

@Suite(.timeLimit(.minutes(10))) struct `A download` {
    private let file = ServedFile(sample)

    @Test func `brings the file to its place and leaves nothing else`() async throws {
        let world = try World { [file] in file.answer($0) }
        let told = try await world.run()
        #expect(
            told.file
                == DownloadedFile(path: world.destination, length: 300_000, sha256: sha256(sample), isOriginal: false)
        )
        #expect(told.facts.first == .started(totalBytes: 300_000, resumedFrom: 0))
        #expect(told.events.dropLast().last == .progress(completedBytes: 300_000, totalBytes: 300_000))
        #expect(try world.folder.read("file.ipa") == sample)
        #expect(try world.state() == [])
        let headers = try #require(world.server.exchanges.first?.request.headers)
        #expect(headers["user-agent"] == "ferry")
        #expect(headers["accept-encoding"] == "identity")
        #expect(headers["range"] == nil)
    }

    @Test func `goes on after each cut from the byte where it stopped`() async throws {
        let world = try World { [file] request in
            file.answer(request).with { if request.number < 4 { $0.cutAfter = 50_000 } }
        }
        let told = try await world.run { $0.sha256 = sha256(sample) }
        #expect(told.file != nil)
        #expect(told.retries == 4)
        #expect(world.ranges == [0, 50_000, 100_000, 150_000, 200_000])
        #expect(world.server.exchanges.dropFirst().allSatisfy { $0.request.headers["if-range"] == "\"v1\"" })
        #expect(world.server.exchanges.reduce(0) { $0 + $1.sentBytes } == sample.count)
        #expect(try world.folder.read("file.ipa") == sample)
    }

    @Test func `goes on by date where there is no strong ETag`() async throws {
        let date = "Thu, 01 Jan 2026 00:00:00 GMT"
        let world = try World { request in
            ServedFile(sample, etag: "W/\"v1\"", lastModified: date).answer(request)
                .with { if request.number == 0 { $0.cutAfter = 50_000 } }
        }
        #expect(try await world.run().file != nil)
        #expect(world.ranges == [0, 50_000])
        #expect(world.server.exchanges.last?.request.headers["if-range"] == date)
    }

    @Test func `starts over where only a weak ETag is there`() async throws {
        let world = try World { request in
            ServedFile(sample, etag: "W/\"v1\"").answer(request).with {
                if request.number == 0 { $0.cutAfter = 50_000 }
            }
        }
        let told = try await world.run()
        #expect(told.restarts == ["The server gives nothing to check that its file is still the same."])
        #expect(world.ranges == [0, 0])
        #expect(try world.folder.read("file.ipa") == sample)
    }

    @Test func `starts over when the file changes midway`() async throws {
        let new = Array(sample.reversed().dropLast(7))
        let world = try World { [file] request in
            request.number == 0
                ? file.answer(request).with { $0.cutAfter = 50_000 } : ServedFile(new, etag: "\"v2\"").answer(request)
        }
        let told = try await world.run { $0.sha256 = sha256(new) }
        #expect(told.restarts == ["The file on the server has changed."])
        #expect(try world.folder.read("file.ipa") == new)
    }

    @Test func `starts over at a server that ignores ranges`() async throws {
        let world = try World { [file] request in
            file.answerWhole(request).with { if request.number == 0 { $0.cutAfter = 50_000 } }
        }
        let told = try await world.run()
        #expect(told.restarts == ["The server sends the file from its start only."])
        #expect(try world.folder.read("file.ipa") == sample)
    }

    @Test func `starts over after a part that lies about its place`() async throws {
        let world = try World { [file] request in
            switch request.number {
            case 0: file.answer(request).with { $0.cutAfter = 50_000 }
            case 1:
                HTTPServer.Response(
                    206,
                    [("Content-Range", "bytes 0-299999/300000"), ("ETag", "\"v1\"")],
                    body: sample
                )
            default: file.answer(request)
            }
        }
        #expect(try await world.run().restarts == ["The server sent another part than was asked for."])
        #expect(world.ranges == [0, 50_000, 0])
        #expect(try world.folder.read("file.ipa") == sample)
    }

    @Test func `starts over after a 416 that does not fit`() async throws {
        let world = try World { [file] request in
            switch request.number {
            case 0: file.answer(request).with { $0.cutAfter = 50_000 }
            case 1: HTTPServer.Response(416, [("Content-Range", "bytes */40000")])
            default: file.answer(request)
            }
        }
        #expect(try await world.run().restarts == ["The server has no such part of the file."])
        #expect(try world.folder.read("file.ipa") == sample)
    }

    @Test func `of unknown length is done after a 416 that fits`() async throws {
        // The last chunk is there, but the end of the chunks is not: nobody knows yet that this was all.
        let world = try World { [file] request in
            file.answer(request).with { response in
                response.isChunked = request.number == 0
                response.cutAfter = request.number == 0 ? sample.count : nil
            }
        }
        let told = try await world.run()
        #expect(world.ranges == [0, 300_000])
        #expect(world.server.exchanges.map(\.status) == [200, 416])
        #expect(told.facts.first == .started(totalBytes: nil, resumedFrom: 0))
        #expect(told.file?.sha256 == sha256(sample))
    }

    @Test func `follows redirects, and gives credentials to their own host only`() async throws {
        let other = try World { [file] in file.answer($0) }
        let world = try World { request in
            request.path == "/file"
                ? HTTPServer.Response(302, [("Location", "/next?token=t")])
                : HTTPServer.Response(307, [("Location", other.server.url("/there"))])
        }
        let told = try await world.run { request in
            request.url = request.url.replacing("http://", with: "http://me:secret@")
            request.headers = [
                DownloadHeader("X-Token", "hush"), DownloadHeader("Cookie", "c"), DownloadHeader("Accept", "a/b"),
            ]
        }
        #expect(told.file != nil)
        for exchange in world.server.exchanges {
            #expect(exchange.request.headers["authorization"] == "Basic bWU6c2VjcmV0")
            #expect(exchange.request.headers["x-token"] == "hush")
        }
        let there = try #require(other.server.exchanges.first?.request.headers)
        #expect(there["authorization"] == nil && there["x-token"] == nil && there["cookie"] == nil)
        #expect(there["accept"] == "a/b")
    }

    @Test func `goes through a proxy that it is told of`() async throws {
        var world = try World { [file] in file.answer($0) }
        world.configuration.proxy = world.server.url("")
        #expect(try await world.run { $0.url = "http://ferry.invalid/there" }.file != nil)
        #expect(world.server.exchanges.map(\.request.path) == ["http://ferry.invalid/there"])
    }

    @Test func `gives up in a loop of redirects`() async throws {
        let world = try World { HTTPServer.Response(301, [("Location", $0.path)]) }
        let error = try await world.run().error
        #expect(error?.code == .redirect)
        #expect(world.server.exchanges.count == 11)
    }

    @Test(arguments: [401, 403, 404, 410]) func `asks once when the answer is final`(status: Int) async throws {
        let world = try World { _ in HTTPServer.Response(status, body: Array("no".utf8)) }
        let error = try #require(try await world.run().error)
        #expect(world.server.exchanges.count == 1)
        #expect(error.message.contains("\(world.server.url()): the server answered \(status)"))
        #expect(try world.state() == [])
    }

    @Test(arguments: [408, 429, 500, 503]) func `tries again when the fault may pass`(status: Int) async throws {
        let world = try World { [file] in $0.number < 2 ? HTTPServer.Response(status) : file.answer($0) }
        let told = try await world.run()
        #expect(told.retries == 2)
        #expect(told.file != nil)
    }

    @Test func `waits as the server asks`() async throws {
        let clock = ManualClock()
        var world = try World { [file] request in
            request.number == 0 ? HTTPServer.Response(429, [("Retry-After", "7")]) : file.answer(request)
        }
        world.configuration.clock = clock
        let downloader = try Downloader(world.configuration)
        let download = await downloader.start(world.request())
        await clock.sleeps(1)
        #expect(clock.requested == [.seconds(7)])
        clock.advance(by: .seconds(7))
        #expect(try await download.file.length == 300_000)
        await downloader.close()
    }

    @Test func `gives up after its retries`() async throws {
        let world = try World { _ in HTTPServer.Response(503) }
        let told = try await world.run()
        #expect(told.error?.code == .serverError)
        #expect(told.retries == 3)
        #expect(world.server.exchanges.count == 4)
    }

    @Test func `tells a server that nobody answers for`() async throws {
        let world = try World { _ in HTTPServer.Response(200) }
        world.server.stop()
        let told = try await world.run()
        #expect(told.error?.code == .connection)
        #expect(told.retries == 3)
    }

    @Test func `tells a name without an address`() async throws {
        // RFC 6761: names under .invalid never have one.
        var world = try World { _ in HTTPServer.Response(200) }
        world.configuration.retries = 0
        #expect(try await world.run { $0.url = "http://ferry.invalid/x" }.error?.code == .nameNotFound)
    }

    @Test func `goes on by range when the server falls silent`() async throws {
        var world = try World { [file] request in
            file.answer(request).with { if request.number == 0 { $0.pauseAfter = 50_000 } }
        }
        world.configuration.stallTimeout = .seconds(1)
        let told = try await world.run()
        #expect(told.retries == 1)
        #expect(world.ranges == [0, 50_000])
        #expect(try world.folder.read("file.ipa") == sample)
    }

    @Test func `shows the first line of a web page that comes instead`() async throws {
        let page = "\n  <!doctype html>\u{1B}[2J<title>Sign in</title>\n<p>more"
        let world = try World { _ in
            HTTPServer.Response(200, [("Content-Type", "text/html; charset=utf-8")], body: Array(page.utf8))
        }
        let error = try await world.run().error
        #expect(error?.code == .webPage)
        #expect(
            error?.message
                == "\(world.server.url()) answered with a web page instead of the file: "
                + "“<!doctype html>[2J<title>Sign in</title>”."
        )
        #expect(try await world.run { $0.acceptsWebPages = true }.file?.length == Int64(page.utf8.count))
    }

    @Test func `keeps its partial file when a web page comes instead of the rest`() async throws {
        let world = try World(retries: 0) { [file] request in
            switch request.number {
            case 0: file.answer(request).with { $0.cutAfter = 50_000 }
            case 1: HTTPServer.Response(200, [("Content-Type", "text/html")], body: Array("<p>pay".utf8))
            default: file.answer(request)
            }
        }
        #expect(try await world.run().error?.code == .connection)
        #expect(try await world.run().error?.code == .webPage)
        #expect(try await world.run().file != nil)
        #expect(world.ranges == [0, 50_000, 50_000])
    }

    @Test func `refuses what is encoded`() async throws {
        let world = try World { [file] in file.answer($0).with { $0.headers.append(("Content-Encoding", "gzip")) } }
        let error = try await world.run().error
        #expect(error?.code == .badAnswer)
        #expect(error?.message.contains("encoded the file as gzip") == true)
    }

    @Test func `refuses more than was promised`() async throws {
        let world = try World { [file] request in
            request.number == 0
                ? file.answer(request).with { $0.cutAfter = 50_000 }
                : file.answer(request).with { response in
                    response.body += [0]
                    response.isChunked = true
                }
        }
        let error = try await world.run().error
        #expect(error?.code == .tooMuchData)
        #expect(try world.folder.contents() == ["state"])
    }

    @Test func `refuses more than is expected, whatever the server promises`() async throws {
        let world = try World { [file] in file.answer($0).with { $0.isChunked = true } }
        #expect(try await world.run { $0.expectedLength = 299_999 }.error?.code == .tooMuchData)
        #expect(try world.folder.contents() == ["state"])
    }

    @Test func `takes a promise that is not kept for a cut`() async throws {
        let world = try World { [file] in file.answer($0).with { $0.claimedLength = $0.body.count + 5 } }
        let told = try await world.run()
        #expect(told.error?.code == .connection)
        // The rest is asked for by range: a server that has no more says 416, and then it starts over, a few times.
        #expect(!told.restarts.isEmpty)
        #expect(try world.folder.contents().contains("file.ipa") == false)
    }

    @Test(arguments: [false, true]) func `names both lengths when they differ`(isChunked: Bool) async throws {
        let world = try World { [file] in file.answer($0).with { $0.isChunked = isChunked } }
        let error = try await world.run { $0.expectedLength = 300_001 }.error
        #expect(error?.code == .lengthMismatch)
        #expect(error?.message.hasSuffix("300001 bytes were expected, but the file has 300000.") == true)
        #expect(try world.folder.contents() == ["state"])
    }

    @Test func `names both checksums when they differ, and removes the file`() async throws {
        let world = try World { [file] in file.answer($0) }
        let wanted = sha256([1, 2, 3])
        let error = try await world.run { $0.sha256 = wanted }.error
        #expect(error?.code == .checksumMismatch)
        #expect(
            error?.message == "\(world.server.url()): the SHA-256 \(wanted.hex) was expected, "
                + "but the file has \(sha256(sample).hex)."
        )
        #expect(try world.folder.contents() == ["state"])
    }

    @Test func `can be empty`() async throws {
        let world = try World { ServedFile([]).answer($0) }
        #expect(try await world.run { $0.expectedLength = 0 }.file?.sha256 == sha256([]))
        #expect(try world.folder.read("file.ipa") == [])
    }

    @Test(
        arguments: [
            Mistake(.badRequest) { $0.headers = [DownloadHeader("A", "b\r\nHost: x")] },
            Mistake(.badRequest) { $0.headers = [DownloadHeader("A b", "c")] },
            Mistake(.badRequest) { $0.sha256 = [1] },
            Mistake(.badRequest) { $0.expectedLength = -1 },
            Mistake(.badRequest) { $0.destination = "" },
            Mistake(.unsupportedScheme) { $0.url = "gopher://x" },
        ]
    )
    fileprivate func `refuses a request that makes no sense`(mistake: Mistake) async throws {
        let world = try World { _ in HTTPServer.Response(500) }
        #expect(try await world.run { mistake.make(&$0) }.error?.code == mistake.code)
        #expect(world.server.exchanges.isEmpty)
    }

    @Test func `never shows a password`() async throws {
        let world = try World(retries: 0) { [file] request in
            request.number == 0 ? file.answer(request).with { $0.cutAfter = 50_000 } : HTTPServer.Response(404)
        }
        for _ in 0..<2 {
            let told = try await world.run {
                $0.url = $0.url.replacing("http://", with: "http://me:hunter2@") + "?k=token9"
            }
            let texts = told.events.map { "\($0)" }
            #expect(told.error != nil)
            #expect(!texts.contains { $0.contains("hunter2") || $0.contains("token9") })
        }
        let record = String(
            decoding: try Data(contentsOf: URL(fileURLWithPath: world.partial() + ".json")),
            as: UTF8.self
        )
        #expect(record.contains("/file") && !record.contains("hunter2"))
    }
}

/// A request that makes no sense, and the code that it is refused with.
private struct Mistake: Sendable {
    let code: DownloadError.Code
    let make: @Sendable (inout DownloadRequest) -> Void

    init(_ code: DownloadError.Code, _ make: @escaping @Sendable (inout DownloadRequest) -> Void) {
        self.code = code
        self.make = make
    }
}
