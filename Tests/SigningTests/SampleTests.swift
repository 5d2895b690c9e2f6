import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerrySample
import FerrySigning
import Foundation
import TestKit
import Testing

/// A sample app of one shape.
private struct Shape: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let app: SampleApp
    let key: ThrowawayIdentity.KeyKind

    init(_ name: String, _ key: ThrowawayIdentity.KeyKind = .p256, _ change: (inout SampleApp) -> Void) {
        testDescription = name
        var app = SampleApp()
        app.approximateBytes = 300_000
        change(&app)
        self.app = app
        self.key = key
    }

    static let all: [Shape] = [
        Shape("signed before") { _ in },
        Shape("never signed", .rsa2048) { $0.hasSignatureRoom = false },
        Shape("for iOS 10, with both hashes") { $0.minimumOS = "10.0" },
        Shape("universal, all of it", .rsa2048) { app in
            app.minimumOS = "9.0"
            app.changeBinary = { _, images in
                var old = images[0]
                old.architecture = .armv7
                old.payloadBytes /= 2
                var new = images[0]
                new.architecture = .arm64e
                new.signatureRoom = nil
                images = [old, images[0], new]
            }
        },
        Shape("with no more than its executable") { $0.parts = [] },
    ]
}

@Suite(.enabled(if: Oracle.exists, "\(Oracle.absent)"), .timeLimit(.minutes(10)))
struct `A sample app` {
    @Test(arguments: Shape.all)
    private func `is signed without a fault`(shape: Shape) async throws {
        let year = 365 * Hands.day
        let identity = try ThrowawayIdentity(
            keyKind: shape.key,
            notBefore: Hands.now - Hands.day,
            notAfter: Hands.now + year
        )
        let profile = try SampleProfile(
            certificates: [identity.leafDER],
            devices: ["00008110-000000000000001E"],
            creation: Hands.now - Hands.day,
            expiration: Hands.now + year
        ).signed(by: identity.authority)
        let desk = try Desk(shape.app.archive())
        var options = SigningOptions(
            identity: try Identity(pkcs12: identity.p12(password: Secret("x")), password: Secret("x")),
            profiles: [try ProvisioningProfile(bytes: profile)]
        )
        options.bundleIdentifier = "com.new.harbour"
        options.device = "00008110-000000000000001e"
        let signed = try await desk.sign(options)
        #expect(signed.identifier == "com.new.harbour")
        #expect(signed.signedFileCount == (shape.app.parts.isEmpty ? 1 : 5))
        let faults = try await onThread {
            try Oracle.faults(desk.output, original: desk.input, id: signed.identifier, team: identity.team)
        }
        #expect(faults == [])
        #expect(try await desk.faults() == [])
    }
}
