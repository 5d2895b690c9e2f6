import Foundation
import StandInDevice
import TestKit
import Testing

/// Whether the stand-in is a device to programs that are not ours: what only Ferry took for one would prove little.
@Suite(.timeLimit(.minutes(5)))
struct `The device that is not there` {
    @Test(.enabled(if: Tool("ideviceinstaller") != nil, "ideviceinstaller is not installed"))
    func `has apps for Debian's ideviceinstaller`() async throws {
        let tool = try #require(Tool("ideviceinstaller"))
        let phone = try Harbour.phone()
        defer { phone.disconnect() }
        let folder = try TemporaryFolder()
        let path = try folder.write(phone.harbour.archive(for: phone.identifier), to: "Harbour.ipa")
        let installed = try await onThread { try tool.run(["-u", phone.identifier, "-i", path]) }
        #expect(installed.status == 0, "\(installed.text) \(installed.errors)")
        #expect(installed.text.contains("Complete"))
        #expect(phone.apps.map(\.identifier) == ["com.example.harbour"])
        let listed = try await onThread { try tool.run(["-u", phone.identifier, "-l"]) }
        #expect(listed.text.contains("com.example.harbour"))
        let removed = try await onThread { try tool.run(["-u", phone.identifier, "-U", "com.example.harbour"]) }
        #expect(removed.status == 0)
        #expect(phone.apps == [])
    }

    @Test(.enabled(if: Tool("ideviceinfo") != nil, "ideviceinfo is not installed"), arguments: [false, true])
    func `says what it is to Debian's ideviceinfo`(isPlain: Bool) async throws {
        let tool = try #require(Tool("ideviceinfo"))
        let phone = try Harbour.phone {
            $0.system = "16.2"
            $0.faults.isPlain = isPlain
        }
        defer { phone.disconnect() }
        let told = try await onThread { try tool.run(["-u", phone.identifier]) }
        #expect(told.status == 0, "\(told.errors)")
        for line in ["DeviceName: Anna's iPhone", "ProductVersion: 16.2", "UniqueDeviceID: \(phone.identifier)"] {
            #expect(told.text.contains(line + "\n"), "\(told.text)")
        }
        let battery = ["-u", phone.identifier, "-q", "com.apple.mobile.battery", "-k", "BatteryCurrentCapacity"]
        #expect(try await onThread { try tool.run(battery) }.text == "84\n")
    }

    @Test(.enabled(if: Tool("ideviceinfo") != nil, "ideviceinfo is not installed"))
    func `is none that ideviceinfo trusts once its trust is gone`() async throws {
        let tool = try #require(Tool("ideviceinfo"))
        let phone = try Harbour.phone { $0.faults.sessionError = "InvalidHostID" }
        defer { phone.disconnect() }
        let told = try await onThread { try tool.run(["-u", phone.identifier]) }
        #expect(told.status != 0)
        #expect((told.text + told.errors).contains("lockdown"), "\(told.text) \(told.errors)")
    }
}
