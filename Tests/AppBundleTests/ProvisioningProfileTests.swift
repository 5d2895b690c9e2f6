import FerryAppBundle
import FerryPropertyList
import Foundation
import TestKit
import Testing

/// What a profile's property list holds, with changes.
func profileContent(_ pattern: String = "com.new.id", _ more: PropertyList.Dictionary = [:]) -> PropertyList.Dictionary
{
    var content: PropertyList.Dictionary = [
        "Name": "Test", "UUID": "11111111-2222-3333-4444-555555555555", "TeamIdentifier": ["TEAM123456"],
        "TeamName": "Team", "ApplicationIdentifierPrefix": ["TEAM123456"], "Platform": ["iOS"],
        "CreationDate": .date(PropertyListDate(secondsSince1970: 1_700_000_000)),
        "ExpirationDate": .date(PropertyListDate(secondsSince1970: 1_800_000_000)),
        "DeveloperCertificates": [.data([1, 2, 3]), .data([4])],
        "ProvisionedDevices": ["00008110-000000000000001E", "00008030-0011223344556677"],
        "Entitlements": [
            "application-identifier": .string("TEAM123456." + pattern),
            "com.apple.developer.team-identifier": "TEAM123456", "get-task-allow": false,
            "keychain-access-groups": ["TEAM123456.*"],
        ],
    ]
    for (key, value) in more { content[key] = value }
    return content
}

/// A profile without a signature around it, which is enough for what does not look at that.
func profile(_ pattern: String = "com.new.id", _ more: PropertyList.Dictionary = [:]) throws -> ProvisioningProfile {
    try ProvisioningProfile(bytes: PropertyList.dictionary(profileContent(pattern, more)).encoded(as: .xml))
}

@Suite struct `A provisioning profile` {
    private static let openssl = Tool("openssl")

    /// Signs bytes as Apple's profiles are signed, with a certificate of one test's own.
    private func signed(_ content: [UInt8], streamed: Bool = false) throws -> [UInt8] {
        let openssl = try #require(Self.openssl)
        let folder = try TemporaryFolder()
        try folder.write(content, to: "content")
        try openssl.run(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-keyout", "key.pem", "-out", "certificate.pem", "-subj", "/CN=Test",
            ],
            in: folder.path
        )
        let result = try openssl.run(
            [
                "cms", "-sign", "-nodetach", "-binary", "-outform", "DER", "-in", "content", "-signer",
                "certificate.pem", "-inkey", "key.pem", "-out", "profile",
            ] + (streamed ? ["-stream"] : []),
            in: folder.path
        )
        try #require(result.status == 0, "\(result.errors)")
        return try folder.read("profile")
    }

    @Test(
        .enabled(if: openssl != nil, "there is no openssl"),
        .timeLimit(.minutes(10)),
        arguments: [PropertyList.Format.xml, .binary],
        [false, true]
    )
    func `is read out of its signature`(format: PropertyList.Format, streamed: Bool) throws {
        let bytes = try signed(PropertyList.dictionary(profileContent()).encoded(as: format), streamed: streamed)
        let profile = try ProvisioningProfile(bytes: bytes)
        #expect(profile.isSigned)
        #expect(profile.bytes == bytes)
        #expect(profile.name == "Test")
        #expect(profile.uuid == "11111111-2222-3333-4444-555555555555")
        #expect(profile.teamIdentifiers == ["TEAM123456"])
        #expect(profile.teamIdentifier == "TEAM123456")
        #expect(profile.teamName == "Team")
        #expect(profile.appIDPrefixes == ["TEAM123456"])
        #expect(profile.applicationIdentifier == "TEAM123456.com.new.id")
        #expect(profile.prefix == "TEAM123456")
        #expect(profile.bundlePattern == "com.new.id")
        #expect(!profile.isWildcard)
        #expect(profile.developerCertificates == [[1, 2, 3], [4]])
        #expect(profile.creation == 1_700_000_000)
        #expect(profile.expiration == 1_800_000_000)
        #expect(profile.platforms == ["iOS"])
        #expect(profile.provisionedDevices?.count == 2)
        #expect(profile.kind == .adHoc)
        #expect(profile.entitlements.count == 4)
    }

    @Test(.enabled(if: openssl != nil, "there is no openssl"), .timeLimit(.minutes(10)))
    func `is refused, and never traps, wherever it is cut or changed`() throws {
        let bytes = try signed(PropertyList.dictionary(profileContent()).encoded(as: .binary))
        for count in stride(from: 0, to: bytes.count, by: 7) {
            let error = #expect(throws: AppBundleError.self, "cut at \(count)") {
                try ProvisioningProfile(bytes: Array(bytes[..<count]), path: "p")
            }
            #expect(error?.code == .profileUnreadable)
        }
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0x41
            _ = try? ProvisioningProfile(bytes: damaged)
        }
    }

    @Test(
        arguments: [
            ("BOGUS BOGUS", "It is no property list: it begins with BOGUS BOGUS."),
            ("", "It is no property list: it is empty."),
            ("0", "It is no CMS with a property list inside, or was cut short."),
            ("<plist><array/></plist>", "It holds an array, not a dictionary."),
            ("<plist><dict/></plist>", "It is a property list, but has no Entitlements."),
            (
                "<plist><dict><key>Entitlements</key><dict/></dict></plist>",
                "Its Entitlements have no application-identifier like TEAM.com.example."
            ),
        ]
    )
    func `says what it is instead`(text: String, says: String) {
        let error = #expect(throws: AppBundleError.self) {
            try ProvisioningProfile(bytes: Array(text.utf8), path: "p.x")
        }
        #expect(error?.message == "p.x: this is no provisioning profile. " + says)
        #expect(error?.remedy != nil)
    }

    @Test(arguments: ["TEAM", "TEAM.", ".com.a", ""]) func `must say for which app it is`(identifier: String) {
        let entitlements: PropertyList = ["application-identifier": .string(identifier)]
        #expect(throws: AppBundleError.self) { try profile("x", ["Entitlements": entitlements]) }
    }

    @Test(
        arguments: [
            ("com.a.b", "com.a.b", 8), ("com.a.b", "com.a.bc", nil), ("com.a.b", "com.a", nil),
            ("com.a.*", "com.a.b", 6), ("com.a.*", "com.a.b.c", 6), ("com.a.*", "com.a", nil),
            ("com.a.*", "com.a.", nil), ("com.a.*", "com.ab.c", nil), ("*", "x", 0), ("com.a.b", "COM.A.B", nil),
        ] as [(String, String, Int?)]
    )
    func `is for an app or not, more or less closely`(pattern: String, identifier: String, closeness: Int?) throws {
        #expect(try profile(pattern).matches(bundleIdentifier: identifier) == closeness)
    }

    @Test func `is chosen by how closely it fits, then by how long it lasts`() throws {
        let early = try profile(
            "com.a.b",
            ["ExpirationDate": .date(PropertyListDate(secondsSince1970: 5)), "UUID": "0"]
        )
        let all = [
            try profile("*"), try profile("com.a.*"), early, try profile("com.a.b"),
            try profile("com.a.b", ["UUID": "Z"]),
            try profile("com.*"), try profile("com.a.b.c", ["TeamIdentifier": ["OTHER"]]),
        ]
        let best = { ProvisioningProfile.best(for: $0, among: all, teamIdentifier: "TEAM123456") }
        #expect(best("com.a.b") == all[3])
        #expect(ProvisioningProfile.best(for: "com.a.b", among: all.reversed()) == all[3])
        #expect(best("com.a.b.c") == all[1])
        #expect(best("com.x") == all[5])
        #expect(best("org.x") == all[0])
        #expect(ProvisioningProfile.best(for: "org.x", among: Array(all[1...])) == nil)
        #expect(ProvisioningProfile.best(for: "com.a.b.c", among: all) == all[6])
    }

    @Test(.enabled(if: openssl != nil, "there is no openssl"), .timeLimit(.minutes(10)))
    func `tells everything for which a device would refuse the app`() throws {
        let bytes = try signed(PropertyList.dictionary(profileContent()).encoded(as: .xml))
        let profile = try ProvisioningProfile(bytes: bytes)
        let device = "00008110-000000000000001e"
        #expect(
            profile.problems(
                for: "com.new.id",
                certificateDER: [4],
                at: 1_799_999_999,
                platform: .iOS,
                device: device
            ).isEmpty
        )
        #expect(profile.problems(for: "com.new.id", platform: .watchOS).isEmpty)
        let problems = profile.problems(
            for: "com.other",
            certificateDER: [9],
            at: 1_800_000_000,
            platform: .tvOS,
            device: "X"
        )
        #expect(
            problems.map(\.message) == [
                "the profile “Test”: it is for com.new.id, not for com.other.",
                "the profile “Test”: the certificate that signs is not among the 2 that it names.",
                "the profile “Test”: it expired at 2027-01-15T08:00:00Z.",
                "the profile “Test”: it is for iOS, and the app is for tvOS.",
                "the profile “Test”: the device X is not among the 2 that it lists.",
            ]
        )
        #expect(problems.allSatisfy { $0.remedy != nil })
    }

    @Test(
        arguments: [
            (["ProvisionsAllDevices": true], .enterprise, []),
            (
                ["Entitlements": ["application-identifier": "T.com.new.id", "get-task-allow": true]], .development,
                [.profileLacksDevice]
            ),
            ([:], .adHoc, [.profileLacksDevice]),
        ] as [(PropertyList.Dictionary, ProvisioningProfile.Kind, [AppBundleError.Code])]
    )
    func `is of a kind, by which devices it is for`(
        more: PropertyList.Dictionary,
        kind: ProvisioningProfile.Kind,
        codes: [AppBundleError.Code]
    ) throws {
        let profile = try profile("com.new.id", more)
        #expect(profile.kind == kind)
        // These are not signed, which is told first.
        #expect(profile.problems(for: "com.new.id", device: "X").map(\.code) == [.profileUnsigned] + codes)
    }

    @Test func `of the App Store is for no device`() throws {
        var content = profileContent()
        content["ProvisionedDevices"] = nil
        let profile = try ProvisioningProfile(bytes: PropertyList.dictionary(content).encoded(as: .binary))
        #expect(profile.kind == .appStore)
        #expect(profile.problems(for: "com.new.id", device: "X").last?.message.contains("App Store") == true)
    }

    @Test func `gives an app group in another's place`() throws {
        let entitlements: PropertyList = [
            "application-identifier": "T.com.new.id",
            "com.apple.security.application-groups": ["group.first", "group.com.new.id", "group.T.*"],
        ]
        let profile = try profile("com.new.id", ["Entitlements": entitlements])
        let renames = ["com.peer.bench": "com.new.id"]
        #expect(profile.appGroup(insteadOf: "group.com.new.id") == "group.com.new.id")
        #expect(profile.appGroup(insteadOf: "group.com.peer.bench", renames: renames) == "group.com.new.id")
        #expect(profile.appGroup(insteadOf: "group.x", renames: renames) == "group.first")
        #expect(try self.profileWithoutGroups().appGroup(insteadOf: "group.x") == nil)
    }

    private func profileWithoutGroups() throws -> ProvisioningProfile { try profile() }

    @Test(
        .enabled(if: SharedFolder.exists, Comment(rawValue: SharedFolder.absent)),
        .enabled(if: Tool("unzip") != nil, "there is no unzip")
    )
    func `of a real app is read`() throws {
        let path = SharedFolder.corpus("fastlane-very-capable-app.ipa")
        let result = try #require(Tool("unzip")).run(["-p", path, "Payload/*.app/embedded.mobileprovision"])
        let profile = try ProvisioningProfile(bytes: result.output)
        // From `openssl cms -verify -noverify -inform DER`.
        #expect(profile.isSigned)
        #expect(profile.name == "org.fastlane.very-capable-app Development")
        #expect(profile.applicationIdentifier == "TestFixture.org.fastlane.very-capable-app")
        #expect(profile.kind == .development)
        #expect(profile.expiration.map { PropertyListDate(secondsSince1970: $0).text } == "2019-04-07T01:27:21Z")
        #expect(profile.entitlements.count == 26)
        #expect(profile.developerCertificates.map(\.count) == [1009])
    }

    @Test(
        .enabled(if: SharedFolder.exists, Comment(rawValue: SharedFolder.absent)),
        arguments: [
            ("appinfo-bplist.mobileprovision", "1234567890.com.icyleaf.ios"),
            ("rules_apple-integration_testing_ios.mobileprovision", "FOOBARBAZ1.*"),
            ("rules_apple-bogus.mobileprovision", nil),
        ]
    )
    func `that is none, or a bare property list, is told apart`(name: String, identifier: String?) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: SharedFolder.corpus(name))))
        guard let identifier else {
            #expect(throws: AppBundleError.self) { try ProvisioningProfile(bytes: bytes, path: name) }
            return
        }
        let profile = try ProvisioningProfile(bytes: bytes)
        #expect(profile.applicationIdentifier == identifier)
        #expect(!profile.isSigned)
        #expect(profile.problems(for: "com.icyleaf.ios").map(\.code) == [.profileUnsigned])
    }
}
