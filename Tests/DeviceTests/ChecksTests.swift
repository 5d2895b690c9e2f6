import FerryAppBundle
import FerryInstalling
import FerrySample
import StandInDevice
import TestKit
import Testing

@testable import FerryDevice

@Suite(.timeLimit(.minutes(5)))
struct `Before anything is sent` {
    private static let identifier = "00008110-000A11223344801E"

    private static func device(_ change: (inout DeviceFacts) -> Void = { _ in }) -> DeviceFacts {
        var facts = DeviceFacts(identifier: identifier)
        (facts.name, facts.deviceClass, facts.system, facts.architecture) = (
            "Anna's iPhone", "iPhone", "17.5.1", "arm64e"
        )
        change(&facts)
        return facts
    }

    private static func app(
        devices: [String]? = [identifier],
        forAll: Bool = false,
        _ change: (inout AppFacts) -> Void = { _ in }
    ) throws -> AppFacts {
        let identity = try ThrowawayIdentity(notBefore: 1_700_000_000, notAfter: 4_000_000_000)
        var profile = SampleProfile(
            team: "TEAM123456",
            certificates: [identity.leafDER],
            creation: 1_700_000_000,
            expiration: 4_000_000_000,
            allowsDebugging: devices != nil
        )
        profile.devices = devices
        profile.provisionsAllDevices = forAll
        var app = AppFacts(identifier: "com.example.harbour", name: "Harbour")
        app.minimumOS = "15.0"
        app.families = [1, 2]
        app.platform = .iOS
        app.architectures = ["arm64"]
        let bytes = try profile.signed(by: identity.authority)
        app.profiles = [.init(path: "Payload/Harbour.app", profile: try ProvisioningProfile(bytes: bytes))]
        change(&app)
        return app
    }

    private static func installed(_ prefix: String?, kind: String = "User") -> DeviceApp {
        var app = DeviceApp(identifier: "com.example.harbour")
        (app.teamPrefix, app.kind) = (prefix, kind)
        return app
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let codes: [DeviceProblem.Code]
        let app: AppFacts
        var device = `Before anything is sent`.device()
        var installed: DeviceApp?
        var testDescription: String { name }
    }

    private static let cases = Result {
        [
            Case(name: "fits", codes: [], app: try app()),
            Case(name: "listed in another case", codes: [], app: try app(devices: [identifier.lowercased()])),
            Case(name: "enterprise", codes: [], app: try app(devices: nil, forAll: true)),
            Case(name: "not listed", codes: [.notInProfile], app: try app(devices: ["00008030-1"])),
            Case(name: "for the store", codes: [.notInProfile], app: try app(devices: nil)),
            Case(name: "no profile", codes: [.noProfile], app: try app { $0.profiles = [] }),
            Case(name: "system just new enough", codes: [], app: try app { $0.minimumOS = "17.5.1" }),
            Case(name: "system too old", codes: [.systemTooOld], app: try app { $0.minimumOS = "17.5.2" }),
            Case(
                name: "system unknown",
                codes: [],
                app: try app { $0.minimumOS = "99" },
                device: device { $0.system = nil }
            ),
            Case(name: "for iPads", codes: [.family], app: try app { $0.families = [2] }),
            Case(
                name: "an iPhone's on an iPad",
                codes: [],
                app: try app { $0.families = [1] },
                device: device { $0.deviceClass = "iPad" }
            ),
            Case(name: "no family", codes: [], app: try app { $0.families = [] }),
            Case(name: "for TVs", codes: [.platform], app: try app { ($0.platform, $0.families) = (.tvOS, [1]) }),
            Case(
                name: "an iPhone's on visionOS",
                codes: [],
                app: try app { $0.minimumOS = "16.0" },
                device: device { ($0.deviceClass, $0.system) = ("RealityDevice", "2.1") }
            ),
            Case(name: "for a simulator", codes: [.architecture], app: try app { $0.architectures = ["x86_64"] }),
            Case(name: "32-bit", codes: [.architecture], app: try app { $0.architectures = ["armv7"] }),
            Case(
                name: "32-bit on an old system",
                codes: [],
                app: try app { ($0.architectures, $0.minimumOS) = (["armv7"], "8.0") },
                device: device { ($0.system, $0.architecture) = ("10.3", "arm64") }
            ),
            Case(name: "one of two", codes: [], app: try app { $0.architectures = ["armv7", "arm64"] }),
            Case(name: "own team", codes: [], app: try app(), installed: installed("TEAM123456")),
            Case(name: "other team", codes: [.otherTeam], app: try app(), installed: installed("OTHER00000")),
            Case(name: "team unknown", codes: [], app: try app(), installed: installed(nil)),
            Case(name: "system app", codes: [.systemApp], app: try app(), installed: installed(nil, kind: "System")),
            Case(
                name: "all at once",
                codes: [.notInProfile, .systemTooOld, .family, .architecture, .otherTeam],
                app: try app(devices: []) {
                    ($0.minimumOS, $0.families, $0.architectures) = ("18.0", [2], ["x86_64"])
                },
                installed: installed("OTHER00000")
            ),
        ]
    }

    @Test func `an app is held against the device`() throws {
        for one in try Self.cases.get() {
            let problems = DeviceChecks.problems(of: one.app, on: one.device, installed: one.installed)
            #expect(problems.map(\.code) == one.codes, "\(one.name): \(problems)")
            for problem in problems { #expect(problem.remedy != nil && problem.message.hasSuffix("."), "\(problem)") }
        }
    }

    @Test func `a header that is cut short, or no Mach-O's, tells no processor and harms nobody`() {
        let thin = TinyMachO().bytes
        #expect(codeArchitectures(thin) == ["arm64"])
        var fat: [UInt8] = [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 2]
        fat +=
            [0x01, 0, 0, 0x0C] + [UInt8](repeating: 0, count: 16) + [0x01, 0, 0, 0x07]
            + [UInt8](repeating: 0, count: 16)
        #expect(codeArchitectures(fat) == ["arm64", "x86_64"])
        for length in 0..<64 { _ = codeArchitectures(Array(thin.prefix(length))) }
        for length in 0..<fat.count { #expect(codeArchitectures(Array(fat.prefix(length))).count <= 1) }
        #expect(codeArchitectures([0xCA, 0xFE, 0xBA, 0xBF, 0xFF, 0xFF, 0xFF, 0xFF]) == [])
        #expect(codeArchitectures(Array("#!/bin/sh\n".utf8)) == [])
    }

    @Test func `an app that would not be taken is refused, with every reason`() async throws {
        let phone = try Harbour.phone { $0.system = "14.8" }
        defer { phone.disconnect() }
        let error = try #require(try await phone.install(phone.harbour.archive(for: "00008030-1")).error)
        #expect(error.code == .refused)
        #expect(
            error.message == """
                Anna's iPhone: the profile “Ferry Demo”: the device \(phone.identifier) is not among the 1 that it lists.
                Harbour needs iOS 15.0, and Anna's iPhone has 14.8.
                """
        )
        #expect(!phone.log.contains { $0.hasPrefix("mkdir") || $0.hasPrefix("open") || $0 == "Install" })
    }

    @Test func `an app of another team in its place is told with what removes it`() async throws {
        let phone = try Harbour.phone {
            $0.apps = [.init(identifier: "com.example.harbour", name: "Harbour", version: "1.0", prefix: "OTHER00000")]
        }
        defer { phone.disconnect() }
        let error = try #require(try await phone.install().error)
        #expect(error.message.contains("signed by the team OTHER00000"))
        #expect(error.remedy?.contains("ferry uninstall com.example.harbour --device \(phone.identifier)") == true)
        #expect(!phone.log.contains("Install"))
    }

    @Test func `what is no archive is told`() async throws {
        let phone = try Harbour.phone()
        defer { phone.disconnect() }
        let error = try #require(try await phone.install(Array("no zip".utf8)).error)
        #expect(error.code == .archive)
        #expect(!phone.log.contains("Install"))
    }
}
