import FerryAPNs
import FerryBytes
import FerryStandInAPNs
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `A push` {
    @Test func `reaches the service with all its fields`() async throws {
        let world = try World()
        let request = try PushRequest(
            token: "AAbb01",
            topic: World.topic,
            priority: .five,
            payload: World.payload(7),
            expiration: 1_750_000_600,
            collapseID: "ferry-1",
            id: "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
        )
        let response = try await world.send(request)
        #expect(response.status == 200)
        #expect(response.reason == nil)
        #expect(response.verdict == .delivered)
        #expect(response.apnsID == "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")
        #expect(response.attempts == 1)
        let delivery = try #require(world.server.ledger.deliveries.first)
        #expect(delivery.token == "AAbb01")
        #expect(delivery.id == request.id)
        #expect(delivery.priority == "5")
        #expect(delivery.expiration == "1750000600")
        #expect(delivery.collapseID == "ferry-1")
        #expect(delivery.payload == World.payload(7))
    }

    @Test func `makes do with one connection and one signature for ten callers`() async throws {
        let world = try World()
        let client = try world.client()
        try await withThrowingTaskGroup(of: PushResponse.self) { group in
            for number in 1...10 {
                group.addTask { try await client.send(try World.push(number)) }
            }
            for try await response in group { #expect(response.status == 200) }
        }
        await client.close()
        #expect(world.server.ledger.connections == 1)
        #expect(world.server.ledger.providerTokens == 1)
        #expect(await client.diagnostics.tokensSigned == 1)
    }

    @Test(arguments: [7, 100])
    func `of thousands is not lost when a GOAWAY comes after every few`(inFlight: Int) async throws {
        let world = try World(StandInScript { $0.goawayEvery = 100 }, record: .ids)
        let client = try world.client()
        let outcomes = Guarded<[Int: Int]>([:])
        await client.sendAll(inFlight: inFlight, next: pushes(2000)) { _, outcome in
            let status = (try? outcome.get().status) ?? 0
            outcomes.withLock { $0[status, default: 0] += 1 }
        }
        let diagnostics = await client.diagnostics
        await client.close()
        #expect(outcomes.withLock { $0 } == [200: 2000])
        #expect(world.server.ledger.ids.count == 2000)
        #expect(world.server.ledger.goaways >= 19)
        #expect(diagnostics.answered == 2000)
    }
}
