import FerryAppBundle
import FerryCodeSignature
import FerryPropertyList
import FerrySigning
import TestKit
import Testing

@Suite(.enabled(if: Hands.usable, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `The entitlements of an app` {
    private static let health = "com.apple.developer.healthkit"

    private func entitlements(_ path: String, of desk: Desk) async throws -> PropertyList.Dictionary {
        let bundles = try await Hands.signer.inspect(desk.output).bundles
        return try #require(bundles.first { $0.path == path }?.entitlements)
    }

    @Test func `are what it had, cut to its profile, and what is dropped is told`() async throws {
        let first = try Desk(.sample())
        var options = try Hands.options()
        options.profiles = [try Hands.profile(granting: [Self.health])]
        options.entitlements = [Self.health: true]
        try await first.sign(options)
        let rich = try await entitlements("Payload/A.app", of: first)
        #expect(rich[Self.health] == true)
        #expect(rich["application-identifier"] == .string(TestAuthority.team + ".com.peer.bench"))
        // What replaces the app's is not for its extensions.
        #expect(try await entitlements("Payload/A.app/PlugIns/W.appex", of: first)[Self.health] == nil)
        #expect(try await first.faults() == [])

        let second = try Desk(first.folder.read("out/out.ipa"))
        let signed = try await second.sign(try Hands.options())
        #expect(signed.bundles.map { $0.droppedEntitlements.keys.sorted() } == [[], [], [Self.health]])
        #expect(try await entitlements("Payload/A.app", of: second)[Self.health] == nil)
        #expect(try await second.faults() == [])

        // Under the profile of the second, the first would not be installed.
        var mixed = try Archive(path: first.output)
        mixed["Payload/A.app/embedded.mobileprovision"] = try Hands.profile().bytes
        let path = try first.folder.write(mixed.bytes(), to: "mixed.ipa")
        let faults = try await Hands.signer.verify(path)
        #expect(Set(faults.map(\.code)) == [.entitlementNotGranted, .sealedFileChanged])
        #expect(faults.contains { $0.message.contains(Self.health) })
    }

    @Test func `are refused before the work where the profile does not grant what is asked for`() async throws {
        let desk = try Desk(.sample())
        var options = try Hands.options()
        options.entitlements = [Self.health: true, "aps-environment": "production"]
        let error = await #expect(throws: SignError.self) { try await desk.sign(options) }
        #expect(error?.code == .refused)
        #expect(error?.reasons.count == 2)
        #expect(error?.message.contains(Self.health) == true)
        #expect(error?.message.contains("aps-environment") == true)
        #expect(try desk.leftovers() == [])
    }

    @Test func `with a value that DER cannot hold are refused by name`() async throws {
        let desk = try Desk(.sample())
        var options = try Hands.options()
        options.profiles = [try Hands.profile(granting: [Self.health])]
        options.entitlements = [Self.health: 1.5]
        let error = await #expect(throws: SignError.self) { try await desk.sign(options) }
        #expect(error?.message.contains(Self.health) == true)
        #expect(try desk.leftovers() == [])
    }

    @Test(arguments: [true, false])
    func `let a debugger in as the profile says`(isAllowed: Bool) async throws {
        let desk = try Desk(.sample())
        var options = try Hands.options()
        options.profiles = [try Hands.profile(debug: isAllowed)]
        try await desk.sign(options)
        #expect((try await entitlements("Payload/A.app", of: desk)["get-task-allow"]?.bool ?? false) == isAllowed)
        #expect(try await desk.faults() == [])
    }
}
