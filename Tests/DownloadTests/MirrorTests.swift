import Dispatch
import FerryDownload
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A download with mirrors` {
    private let file = ServedFile(sample)

    /// The file as another server has it, whose ETag is its own.
    private let copy = ServedFile(sample, etag: "\"copy\"")

    @Test(arguments: [404, 403, 503]) func `asks the next when one fails for good`(status: Int) async throws {
        let mirror = try World { [copy] in copy.answer($0) }
        let world = try World(retries: 1) { _ in HTTPServer.Response(status) }
        let told = try await world.run { $0.mirrors = [mirror.server.url("/mirror")] }
        #expect(told.file?.sha256 == sha256(sample))
        #expect(told.mirrors == [mirror.server.url("/mirror")])
        #expect(world.server.exchanges.count == (status == 503 ? 2 : 1))
        #expect(mirror.ranges == [0])
    }

    @Test func `asks them in order, and fails with the last when none has it`() async throws {
        let last = try World { _ in HTTPServer.Response(410) }
        let middle = try World { _ in HTTPServer.Response(404) }
        let world = try World { _ in HTTPServer.Response(403) }
        let told = try await world.run { $0.mirrors = [middle.server.url(), last.server.url()] }
        #expect(told.mirrors == [middle.server.url(), last.server.url()])
        #expect(told.error?.message.contains("\(last.server.url()): the server answered 410") == true)
    }

    @Test func `starts over at the next where nothing can show that it has the same file`() async throws {
        let mirror = try World { [copy] in copy.answer($0) }
        let world = try World(retries: 0) { [file] request in file.answer(request).with { $0.cutAfter = 100_000 } }
        let told = try await world.run { $0.mirrors = [mirror.server.url()] }
        #expect(told.restarts == ["Nothing can show that the mirror has the same file."])
        #expect(mirror.ranges == [0])
        #expect(mirror.server.exchanges.first?.request.headers["if-range"] == nil)
        #expect(told.file?.sha256 == sha256(sample))
    }

    @Test func `goes on at the next where a SHA-256 is given, without If-Range`() async throws {
        let mirror = try World { [copy] in copy.answer($0) }
        let world = try World(retries: 0) { [file] request in file.answer(request).with { $0.cutAfter = 100_000 } }
        let told = try await world.run { request in
            request.mirrors = [mirror.server.url()]
            request.sha256 = sha256(sample)
        }
        #expect(told.restarts.isEmpty)
        #expect(mirror.ranges == [100_000])
        #expect(mirror.server.exchanges.first?.request.headers["if-range"] == nil)
        #expect(told.file?.length == 300_000)
    }

    @Test(arguments: [true, false]) func `takes nothing of a mirror whose file has another length`(
        hasChecksum: Bool
    ) async throws {
        let mirror = try World { ServedFile(sample + [1]).answer($0) }
        let world = try World(retries: 0) { [file] request in file.answer(request).with { $0.cutAfter = 100_000 } }
        let told = try await world.run { request in
            request.mirrors = [mirror.server.url()]
            request.sha256 = hasChecksum ? sha256(sample) : nil
        }
        #expect(told.error?.code == .lengthMismatch)
        #expect(
            told.error?.message
                == "\(mirror.server.url()): the mirror's file has 300001 bytes, but the other has 300000."
        )
    }

    @Test func `asks all of them for parts at once where a SHA-256 is given`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let mirror = try World { [copy] request in
            copy.answer(request).with { $0.ended = { gate.signal() } }
        }
        // Slow: it brings its start, and then nothing before the mirror has brought a part.
        let world = try World(connections: 4) { [file] request in
            file.answer(request).with { response in
                guard request.number == 0 else { return }
                response.pauseAfter = 20_000
                response.waiting = { _ = gate.wait(timeout: .now() + 10) }
            }
        }
        let told = try await world.run { request in
            request.mirrors = [mirror.server.url()]
            request.sha256 = sha256(sample)
        }
        #expect(told.file?.length == 300_000)
        #expect(!mirror.server.exchanges.isEmpty)
        #expect(mirror.server.exchanges.allSatisfy { $0.status == 206 })
        #expect(told.restarts.isEmpty)
    }

    @Test func `asks one server alone without a SHA-256`() async throws {
        let mirror = try World { [copy] in copy.answer($0) }
        let world = try World(connections: 4) { [file] in file.answer($0) }
        let told = try await world.run { $0.mirrors = [mirror.server.url()] }
        #expect(told.file?.sha256 == sha256(sample))
        #expect(mirror.server.exchanges.isEmpty)
    }

    @Test func `gives a mirror no header that may be a credential`() async throws {
        let mirror = try World { [copy] in copy.answer($0) }
        let world = try World { _ in HTTPServer.Response(404) }
        let told = try await world.run { request in
            request.mirrors = [mirror.server.url().replacing("http://", with: "http://other:word@")]
            request.headers = [DownloadHeader("Authorization", "Bearer hush"), DownloadHeader("Accept", "a/b")]
        }
        #expect(told.file != nil)
        #expect(world.server.exchanges.first?.request.headers["authorization"] == "Bearer hush")
        let there = try #require(mirror.server.exchanges.first?.request.headers)
        // Its own name and password, from its own address.
        #expect(there["authorization"] == "Basic b3RoZXI6d29yZA==")
        #expect(there["accept"] == "a/b")
    }

    @Test func `takes no local file for one`() async throws {
        let world = try World { [file] in file.answer($0) }
        #expect(try await world.run { $0.mirrors = ["/etc/passwd"] }.error?.code == .unsupportedScheme)
    }

    @Test func `goes on from a mirror's bytes in the next process`() async throws {
        let mirror = try World { [copy] request in
            copy.answer(request).with { if request.number == 0 { $0.cutAfter = 100_000 } }
        }
        let world = try World(retries: 0) { _ in HTTPServer.Response(404) }
        let wanted: @Sendable (inout DownloadRequest) -> Void = { $0.mirrors = [mirror.server.url()] }
        #expect(try await world.run(wanted).error?.code == .connection)
        #expect(try await world.run(wanted).file?.sha256 == sha256(sample))
        #expect(mirror.ranges == [0, 100_000])
        #expect(mirror.server.exchanges.last?.request.headers["if-range"] == "\"copy\"")
    }
}

extension Told {
    /// The mirrors that were moved on to.
    fileprivate var mirrors: [String] {
        events.compactMap { if case .movedOn(let mirror, _) = $0 { mirror } else { nil } }
    }
}
