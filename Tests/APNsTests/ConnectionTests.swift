import FerryAPNs
import FerryBytes
import FerryStandInAPNs
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `A connection to the service` {
    typealias Answer = StandInScript.Answer

    /// Sends `count` pushes, 100 at once, and gives how many ended with each status; 0 for none.
    private func statuses(_ client: APNsClient, _ count: Int, inFlight: Int = 100) async -> [Int: Int] {
        let statuses = Guarded<[Int: Int]>([:])
        await client.sendAll(inFlight: inFlight, next: pushes(count)) { _, outcome in
            let status = (try? outcome.get().status) ?? 0
            statuses.withLock { $0[status, default: 0] += 1 }
        }
        return statuses.withLock { $0 }
    }

    @Test func `that leaves in the middle of 500 pushes takes none of them with it`() async throws {
        let world = try World(StandInScript { $0.goawayEvery = 250 })
        let client = try world.client()
        #expect(await statuses(client, 500, inFlight: 500) == [200: 500])
        let diagnostics = await client.diagnostics
        await client.close()
        let ledger = world.server.ledger
        #expect(ledger.ids.count == 500)
        // Those that a GOAWAY left out were not processed: sending them again makes no duplicate.
        #expect(ledger.duplicates == 0)
        #expect(diagnostics.resent > 0)
        #expect(diagnostics.goaways >= 1)
        #expect(world.server.ledger.connections >= 2)
    }

    @Test func `keeps the pushes that a GOAWAY let through until they are answered`() async throws {
        let world = try World()
        let client = try world.client()
        _ = try await client.send(World.push())
        world.server.script.holdsAnswers = true
        async let old = client.send(World.push(1))
        await world.server.wait { $0.requests == 2 }
        world.server.script.holdsAnswers = false
        world.server.sendGoaway()
        // The new one does not wait for the old one.
        #expect(try await client.send(World.push(2)).status == 200)
        #expect(world.server.ledger.connections == 2)
        world.server.releaseAnswers()
        #expect(try await old.attempts == 1)
        await client.close()
    }

    @Test func `has one stream until the first answer, then as many as the server and we allow`() async throws {
        for (limit, ceiling, most) in [(1000, 1000, 200), (50, 1000, 50), (1000, 30, 30)] as [(UInt32, Int, Int)] {
            let world = try World(
                StandInScript {
                    $0.streamLimit = limit
                    $0.holdsAnswers = true
                }
            ) { $0.streamCeiling = ceiling }
            let client = try world.client()
            async let sent = statuses(client, 200, inFlight: 200)
            await world.server.wait { $0.requests == 1 }
            #expect(await client.diagnostics.underWay == 1)
            world.server.releaseAnswers()
            await world.server.wait { $0.requests == 1 + min(most, 199) }
            #expect(await client.diagnostics.underWay == min(most, 199))
            world.server.script.holdsAnswers = false
            world.server.releaseAnswers()
            #expect(await sent == [200: 200])
            #expect(world.server.ledger.mostStreams <= most)
            await client.close()
        }
    }

    @Test func `whose limit is lowered to 1 has one at a time from then on`() async throws {
        let world = try World(StandInScript { $0.mishap = (after: 100, what: .streamLimit(1)) })
        let client = try world.client()
        #expect(await statuses(client, 600) == [200: 600])
        world.server.script.holdsAnswers = true
        let requests = world.server.ledger.requests
        async let late = statuses(client, 20)
        await world.server.wait { $0.requests == requests + 1 }
        #expect(await client.diagnostics.underWay == 1)
        world.server.script.holdsAnswers = false
        world.server.releaseAnswers()
        #expect(await late == [200: 20])
        await client.close()
        #expect(world.server.ledger.ids.count == 620)
        #expect(world.server.ledger.connections == 1)
    }

    @Test func `that is closed without a word is made anew, and every push gets there`() async throws {
        let world = try World(StandInScript { $0.mishap = (after: 77, what: .close) })
        let client = try world.client()
        #expect(await statuses(client, 500) == [200: 500])
        await client.close()
        #expect(world.server.ledger.connections >= 6)
        // What was answered but not heard is sent twice, with the same id.
        #expect(world.server.ledger.ids.count == 500)
    }

    @Test func `that stands still is left, and what it owes goes by another`() async throws {
        let script = StandInScript {
            $0.mishap = (after: 50, what: .stall)
            $0.mishapConnections = 1
        }
        let world = try World(script) {
            $0.silenceTimeout = .milliseconds(100)
            $0.pingTimeout = .milliseconds(300)
        }
        let client = try world.client()
        #expect(await statuses(client, 300) == [200: 300])
        let diagnostics = await client.diagnostics
        // A busy machine may be taken for a silent server once more.
        #expect(diagnostics.stalledConnections >= 1)
        #expect(diagnostics.connections == diagnostics.stalledConnections + 1)
        await client.close()
    }

    @Test func `is asked for a sign of life when answers are late, and kept where it gives one`() async throws {
        let world = try World(StandInScript { $0.holdsAnswers = true }) {
            $0.silenceTimeout = .milliseconds(20)
            $0.pingTimeout = .seconds(20)
        }
        let client = try world.client()
        async let response = client.send(World.push())
        await world.server.wait { $0.pings >= 3 }
        world.server.releaseAnswers()
        #expect(try await response.attempts == 1)
        #expect(await client.diagnostics.connections == 1)
        await client.close()
    }

    @Test func `that answers no PING is left for another`() async throws {
        let world = try World(
            StandInScript {
                $0.answersPing = false
                $0.numbered[2] = Answer.silence
            }
        ) {
            $0.silenceTimeout = .milliseconds(50)
            $0.pingTimeout = .milliseconds(100)
        }
        let client = try world.client()
        _ = try await client.send(World.push())
        let response = try await client.send(World.push())
        #expect(response.status == 200)
        #expect(response.attempts >= 2)
        #expect(await client.diagnostics.stalledConnections >= 1)
        #expect(world.server.ledger.pings >= 1)
        await client.close()
    }

    @Test func `that is idle is asked for a sign of life`() async throws {
        let world = try World { $0.idlePing = .milliseconds(20) }
        let client = try world.client()
        _ = try await client.send(World.push())
        await world.server.wait { $0.pings >= 2 }
        #expect(try await client.send(World.push()).status == 200)
        #expect(world.server.ledger.connections == 1)
        await client.close()
    }

    @Test func `that went dead while idle holds up no push`() async throws {
        let world = try World(
            StandInScript {
                $0.mishap = (after: 1, what: .stall)
                $0.mishapConnections = 1
            }
        ) {
            // As long as the push may take: only the PING that goes with it can tell in time.
            $0.silenceTimeout = .milliseconds(50)
            $0.pingTimeout = .milliseconds(200)
        }
        let client = try world.client()
        _ = try await client.send(World.push())
        let response = try await client.send(World.push())
        #expect(response.status == 200)
        #expect(world.server.ledger.connections >= 2)
        await client.close()
    }

    @Test(
        arguments: [
            // HEADERS with :status 200 for a stream that nobody opened (RFC 9113 §6.2, RFC 7541 §6.1).
            [0, 0, 1, 1, 5, 0, 0, 0x7F, 0xFF, 0x88],
            // DATA for it.
            [0, 0, 1, 0, 1, 0, 0, 0x7F, 0xFF, 0x41],
            // A frame of a kind that does not exist: to be passed over.
            [0, 0, 4, 0xFA, 0, 0, 0, 0, 0, 1, 2, 3, 4],
            // A PUSH_PROMISE, which we forbade.
            [0, 0, 5, 5, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0x88],
            // A WINDOW_UPDATE over the limit.
            [0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF],
            // A header block that HPACK does not allow.
            [0, 0, 2, 1, 5, 0, 0, 0, 1, 0xFF, 0xFF],
            // Letters where frames are due.
            Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8),
        ] as [[UInt8]]
    )
    func `on which the server talks nonsense is replaced, and nothing is lost`(bytes: [UInt8]) async throws {
        let world = try World(
            StandInScript {
                $0.mishap = (after: 20, what: .bytes(bytes))
                $0.mishapConnections = 2
            }
        ) {
            $0.silenceTimeout = .milliseconds(100)
            $0.pingTimeout = .milliseconds(100)
        }
        let client = try world.client()
        #expect(await statuses(client, 200, inFlight: 10) == [200: 200])
        await client.close()
        #expect(world.server.ledger.ids.count == 200)
    }

    @Test(arguments: [7, 2, 8, 11] as [UInt32])
    func `that breaks off a stream has the push sent again`(code: UInt32) async throws {
        let world = try World(StandInScript { $0.numbered[2] = Answer.reset(code) })
        let client = try world.client()
        _ = try await client.send(World.push())
        let response = try await client.send(World.push())
        #expect(response.status == 200)
        #expect(response.attempts == 2)
        await client.close()
        #expect(world.server.ledger.connections == 1)
    }

    @Test func `that breaks off every stream ends in an error, not in a storm`() async throws {
        let world = try World(
            StandInScript { $0.answers[World.token(1)] = Array(repeating: Answer.reset(7), count: 100) }
        ) { $0.retries = 3 }
        let client = try world.client()
        let error = await apnsError { try await client.send(World.push()) }
        #expect(error?.code == .connection)
        #expect(error?.message == "localhost:\(world.server.port) refused the push again and again.")
        #expect(world.server.ledger.requests == 4)
        await client.close()
    }

    @Test func `that answers nothing ends the push with its time, and serves the next one`() async throws {
        let world = try World(StandInScript { $0.numbered[1] = Answer.silence }) {
            $0.requestTimeout = .seconds(2)
        }
        let client = try world.client()
        let request = try World.push()
        let error = await apnsError { try await client.send(request) }
        #expect(error?.code == .timedOut)
        #expect(
            error?.message
                == "localhost:\(world.server.port) did not answer the push \(request.id) within 2.0 seconds; "
                + "it was sent 1×."
        )
        #expect(try await client.send(World.push()).status == 200)
        #expect(world.server.ledger.connections == 1)
        await client.close()
    }

    @Test func `waits for a server that does not shake hands yet`() async throws {
        let world = try World(StandInScript { $0.rejectsTLS = true })
        let client = try world.client()
        async let response = client.send(World.push())
        await world.server.wait { $0.accepted >= 3 }
        world.server.script.rejectsTLS = false
        #expect(try await response.status == 200)
        #expect(await client.diagnostics.failedConnections >= 2)
        await client.close()
    }
}
