import Foundation
import StandInDevice
import TestKit
import Testing

@testable import FerryDevice

@Suite(.timeLimit(.minutes(5)))
struct `A device` {
    @Test func `is found, and says what it is`() async throws {
        let phone = try Harbour.phone {
            ($0.name, $0.deviceClass, $0.model, $0.system) = ("Küche 🍳", "iPad", "iPad13,4", "16.2")
        }
        defer { phone.disconnect() }
        let facts = try await Device.find(phone.identifier.lowercased().replacingOccurrences(of: "-", with: "")).facts()
        #expect(facts.identifier == phone.identifier)
        #expect([facts.name, facts.deviceClass, facts.model, facts.system] == ["Küche 🍳", "iPad", "iPad13,4", "16.2"])
        #expect(facts.isPaired && facts.batteryPercent == 84 && facts.isCharging == true)
        #expect(facts.connection == .usb)
    }

    @Test func `that is not paired says little, and its owner is not asked`() async throws {
        let phone = try Harbour.phone { $0.faults.stranger = .pending }
        defer { phone.disconnect() }
        let facts = try await Device.find(phone.identifier).facts()
        #expect(!facts.isPaired)
        #expect(facts.name == "Anna's iPhone")
        #expect(!phone.log.contains("Pair"))
    }

    @Test func `that trusts this computer no more is not paired`() async throws {
        let phone = try Harbour.phone { $0.faults.sessionError = "InvalidHostID" }
        defer { phone.disconnect() }
        #expect(try await !Device.find(phone.identifier).facts().isPaired)
    }

    @Test func `that is locked says what it tells everybody`() async throws {
        let phone = try Harbour.phone { $0.faults.sessionError = "PasswordProtected" }
        defer { phone.disconnect() }
        let facts = try await Device.find(phone.identifier).facts()
        #expect(facts.isLocked && facts.isPaired && facts.name == "Anna's iPhone")
    }

    @Test func `that says yes when it is asked is paired by the first install`() async throws {
        let phone = try Harbour.phone { $0.faults.stranger = .trusted }
        defer { phone.disconnect() }
        _ = try await phone.install().result.get()
        #expect(phone.log.contains("Pair"))
    }

    @Test func `lists its apps and removes one`() async throws {
        let phone = try Harbour.phone { phone in
            phone.apps = (0..<40).map {
                .init(identifier: "com.example.app\($0)", name: "App \($0)", version: "\($0).0", prefix: "TEAM123456")
            }
            var system = StandInApp(identifier: "com.apple.mail", name: "Mail", version: "1", prefix: "APPLE")
            system.kind = "System"
            phone.apps.append(system)
        }
        defer { phone.disconnect() }
        let device = try await Device.find(phone.identifier)
        let apps = try await device.apps()
        #expect(apps.count == 40)
        #expect(apps.map(\.identifier) == apps.map(\.identifier).sorted())
        #expect(apps[1].teamPrefix == "TEAM123456")
        #expect(try await device.apps(includingSystem: true).count == 41)
        #expect(try await device.app("com.example.app7")?.version == "7.0")
        #expect(try await device.app("com.example.none") == nil)
        try await device.uninstall("com.example.app7")
        #expect(try await device.app("com.example.app7") == nil)
    }

    @Test func `is chosen by its UDID, or as the only one`() throws {
        let one = Device(identifier: "00008110-000A11223344801E", connection: .usb)
        let two = Device(identifier: "00008030-000A11223344802E", connection: .usb)
        let air = Device(identifier: "00008030-000A11223344803E", connection: .network)
        #expect(try Device.choose(nil, from: [one]) == one)
        #expect(try Device.choose(nil, from: [air]) == air)
        #expect(try Device.choose(nil, from: [one, air]) == one)
        #expect(try Device.choose("00008030000a11223344802e", from: [one, two, air]) == two)
        func error(_ identifier: String?, _ devices: [Device]) -> DeviceError? {
            do throws(DeviceError) {
                _ = try Device.choose(identifier, from: devices)
                return nil
            } catch {
                return error
            }
        }
        #expect(error(nil, [])?.code == .notFound)
        #expect(error(nil, [])?.message == "No device is connected.")
        #expect(error(nil, [one, two])?.code == .several)
        #expect(
            error(nil, [one, two])?.message
                == "2 devices are connected: 00008110-000A11223344801E (usb), 00008030-000A11223344802E (usb)."
        )
        #expect(error("X", [one])?.message.contains("those that are: 00008110-000A11223344801E (usb).") == true)
        #expect(error("X", [])?.message == "The device X is not connected; none is.")
    }
}
