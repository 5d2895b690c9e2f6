import FerryBytes
import Synchronization
import TestKit
import Testing

@testable import FerryHTTP

@Suite(.timeLimit(.minutes(5)), .enabled(if: TestServer.hasTools, "\(TestServer.absent)"))
struct `What a client sends along` {
    private static let bytes: [UInt8] = {
        var random = SeededGenerator(seed: 11)
        return (0..<5_000_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    }()

    @Test(arguments: [false, true], [[], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect:"]])
    func `arrives as it was, piece by piece`(secure: Bool, options: [String]) async throws {
        let server = try TestServer(secure: secure) { request in
            .later(bodyLimit: 8_000_000) {
                do {
                    var all: [UInt8] = []
                    for try await chunk in request.body { all += chunk }
                    return .bytes(all, type: "application/octet-stream")
                } catch {
                    return .text("\(error)", status: 500)
                }
            }
        }
        let answer = try await server.curl("/", ["-X", "POST", "--data-binary", "@-"] + options, input: Self.bytes)
        #expect(answer.output == Self.bytes)
    }

    @Test func `waits for a slow reader, and little of it is kept`() async throws {
        var limits = ServerLimits()
        limits.bodyBuffer = 64 << 10
        let largest = LargestChunk()
        let server = try TestServer(limits: limits) { request in
            .later(bodyLimit: 8_000_000) {
                var count = 0
                do {
                    for try await chunk in request.body {
                        largest.add(chunk.count)
                        count += chunk.count
                        for _ in 0..<100 { await Task.yield() }
                    }
                } catch {}
                return .text("\(count)")
            }
        }
        #expect(try await server.curl("/", ["--data-binary", "@-"], input: Self.bytes).text == "5000000")
        // The last piece that is taken in may go over by what the library reads at once.
        #expect(largest.value <= limits.bodyBuffer + limits.headerBytes)
    }

    @Test(arguments: [[], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect:"]])
    func `is refused where it is too long`(options: [String]) async throws {
        let server = try TestServer { request in
            .later(bodyLimit: 1000) {
                do {
                    return .text("\(try await request.body.bytes().count)")
                } catch {
                    return .text("\(error)", status: 500)
                }
            }
        }
        let input = Array(Self.bytes.prefix(2_000_000))
        #expect(try await server.status("/", ["--data-binary", "@-"] + options, input: input) == "413")
        #expect(
            try await server.curl("/", ["--data-binary", "@-"] + options, input: Array(input.prefix(1000))).text
                == "1000"
        )
    }

    @Test(arguments: [[], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect:"]])
    func `is let go where nobody wants it`(options: [String]) async throws {
        let server = try TestServer { request in
            request.path.segments == ["now"]
                ? .now(.text("no", status: 401)) : .later(bodyLimit: 8_000_000) { .text("no", status: 401) }
        }
        for path in ["/now", "/later"] {
            #expect(try await server.status(path, ["--data-binary", "@-"] + options, input: Self.bytes) == "401")
        }
    }

    @Test func `ends with an error when the client goes away`() async throws {
        let began = Sign()
        let ended = Sign()
        let seen = Mutex<BodyError?>(nil)
        let box = Seen(seen)
        let server = try TestServer { request in
            .later {
                do {
                    for try await _ in request.body { began.give() }
                } catch let error as BodyError {
                    box.value.withLock { $0 = error }
                } catch {}
                ended.give()
                return .text("")
            }
        }
        let socket = try Socket.connect(port: server.port)
        _ = socket.write(Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc".utf8)[...])
        await began.wait()
        socket.shutDown()
        await ended.wait()
        #expect(box.value.withLock { $0 } == .gone)
    }
}

private final class Seen: Sendable {
    let value: Mutex<BodyError?>

    init(_ value: consuming Mutex<BodyError?>) {
        self.value = value
    }
}

private final class LargestChunk: Sendable {
    private let largest = Atomic(0)

    var value: Int { largest.load(ordering: .relaxed) }

    func add(_ count: Int) { largest.max(count, ordering: .relaxed) }
}
