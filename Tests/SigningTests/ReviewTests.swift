import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryPropertyList
import FerrySample
import FerrySigning
import Foundation
import TestKit
import Testing

/// An identity and its profiles, made on the spot.
private struct Papers {
    let throwaway: ThrowawayIdentity
    let identity: Identity

    init(team: String = "OWNTEAM001") throws {
        throwaway = try ThrowawayIdentity(
            team: team,
            notBefore: Hands.now - Hands.day,
            notAfter: Hands.now + 300 * Hands.day
        )
        let password = Secret("x")
        identity = try Identity(pkcs12: try throwaway.p12(password: password), password: password)
    }

    func profile(
        _ name: String,
        team: String = "OWNTEAM001",
        certificates: [[UInt8]]? = nil,
        expiration: Int64 = Hands.now + 100 * Hands.day
    ) throws -> ProvisioningProfile {
        let sample = SampleProfile(
            name: name,
            team: team,
            certificates: certificates ?? [throwaway.leafDER],
            creation: Hands.now - Hands.day,
            expiration: expiration
        )
        return try ProvisioningProfile(bytes: try sample.signed(by: throwaway.authority))
    }
}

@Suite(.timeLimit(.minutes(10))) struct `The choice of a profile` {
    @Test func `refuses one of another team, though it names the certificate`() async throws {
        let papers = try Papers()
        let desk = try Desk(.sample())
        let options = SigningOptions(
            identity: papers.identity,
            profiles: [try papers.profile("Theirs", team: "OTHERTEAM9")]
        )
        let error = await #expect(throws: SignError.self) { try await desk.sign(options) }
        #expect(error?.code == .refused)
        #expect(
            error?.message.contains("The profile “Theirs” is of team OTHERTEAM9, the certificate of team OWNTEAM001.")
                == true
        )
    }

    @Test func `takes one that fits before one that lasts longer`() async throws {
        let papers = try Papers()
        let desk = try Desk(.sample())
        let options = SigningOptions(
            identity: papers.identity,
            profiles: [
                try papers.profile("Lasts longest", certificates: [], expiration: Hands.now + 5000 * Hands.day),
                try papers.profile("Fits"),
                try papers.profile("Of others", team: "OTHERTEAM9", expiration: Hands.now + 4000 * Hands.day),
            ]
        )
        let signed = try await desk.sign(options)
        #expect(Set(signed.bundles.compactMap(\.profile)) == ["Fits"])
        #expect(try await desk.faults() == [])
    }

    @Test(arguments: [4_000_000_000, 253_402_300_000, 1 << 52])
    func `copes with any date of expiry`(expiration: Int64) async throws {
        let papers = try Papers()
        let desk = try Desk(.sample())
        let profile: ProvisioningProfile
        do {
            profile = try papers.profile("Far", expiration: expiration)
        } catch {
            // A date that cannot be written is no date that can be read.
            return
        }
        _ = try? await desk.sign(SigningOptions(identity: papers.identity, profiles: [profile]))
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Permissions` {
    // As unzip -Zv shows them; what a device needs, and nothing that lets a file run as somebody else.
    @Test(
        arguments: [
            ("Payload/A.app/A", 0o106755, 0o100755), ("Payload/A.app/A", 0o100644, 0o100755),
            ("Payload/A.app/A", 0o100000, 0o100755), ("Payload/A.app/a.txt", 0o100000, 0o100644),
            ("Payload/A.app/a.txt", 0o104777, 0o100775), ("Payload/A.app/a.txt", 0o100640, 0o100640),
            ("Payload/A.app/a.txt", 0o100600, 0o100600),
        ] as [(String, UInt16, UInt16)]
    )
    func `come out as a device needs them`(name: String, before: UInt16, after: UInt16) async throws {
        let papers = try Papers()
        let desk = try Desk(
            .sample { archive in
                archive["Payload/A.app/a.txt"] = archive["Payload/A.app/a.txt"] ?? [1]
                archive.entries = archive.entries.map { entry in
                    entry.name == name ? .init(name: name, mode: before, bytes: entry.bytes) : entry
                }
            }
        )
        try await desk.sign(
            SigningOptions(identity: papers.identity, profiles: [try papers.profile("Fits")])
        )
        let entry = try Archive(path: desk.output).entries.first { $0.name == name }
        #expect(entry?.mode == after)
    }
}
