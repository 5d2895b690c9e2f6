import FerryAPNs
import FerryStandInAPNs
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `A push that waits` {
    /// A client that has one stream, which is taken, so that every further push waits.
    private func busyClient(_ world: World) async throws -> (APNsClient, Task<Int, any Error>) {
        let client = try world.client()
        let first = Task { try await client.send(World.push(1)).status }
        await world.server.wait { $0.requests == 1 }
        return (client, first)
    }

    /// Sends a push from a task of its own, and waits until it stands in line.
    private func waiting(
        _ client: APNsClient,
        _ request: PushRequest,
        count: Int
    ) async -> Task<PushResponse, any Error> {
        let task = Task { try await client.send(request) }
        while await client.diagnostics.waiting + client.diagnostics.replaced < count { await Task.yield() }
        return task
    }

    @Test func `gives its place to a newer one with the same key`() async throws {
        let world = try World(StandInScript { $0.holdsAnswers = true })
        let (client, first) = try await busyClient(world)
        var tasks: [Task<PushResponse, any Error>] = []
        for sequence in 1...5 {
            let push = try World.push(2, sequence: sequence, replacementKey: "a")
            tasks.append(await waiting(client, push, count: sequence))
        }
        let other = await waiting(client, try World.push(3, replacementKey: "b"), count: 6)
        world.server.script.holdsAnswers = false
        world.server.releaseAnswers()
        for task in tasks.dropLast() {
            let error = await apnsError { try await task.value }
            #expect(error?.code == .replaced)
        }
        #expect(try await tasks[4].value.status == 200)
        #expect(try await other.value.status == 200)
        #expect(try await first.value == 200)
        #expect(await client.diagnostics.replaced == 4)
        #expect(await client.diagnostics.failed == 0)
        await client.close()
        let payloads = world.server.ledger.deliveries.map(\.payload)
        #expect(payloads == [World.payload(), World.payload(5), World.payload()])
    }

    @Test func `is not sent anew when a newer one was taken in meanwhile`() async throws {
        let busy = StandInScript.Answer(503, "ServiceUnavailable")
        let world = try World(StandInScript { $0.answers[World.token(2)] = [busy] })
        let client = try world.client()
        #expect(try await client.send(World.push(1)).status == 200)
        world.server.script.holdsAnswers = true
        let old = try World.push(2, sequence: 1, replacementKey: "a")
        let task = Task { try await client.send(old) }
        await world.server.wait { $0.requests == 2 }
        let newer = try World.push(2, sequence: 2, replacementKey: "a")
        async let delivered = client.send(newer)
        await world.server.wait { $0.requests == 3 }
        world.server.releaseAnswers()
        #expect(try await delivered.status == 200)
        let error = await apnsError { try await task.value }
        #expect(error?.code == .replaced)
        await client.close()
        #expect(world.server.ledger.deliveries.map(\.payload) == [World.payload(), World.payload(2)])
    }

    @Test func `is never sent once its task is cancelled`() async throws {
        let world = try World(StandInScript { $0.holdsAnswers = true })
        let (client, first) = try await busyClient(world)
        let task = await waiting(client, try World.push(2), count: 1)
        task.cancel()
        let error = await apnsError { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(error?.isCancellation == true)
        world.server.script.holdsAnswers = false
        world.server.releaseAnswers()
        #expect(try await first.value == 200)
        #expect(try await client.send(World.push(3)).status == 200)
        await client.close()
        #expect(world.server.ledger.requests == 2)
    }

    @Test func `under way ends when its task is cancelled, and the connection stays`() async throws {
        let world = try World(StandInScript { $0.holdsAnswers = true })
        let (client, first) = try await busyClient(world)
        first.cancel()
        let error = await apnsError { try await first.value }
        #expect(error?.code == .cancelled)
        world.server.script.holdsAnswers = false
        #expect(try await client.send(World.push(2)).status == 200)
        #expect(world.server.ledger.connections == 1)
        await client.close()
    }

    @Test func `of a task that was cancelled before is not sent`() async throws {
        let world = try World()
        let client = try world.client()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.send(World.push())
        }
        let error = await apnsError { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try await client.send(World.push(2)).status == 200)
        #expect(world.server.ledger.requests == 1)
        await client.close()
    }

    @Test func `ends when the client is closed, and none is taken after that`() async throws {
        let world = try World(StandInScript { $0.holdsAnswers = true })
        let (client, first) = try await busyClient(world)
        let second = await waiting(client, try World.push(2), count: 1)
        await client.close()
        for task in [await apnsError { try await first.value }, await apnsError { try await second.value }] {
            #expect(task?.code == .closed)
        }
        let late = await apnsError { try await client.send(World.push(3)) }
        #expect(late?.code == .closed)
        await client.sendAll(inFlight: 2, next: pushes(3)) { _, _ in Issue.record("it was told of a push") }
        #expect(await client.diagnostics.failed == 2)
        await client.close()
    }

    @Test func `is refused where too many wait`() async throws {
        let world = try World(StandInScript { $0.holdsAnswers = true }) { $0.waitingLimit = 2 }
        let (client, first) = try await busyClient(world)
        let waiting = [
            await waiting(client, try World.push(2), count: 1), await waiting(client, try World.push(3), count: 2),
        ]
        let error = await apnsError { try await client.send(World.push(4)) }
        #expect(error?.code == .overloaded)
        #expect(error?.message == "2 pushes wait already.")
        world.server.script.holdsAnswers = false
        world.server.releaseAnswers()
        for task in waiting { #expect(try await task.value.status == 200) }
        #expect(try await first.value == 200)
        await client.close()
    }

    @Test func `lets the thread end when nobody holds the client`() async throws {
        let world = try World()
        var client: APNsClient? = try world.client()
        #expect(try await client?.send(World.push()).status == 200)
        client = nil
        world.server.closeConnections()
        #expect(world.server.ledger.connections == 1)
    }
}
