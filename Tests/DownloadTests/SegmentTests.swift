import Dispatch
import FerryDownload
import Foundation
import TestKit
import Testing

/// Has the first answer wait, after its start, until the other connections have got theirs: so that all of them take
/// part, however fast the first is.
private func gathering(
    _ connections: Int,
    _ answer: @escaping @Sendable (HTTPServer.Request) -> HTTPServer.Response
) -> @Sendable (HTTPServer.Request) -> HTTPServer.Response {
    let others = DispatchSemaphore(value: 0)
    return { request in
        answer(request).with { response in
            if request.number > 0 {
                response.ended = { others.signal() }
            } else if connections > 1, response.pauseAfter == nil {
                response.pauseAfter = 20_000
                response.waiting = {
                    // Where the others do not come, it goes on in the end, and the test says what is wrong.
                    for _ in 1..<connections { _ = others.wait(timeout: .now() + 10) }
                }
            }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A download by one connection or several` {
    private let file = ServedFile(sample)

    private func world(
        _ connections: Int,
        retries: Int = 3,
        _ answer: @escaping @Sendable (HTTPServer.Request) -> HTTPServer.Response
    ) throws -> World {
        try World(retries: retries, connections: connections, gathering(connections, answer))
    }

    @Test(arguments: [2, 4, 8]) func `asks for parts by If-Range, and puts them together`(connections: Int) async throws
    {
        let world = try world(connections) { [file] in file.answer($0) }
        let told = try await world.run { $0.sha256 = sha256(sample) }
        #expect(told.file?.length == 300_000)
        #expect(try world.folder.read("file.ipa") == sample)
        #expect(try world.folder.contents() == ["file.ipa", "state"])
        let parts = world.server.exchanges.dropFirst()
        #expect(parts.count >= connections - 1)
        #expect(parts.allSatisfy { $0.request.headers["if-range"] == "\"v1\"" && $0.status == 206 })
        #expect(told.restarts.isEmpty && told.retries == 0)
    }

    @Test func `tells where the bytes lie, and how many are readable from the start`() async throws {
        let world = try world(4) { [file] in file.answer($0) }
        let downloader = try Downloader(world.configuration)
        let download = await downloader.start(world.request())
        var descriptor: Int32 = -1
        var fronts: [Int64] = []
        for await event in download.events {
            switch event {
            case .partial(let path):
                #expect(descriptor < 0)
                descriptor = open(path, O_RDONLY)
            case .front(let bytes):
                var read = [UInt8](repeating: 0, count: Int(bytes))
                #expect(pread(descriptor, &read, read.count, 0) == read.count)
                #expect(read[...] == sample.prefix(Int(bytes)))
                fronts.append(bytes)
            default: break
            }
        }
        close(descriptor)
        #expect(fronts == fronts.sorted())
        #expect(fronts.last == 300_000)
        await downloader.close()
    }

    @Test(arguments: [1, 4]) func `goes on when connections end early`(connections: Int) async throws {
        let world = try world(connections) { [file] request in
            file.answer(request).with { if (1...6).contains(request.number) { $0.cutAfter = 9_000 } }
        }
        #expect(try await world.run { $0.sha256 = sha256(sample) }.file != nil)
        #expect(try world.folder.read("file.ipa") == sample)
    }

    @Test(arguments: [1, 4]) func `goes on when a connection falls silent`(connections: Int) async throws {
        var world = try world(connections) { [file] request in
            file.answer(request).with { if request.number == connections / 2 { $0.pauseAfter = 5_000 } }
        }
        world.configuration.stallTimeout = .seconds(1)
        #expect(try await world.run { $0.sha256 = sha256(sample) }.file != nil)
    }

    @Test(arguments: [1, 4]) func `never takes what a server lies about for the file`(connections: Int) async throws {
        // Every answer promises five bytes more than there are.
        let world = try world(connections) { [file] request in
            var longer = file
            longer.bytes += [1, 2, 3, 4, 5]
            return longer.answer(request).with { response in
                response.cutAfter = max(0, 300_000 - (request.firstByte ?? 0))
            }
        }
        let told = try await world.run()
        #expect(told.error?.code == .connection)
        #expect(try world.folder.contents().contains("file.ipa") == false)
    }

    @Test func `puts no parts together that say different lengths`() async throws {
        let world = try world(4) { [file] request in
            file.answer(request).with { response in
                guard request.number == 2 else { return }
                response.headers.removeAll { $0.name == "Content-Range" }
                let first = request.firstByte ?? 0
                response.headers.append(("Content-Range", "bytes \(first)-\(first + response.body.count - 1)/300001"))
            }
        }
        let told = try await world.run()
        // Not at all where the first brings all before that one is answered.
        #expect(told.restarts.isEmpty || told.restarts == ["The file on the server has changed."])
        #expect(told.file?.sha256 == sha256(sample))
    }

    @Test(arguments: [1, 4]) func `leaves it at one where the server ignores ranges`(connections: Int) async throws {
        let world = try world(connections) { [file] in file.answerWhole($0) }
        let told = try await world.run()
        #expect(told.file?.sha256 == sha256(sample))
        #expect(told.restarts.isEmpty && told.retries == 0)
        #expect(world.server.exchanges.count <= connections)
    }

    @Test(arguments: [1, 4]) func `starts over when the file changes midway`(connections: Int) async throws {
        let new = Array(sample.reversed().dropLast(7))
        let world = try world(connections) { [file] request in
            request.number == 0
                ? file.answer(request).with { response in
                    // By several it stays behind, until one of the others finds out.
                    if connections == 1 { response.cutAfter = 20_000 } else { response.pauseAfter = 20_000 }
                }
                : ServedFile(new, etag: "\"v2\"").answer(request)
        }
        let told = try await world.run { $0.sha256 = sha256(new) }
        #expect(told.restarts == ["The file on the server has changed."])
        #expect(try world.folder.read("file.ipa") == new)
    }

    @Test func `starts over no more than once where each answer is of another version`() async throws {
        let world = try world(4) { request in
            ServedFile(sample, etag: "\"v\(request.number)\"").answer(request)
        }
        let told = try await world.run()
        // Not at all where the first brings all before another is answered.
        #expect(told.restarts.isEmpty || told.restarts == ["The file on the server has changed."])
        #expect(told.file?.sha256 == sha256(sample))
    }

    @Test(arguments: [1, 4]) func `asks for no parts by a weak ETag`(connections: Int) async throws {
        let world = try World(connections: connections) { ServedFile(sample, etag: "W/\"v1\"").answer($0) }
        #expect(try await world.run().file?.sha256 == sha256(sample))
        #expect(world.ranges == [0])
    }

    @Test(arguments: [1, 4]) func `asks for parts by date where there is no ETag`(connections: Int) async throws {
        let date = "Thu, 01 Jan 2026 00:00:00 GMT"
        let world = try world(connections) { ServedFile(sample, etag: nil, lastModified: date).answer($0) }
        #expect(try await world.run().file?.sha256 == sha256(sample))
        #expect(world.server.exchanges.count >= connections)
        #expect(world.server.exchanges.dropFirst().allSatisfy { $0.request.headers["if-range"] == date })
    }

    /// What a server does to parts, while it lets the first connection be.
    enum Quirk: String, CaseIterable, Sendable {
        case compresses, webPage, forbids, isGone, isBusy, hasFault, loops, wandersOff, claims416, otherPart

        func response(_ request: HTTPServer.Request, _ right: HTTPServer.Response) -> HTTPServer.Response {
            switch self {
            case .compresses: right.with { $0.headers.append(("Content-Encoding", "br")) }
            case .webPage: .init(200, [("Content-Type", "text/html")], body: Array("<p>Sign in".utf8))
            case .forbids: .init(403)
            case .isGone: .init(410)
            case .isBusy: .init(429, [("Retry-After", "1000")])
            case .hasFault: .init(500)
            case .loops: .init(302, [("Location", request.path)])
            case .wandersOff: .init(302, [("Location", "ftp://example.org/")])
            case .claims416: .init(416, [("Content-Range", "bytes */5")])
            case .otherPart:
                .init(206, [("Content-Range", "bytes 0-9/300000"), ("ETag", "\"v1\"")], body: Array(sample[..<10]))
            }
        }
    }

    @Test(arguments: Quirk.allCases) func `ends well when one connection does`(quirk: Quirk) async throws {
        let world = try world(4) { [file] request in
            // After a start over, the first request is for the whole file again.
            request.firstByte == nil ? file.answer(request) : quirk.response(request, file.answer(request))
        }
        let told = try await world.run { $0.sha256 = sha256(sample) }
        #expect(told.file?.length == 300_000, "\(told.facts)")
        #expect(told.restarts.count <= ([.claims416, .otherPart].contains(quirk) ? 1 : 0))
        #expect(try world.folder.read("file.ipa") == sample)
    }

    @Test(arguments: [1, 4]) func `refuses more than was promised`(connections: Int) async throws {
        let world = try world(connections) { [file] request in
            file.answer(request).with { response in
                guard connections == 1 || request.number > 0 else {
                    response.pauseAfter = 20_000
                    return
                }
                response.body += [0]
                response.isChunked = true
            }
        }
        // By one connection chunks have no length to go beyond, but what is expected is one.
        #expect(try await world.run { $0.expectedLength = 300_000 }.error?.code == .tooMuchData)
        #expect(try world.folder.contents() == ["state"])
    }

    @Test(arguments: [1, 4]) func `names both checksums when they differ`(connections: Int) async throws {
        let world = try world(connections) { [file] in file.answer($0) }
        let error = try await world.run { $0.sha256 = sha256([1]) }.error
        #expect(error?.code == .checksumMismatch)
        #expect(try world.folder.contents() == ["state"])
    }

    @Test(arguments: [1, 4]) func `writes nowhere else, whatever the address and the server call the file`(
        connections: Int
    ) async throws {
        let world = try world(connections) { [file] request in
            file.answer(request).with {
                $0.headers.append(("Content-Disposition", "attachment; filename=\"../../evil\""))
            }
        }
        let told = try await world.run {
            $0.url = world.server.url("/../..%2f..%2f%2e%2e/evil/..%00")
            $0.sha256 = sha256(sample)
        }
        #expect(told.file?.path == world.destination)
        #expect(try world.folder.contents() == ["file.ipa", "state"])
    }

    @Test(arguments: [1, 4]) func `gives up where nobody answers, or the name has no address`(
        connections: Int
    ) async throws {
        let world = try World(retries: 1, connections: connections) { _ in HTTPServer.Response(200) }
        world.server.stop()
        #expect(try await world.run().error?.code == .connection)
        #expect(try await world.run { $0.url = "http://ferry.invalid/x" }.error?.code == .nameNotFound)
    }

    @Test(arguments: [1, 4]) func `stays within its rate`(connections: Int) async throws {
        let world = try world(connections) { [file] in file.answer($0) }
        let clock = ContinuousClock()
        let start = clock.now
        #expect(
            try await world.run { request in
                request.bytesPerSecond = 600_000
                request.sha256 = sha256(sample)
            }.file != nil
        )
        // At least: what a tenth of a second saves up, and the last piece, are not waited for.
        #expect(start.duration(to: clock.now) > .milliseconds(250))
    }

    @Test(arguments: [1, 4]) func `goes on from what is certainly on disk, in the next process`(
        connections: Int
    ) async throws {
        let world = try world(connections) { [file] request in
            // Nothing brings all of it: each connection of the first process stays behind.
            file.answer(request).with { if request.number < connections { $0.pauseAfter = 12_000 } }
        }
        let downloader = try Downloader(world.configuration)
        let download = await downloader.start(world.request())
        await download.waitForBytes(Int64(12_000 * connections))
        await downloader.close()
        #expect(await Told(download).error?.code == .cancelled)

        let asked = world.server.exchanges.count
        let told = try await world.run { $0.sha256 = sha256(sample) }
        #expect(told.facts.first == .started(totalBytes: 300_000, resumedFrom: Int64(12_000 * connections)))
        #expect(told.restarts.isEmpty)
        let sent = world.server.exchanges.dropFirst(asked).filter { $0.isOver }.reduce(0) { $0 + $1.sentBytes }
        #expect(sent <= 300_000 || connections > 1)
        #expect(try world.folder.read("file.ipa") == sample)
    }
}
