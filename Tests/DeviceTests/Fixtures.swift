import FerryBytes
import FerryDevice
import FerryInstalling
import FerryPropertyList
import FerrySample
import FerryZip
import Foundation
import StandInDevice
import TestKit
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// Devices behind one socket, for all tests of this process: libimobiledevice finds it by a variable of the environment.
///
/// Each test has a device of its own.
final class Harbour: Sendable {
    static let shared = Result { try Harbour() }

    let device: StandInDevice
    let folder: TemporaryFolder
    private let identity: ThrowawayIdentity

    private init() throws {
        folder = try TemporaryFolder()
        device = try StandInDevice(socketPath: folder.path("mux"), folder: folder.path("files"))
        setenv("USBMUXD_SOCKET_ADDRESS", "UNIX:" + folder.path("mux"), 1)
        let now = Int64(Date().timeIntervalSince1970)
        identity = try ThrowawayIdentity(notBefore: now - 86_400, notAfter: now + 300 * 86_400)
    }

    /// A new device, connected.
    static func phone(_ change: (inout StandInPhone) -> Void = { _ in }) throws -> Phone {
        let harbour = try shared.get()
        let digits = (0..<16).map { _ in String(Int.random(in: 0..<16), radix: 16, uppercase: true) }.joined()
        var phone = StandInPhone(identifier: "00008110-" + digits, name: "Anna's iPhone")
        change(&phone)
        try harbour.device.connect(phone)
        return Phone(harbour: harbour, identifier: phone.identifier)
    }

    /// The bytes of a signed app, as far as a device that is not there looks.
    func archive(
        for device: String?,
        identifier: String = "com.example.harbour",
        team: String? = nil,
        fillBytes: Int = 600_000,
        isSigned: Bool = true,
        _ change: (inout ZipBuilder) -> Void = { _ in }
    ) throws -> [UInt8] {
        var builder = ZipBuilder()
        let info: PropertyList = [
            "CFBundleIdentifier": .string(identifier), "CFBundleExecutable": "Harbour", "CFBundleName": "Harbour",
            "CFBundleShortVersionString": "1.2", "CFBundleVersion": "12", "MinimumOSVersion": "15.0",
            "CFBundleSupportedPlatforms": ["iPhoneOS"], "UIDeviceFamily": [1, 2],
        ]
        let app = "Payload/Harbour.app/"
        builder.addFile(app + "Info.plist", info.encoded(as: .binary))
        builder.addFile(app + "Harbour", TinyMachO().bytes, mode: 0o755)
        var random = SeededGenerator(seed: 3)
        builder.addFile(app + "fill.bin", random.bytes(fillBytes), level: 0)
        var profile = SampleProfile(
            team: team ?? identity.team,
            certificates: [identity.leafDER],
            creation: 1_700_000_000,
            expiration: 4_000_000_000
        )
        profile.devices = device.map { [$0] }
        builder.addFile(app + "embedded.mobileprovision", try profile.signed(by: identity.authority))
        if isSigned { builder.addFile(app + "_CodeSignature/CodeResources", Array("<plist/>".utf8)) }
        change(&builder)
        return try builder.bytes()
    }

    var team: String { identity.team }
}

/// A device of one test.
struct Phone: Sendable {
    let harbour: Harbour
    let identifier: String

    /// Installs an app on it; gives what was told, and how it ended.
    func install(
        stallLimit: Duration = .seconds(20),
        trustLimit: Duration = .zero,
        _ bytes: [UInt8]? = nil,
        told hear: @escaping @Sendable (InstallEvent) -> Void = { _ in }
    ) async throws -> Ending {
        let folder = try TemporaryFolder()
        let path = try folder.write(bytes ?? harbour.archive(for: identifier), to: "Harbour.ipa")
        let told = Guarded<[InstallEvent]>([])
        let target = DeviceTarget(identifier: identifier, stallLimit: stallLimit, trustLimit: trustLimit)
        let result: Result<InstalledApp, InstallError>
        do throws(InstallError) {
            result = .success(
                try await target.install(path) { event in
                    told.withLock { $0.append(event) }
                    hear(event)
                }
            )
        } catch {
            result = .failure(error)
        }
        return Ending(result: result, told: told.withLock { $0 })
    }

    /// How an install ended.
    struct Ending: Sendable {
        let result: Result<InstalledApp, InstallError>
        let told: [InstallEvent]

        var error: InstallError? {
            guard case .failure(let error) = result else { return nil }
            return error
        }
        var steps: [String] {
            told.compactMap { if case .step(let step) = $0 { step } else { nil } }
        }
        var percents: [Int] {
            told.compactMap { if case .percent(let percent) = $0 { percent } else { nil } }
        }
    }

    func set(_ change: (inout StandInFaults) -> Void) {
        var faults = StandInFaults()
        change(&faults)
        harbour.device.setFaults(faults, of: identifier)
    }

    var log: [String] { harbour.device.log(identifier) }
    /// The archives that lie on it.
    var leftovers: [String] { harbour.device.files(identifier).filter { $0.hasSuffix(".ipa") } }
    /// The path of one of its files here.
    func file(_ path: String) -> String { harbour.folder.path("files/\(identifier)/\(path)") }
    var apps: [StandInApp] { harbour.device.phone(identifier)?.apps ?? [] }

    /// Whether all its connections end, as they do soon after an install.
    func isLetGo() async throws -> Bool {
        for _ in 0..<500 {
            if harbour.device.connectionCount(of: identifier) == 0 { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    func disconnect() { harbour.device.disconnect(identifier) }
}

/// The sockets that this process has open.
func socketCount() -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.filter { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name))?.hasPrefix("socket:")
            == true
    }.count
}
