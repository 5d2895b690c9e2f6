import FerryBytes
import Synchronization
import TestKit
import Testing

@testable import FerryHTTP

@Suite(.timeLimit(.minutes(5)), .enabled(if: TestServer.hasTools, "\(TestServer.absent)"))
struct `A stream` {
    @Test(arguments: [false, true])
    func `sends each piece as it comes`(secure: Bool) async throws {
        let server = try TestServer(secure: secure) { _ in
            .now(
                .stream(
                    AsyncStream { sink in
                        for number in 0..<1000 { sink.yield(Array("line \(number)\n".utf8)) }
                        sink.finish()
                    },
                    type: "text/event-stream"
                )
            )
        }
        let answer = try await server.curl("/", ["-N"]).text
        #expect(answer == (0..<1000).map { "line \($0)\n" }.joined())
        #expect(try await server.curl("/", ["-I"]).text.contains("text/event-stream"))
    }

    @Test func `reaches a hundred viewers at once`() async throws {
        let viewers = 100
        let hub = Hub()
        let server = try TestServer { _ in .now(.stream(hub.subscribe(), type: "text/event-stream")) }
        let sockets = try (0..<viewers).map { _ in
            let socket = try Socket.connect(port: server.port)
            _ = socket.write(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)[...])
            return socket
        }
        await hub.subscribers(viewers)
        for number in 0..<20 { hub.publish(Array("data: \(number)\n\n".utf8)) }
        let texts = try await onThread { sockets.map { $0.read(until: "data: 19\n\n") } }
        for text in texts {
            #expect((0..<20).allSatisfy { text.contains("data: \($0)\n\n") })
        }
        // Whoever goes is noticed, though nothing is sent.
        for socket in sockets { socket.shutDown() }
        await hub.subscribers(0)
    }

    @Test func `waits for a client that reads slowly`() async throws {
        let written = Atomic(0)
        let box = Counter(written)
        let ended = Sign()
        let server = try TestServer { _ in
            .now(
                Response(
                    body: .stream { writer in
                        defer { ended.give() }
                        while true {
                            try await writer.write([UInt8](repeating: 0x61, count: 100_000))
                            box.value.add(100_000, ordering: .relaxed)
                        }
                    }
                )
            )
        }
        var socket: Socket? = try Socket.connect(port: server.port)
        _ = socket?.write(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)[...])
        // Twenty times in a row no more than before: it waits. The kernel has a few megabytes of room by itself.
        var last = -1
        var same = 0
        while same < 20 {
            let now = box.value.load(ordering: .relaxed)
            same = now == last ? same + 1 : 0
            last = now
            try await onThread { usleepMilliseconds(10) }
        }
        #expect(last < 32 << 20)
        socket = nil
        await ended.wait()
    }

    @Test(arguments: [false, true], [false, true])
    func `that fails is seen to be cut short`(isLate: Bool, isSecure: Bool) async throws {
        let server = try TestServer(secure: isSecure) { _ in
            .now(
                Response(
                    body: .stream { writer in
                        try await writer.write(Array("half".utf8))
                        // By then the library has sent it, and waits.
                        if isLate { try await onThread { usleepMilliseconds(200) } }
                        throw BodyError.gone
                    }
                )
            )
        }
        let result = try await server.curl("/", ["--max-time", "20"])
        // Of what cut it short, curl says different things; 28 would be that nothing did.
        #expect(result.status != 0 && result.status != 28)
        #expect(result.text == "half")
    }

    @Test func `or a handler is cancelled when the client goes away`() async throws {
        let began = Sign()
        let cancelled = Sign()
        let server = try TestServer { _ in
            .later {
                began.give()
                await Sign().wait()
                if Task.isCancelled { cancelled.give() }
                return .text("too late")
            }
        }
        let socket = try Socket.connect(port: server.port)
        _ = socket.write(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)[...])
        await began.wait()
        socket.shutDown()
        await cancelled.wait()
    }
}

private final class Counter: Sendable {
    let value: Atomic<Int>

    init(_ value: consuming Atomic<Int>) {
        self.value = value
    }
}

/// Gives what is published to all who listen.
private final class Hub: Sendable {
    private struct State {
        var sinks: [Int: AsyncStream<[UInt8]>.Continuation] = [:]
        var next = 0
    }

    private let state = Mutex(State())
    private let counts = AsyncStream<Int>.makeStream()

    func subscribe() -> AsyncStream<[UInt8]> {
        let (stream, sink) = AsyncStream<[UInt8]>.makeStream()
        let number = state.withLock { state in
            state.next += 1
            state.sinks[state.next] = sink
            return state.next
        }
        sink.onTermination = { [self] _ in
            let count = state.withLock { state in
                state.sinks[number] = nil
                return state.sinks.count
            }
            counts.continuation.yield(count)
        }
        counts.continuation.yield(state.withLock { $0.sinks.count })
        return stream
    }

    func publish(_ bytes: [UInt8]) {
        for sink in state.withLock({ Array($0.sinks.values) }) { sink.yield(bytes) }
    }

    /// Returns once so many listen.
    func subscribers(_ count: Int) async {
        for await now in counts.stream where now == count { return }
    }
}
