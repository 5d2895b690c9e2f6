import FerryBytes
import TestKit
import Testing

@testable import FerryHTTP

@Suite(.timeLimit(.minutes(5)), .enabled(if: TestServer.hasTools, "\(TestServer.absent)"))
struct `A server that stops` {
    @Test(arguments: [false, true])
    func `finishes what is being answered, and takes on nothing`(secure: Bool) async throws {
        let began = Sign()
        let go = Sign()
        let server = try TestServer(secure: secure) { _ in
            .later {
                began.give()
                await go.wait()
                return .text("done")
            }
        }
        async let answer = server.curl("/")
        await began.wait()
        async let stopped: Void = server.server.stop(within: .seconds(50))
        // Refused: nobody listens any more.
        var status: Int32 = 0
        while status != 7 { status = try await server.curl("/").status }
        go.give()
        #expect(try await answer.text == "done")
        await stopped
        #expect(server.server.connections == 0)
    }

    @Test func `ends a stream as if all were said, and cancels what takes too long`() async throws {
        let streams = Sign()
        let waits = Sign()
        let server = try TestServer { request in
            if request.path.segments == ["stream"] {
                return .now(
                    Response(
                        body: .stream { writer in
                            try await writer.write(Array("begun".utf8))
                            streams.give()
                            await Sign().wait()
                        }
                    )
                )
            }
            return .later {
                waits.give()
                await Sign().wait()
                return .text("never")
            }
        }
        async let stream = server.curl("/stream")
        async let never = server.curl("/")
        await streams.wait()
        await waits.wait()
        await server.server.stop(within: .milliseconds(50))
        #expect(try await stream.text == "begun")
        #expect(try await stream.status == 0)
        // CURLE_GOT_NOTHING
        #expect(try await never.status == 52)
    }

    @Test func `may be let go without a word, also with connections that wait`() async throws {
        let port: Int
        do {
            let server = try TestServer { _ in .now(.text("hello")) }
            port = server.port
            #expect(try await server.curl("/").text == "hello")
        }
        var isOver = false
        while !isOver { isOver = (try? Socket.connect(port: port)) == nil }
    }
}

@Suite(.timeLimit(.minutes(5)), .enabled(if: TestServer.hasTools, "\(TestServer.absent)"))
struct `Limits` {
    @Test func `let idle connections stop nobody`() async throws {
        let server = try TestServer { _ in .now(.text("hello")) }
        // No more: Foundation's Process, which waits for curl, cannot do with files numbered from 1024 on.
        let idle = try (0..<150).map { _ in try Socket.connect(port: server.port) }
        let half = try (0..<50).map { _ in
            let socket = try Socket.connect(port: server.port)
            _ = socket.write(Array("GET / HT".utf8)[...])
            return socket
        }
        for _ in 0..<5 { #expect(try await server.curl("/").text == "hello") }
        #expect(server.server.connections >= 200)
        withExtendedLifetime((idle, half)) {}
    }

    @Test func `hold for each address`() async throws {
        var limits = ServerLimits()
        limits.unlimitedAddresses = []
        limits.connectionsPerAddress = 3
        let server = try TestServer(limits: limits) { _ in .now(.text("hello")) }
        let ask = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        let kept = try (0..<3).map { _ in
            let socket = try Socket.connect(port: server.port)
            _ = socket.write(ask[...])
            #expect(socket.read(until: "hello").contains("200 OK"))
            return socket
        }
        let fourth = try Socket.connect(port: server.port)
        _ = fourth.write(ask[...])
        #expect(fourth.readAll().isEmpty)
        kept[0].shutDown()
        var answer = ""
        while !answer.contains("200 OK") {
            let next = try Socket.connect(port: server.port)
            _ = next.write(ask[...])
            answer = next.read(until: "hello")
        }
    }

    @Test func `end a connection that never finishes its request`() async throws {
        var limits = ServerLimits()
        limits.head = .seconds(1)
        let server = try TestServer(limits: limits) { _ in .now(.text("hello")) }
        let socket = try Socket.connect(port: server.port)
        try await onThread {
            // A byte each moment keeps it from being idle; what counts is the whole.
            while socket.write(Array("G".utf8)[...]) == 1, !socket.isEnded { usleepMilliseconds(20) }
        }
    }
}
