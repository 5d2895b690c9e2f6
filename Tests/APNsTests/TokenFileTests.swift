import FerryAPNs
import FerryStandInAPNs
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A provider token` {
    private func world() throws -> World {
        var world = try World()
        world.configuration.tokenFile = world.folder.path("token")
        return world
    }

    @Test func `serves the next process too`() async throws {
        let world = try world()
        for _ in 0..<5 { #expect(try await world.send(try World.push()).isDelivered) }
        #expect(world.server.ledger.providerTokens == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: world.folder.path("token"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `is made anew when it is old`() async throws {
        let clock = WallClock()
        var world = try World(clock: clock)
        world.configuration.tokenFile = world.folder.path("token")
        #expect(try await world.send(try World.push()).isDelivered)
        clock.seconds += 46 * 60
        #expect(try await world.send(try World.push()).isDelivered)
        #expect(world.server.ledger.providerTokens == 2)
    }

    @Test(arguments: ["", "nothing", "a b", "0 1:2"]) func `is made where the file holds none`(
        text: String
    ) async throws {
        let world = try world()
        try world.folder.write(Array(text.utf8), to: "token")
        #expect(try await world.send(try World.push()).isDelivered)
    }

    @Test func `of another key is not taken`() async throws {
        let world = try world()
        #expect(try await world.send(try World.push()).isDelivered)
        // Another server, which knows another key under the same id.
        var other = try World()
        other.configuration.tokenFile = world.folder.path("token")
        #expect(try await other.send(try World.push()).isDelivered)
    }

    @Test func `is sent although it cannot be kept`() async throws {
        var world = try World()
        world.configuration.tokenFile = world.folder.path("not/there/token")
        #expect(try await world.send(try World.push()).isDelivered)
    }
}
