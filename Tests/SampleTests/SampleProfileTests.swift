import FerryAppBundle
import FerryPropertyList
import FerrySample
import Foundation
import TestKit
import Testing

@Suite struct `A sample profile` {
    private let identity: ThrowawayIdentity
    private let devices = ["00008110-000000000000001E", "00008030-0011223344556677"]

    init() throws {
        identity = try ThrowawayIdentity(team: "PIERTEAM01", notBefore: january2026, notAfter: january2027)
    }

    private func profile(_ pattern: String, devices: [String]?) -> SampleProfile {
        SampleProfile(
            name: "Pier",
            appIDPattern: pattern,
            team: "PIERTEAM01",
            certificates: [identity.leafDER],
            devices: devices,
            creation: january2026,
            expiration: january2027,
            allowsDebugging: false,
            appGroups: ["group.com.example.pier"],
            apsEnvironment: "production",
            entitlements: ["com.apple.developer.healthkit": true]
        )
    }

    @Test(.enabled(if: openssl != nil, "openssl is not installed"))
    func `is a message that the intermediate signed`() throws {
        let profile = profile("*", devices: devices)
        let folder = try TemporaryFolder()
        let file = try folder.write(try profile.signed(by: identity.authority), to: "p.mobileprovision")
        let root = try folder.write(identity.rootPEM, to: "root.pem")
        let read = ["cms", "-verify", "-inform", "DER", "-binary", "-in", file]
        let opened = try #require(openssl).run(read + ["-noverify"])
        #expect(opened.status == 0, "\(opened.errors)")
        #expect(opened.output == profile.plist)
        let trusted = try #require(openssl).run(
            read + ["-CAfile", root, "-purpose", "any", "-attime", "\(june2026)"]
        )
        #expect(trusted.status == 0, "\(trusted.errors)")
        // The time of signing is the profile's, not the machine's.
        let shown = try #require(openssl).run(["cms", "-cmsout", "-print", "-inform", "DER", "-in", file]).text
        #expect(shown.contains("UTCTIME:Jan  1 00:00:00 2026 GMT"))
    }

    @Test(.enabled(if: Tool("python3") != nil, "python3 is not installed"))
    func `holds a property list as plistlib reads it`() throws {
        let script = """
            import plistlib, sys
            p = plistlib.loads(sys.stdin.buffer.read())
            e = p["Entitlements"]
            print(p["Name"], p["TeamIdentifier"], p["ProvisionedDevices"], p["CreationDate"], p["ExpirationDate"])
            print(sorted(e), e["application-identifier"], e["get-task-allow"], e["keychain-access-groups"])
            print(len(p["DeveloperCertificates"]), type(p["DeveloperCertificates"][0]).__name__, p["TimeToLive"])
            """
        let result = try #require(Tool("python3")).run(
            ["-c", script],
            input: profile("com.example.*", devices: devices).plist
        )
        #expect(
            result.text == """
                Pier ['PIERTEAM01'] ['00008110-000000000000001E', '00008030-0011223344556677'] \
                2026-01-01 00:00:00 2027-01-01 00:00:00
                ['application-identifier', 'aps-environment', 'com.apple.developer.healthkit', \
                'com.apple.developer.team-identifier', 'com.apple.security.application-groups', \
                'get-task-allow', 'keychain-access-groups'] \
                PIERTEAM01.com.example.* False ['PIERTEAM01.*']
                1 bytes 365

                """,
            "\(result.errors)"
        )
    }

    @Test(
        arguments: [
            ("*", "com.example.harbour", true), ("com.example.*", "com.example.harbour", true),
            ("com.example.harbour", "com.example.harbour", true), ("com.example.harbour", "com.example.pier", false),
        ]
    )
    func `fits the bundles of its pattern`(pattern: String, identifier: String, fits: Bool) throws {
        let bytes = try profile(pattern, devices: devices).signed(by: identity.authority)
        let read = try ProvisioningProfile(bytes: bytes)
        #expect(read.isSigned)
        #expect((read.matches(bundleIdentifier: identifier) != nil) == fits)
        let problems = read.problems(
            for: identifier,
            certificateDER: identity.leafDER,
            at: Double(june2026),
            device: devices[0]
        )
        #expect(problems.isEmpty == fits)
        #expect(read.appGroups == ["group.com.example.pier"])
    }

    @Test func `lists no devices where it has none`() throws {
        let read = try ProvisioningProfile(bytes: try profile("*", devices: nil).signed(by: identity.authority))
        #expect(read.provisionedDevices == nil)
        #expect(read.expiration == Double(january2027))
    }

    @Test func `has one UUID for the same words, and another for others`() {
        #expect(profile("*", devices: nil).uuid == profile("*", devices: devices).uuid)
        #expect(profile("*", devices: nil).uuid != profile("com.example.*", devices: nil).uuid)
        #expect(UUID(uuidString: profile("*", devices: nil).uuid)?.uuidString == profile("*", devices: nil).uuid)
    }
}
