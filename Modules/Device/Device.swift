import CIMobileDevice
import FerryBytes
import FerryPropertyList

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A device that is connected: its facts and its apps.
///
/// Everything here waits for the device on a thread of its own, and ends soon when its task is cancelled.
public struct Device: Sendable, Hashable {
    /// The most devices that are looked at.
    public static let maximumDeviceCount = 1000
    /// How long nothing may come from a device that is asked something.
    public static let answerLimit = Duration.seconds(30)

    /// Its UDID.
    public let identifier: String
    /// How it is reached.
    public let connection: DeviceFacts.Connection

    /// What to call it before its name is known.
    var title: String { "device \(identifier.printable)" }

    // MARK: Finding

    /// The devices that are connected, by cable before by network; each once.
    public static func connected() async throws(DeviceError) -> [Device] {
        do {
            return try await DeviceLine.run(
                on: "usbmuxd",
                doing: "asking for devices",
                limit: answerLimit,
                clock: ContinuousClock()
            ) { _ in try list() }
        } catch {
            throw DeviceError(error, on: "usbmuxd", doing: "asking for devices")
        }
    }

    /// The device of that UDID, or the only one; throws where there is none, or which one is meant is open.
    public static func find(_ identifier: String? = nil) async throws(DeviceError) -> Device {
        try choose(identifier, from: await connected())
    }

    static func choose(_ identifier: String?, from devices: [Device]) throws(DeviceError) -> Device {
        func plain(_ text: String) -> String { text.lowercased().filter { $0 != "-" } }
        let list = devices.map { "\($0.identifier.printable) (\($0.connection.rawValue))" }.joined(separator: ", ")
        guard let identifier else {
            // One by cable is meant before those in the air.
            let cabled = devices.filter { $0.connection == .usb }
            if let device = devices.count == 1 ? devices.first : cabled.count == 1 ? cabled.first : nil {
                return device
            }
            guard devices.isEmpty else {
                throw DeviceError(
                    .several,
                    "\(devices.count) devices are connected: \(list).",
                    remedy: "Say which one is meant: device:UDID. “ferry devices” tells their names."
                )
            }
            throw DeviceError(.notFound, "No device is connected.", remedy: connectRemedy)
        }
        if let device = devices.first(where: { plain($0.identifier) == plain(identifier) }) { return device }
        throw DeviceError(
            .notFound,
            "The device \(identifier.printable) is not connected"
                + (devices.isEmpty ? "; none is." : "; those that are: \(list)."),
            remedy: connectRemedy
        )
    }

    private static let connectRemedy =
        "Connect it by cable, unlock it, and tap Trust; “ferry devices” must show it. A device in the network shows once it "
        + "was paired by cable and allows it."

    private static func list() throws(DeviceError) -> [Device] {
        var list: UnsafeMutablePointer<idevice_info_t?>?
        var count: Int32 = 0
        let result = idevice_get_device_list_extended(&list, &count)
        guard result == IDEVICE_E_SUCCESS, let list else {
            if result == IDEVICE_E_NO_DEVICE, isServiceThere { return [] }
            throw DeviceError(
                .service,
                "usbmuxd cannot be reached, which leads to devices.",
                remedy:
                    "Install and start it (Debian: apt-get install usbmuxd; it starts when a device is connected), or say "
                    + "where it is with USBMUXD_SOCKET_ADDRESS."
            )
        }
        defer { idevice_device_list_extended_free(list) }
        var devices: [Device] = []
        for index in 0..<min(Int(count), maximumDeviceCount) {
            guard let info = list[index]?.pointee, let udid = info.udid else { continue }
            let isNetwork = Int32(info.conn_type.rawValue) == ferry_connection_network
            devices.append(Device(identifier: String(cString: udid), connection: isNetwork ? .network : .usb))
        }
        var known: Set<String> = []
        return (devices.filter { $0.connection == .usb } + devices.filter { $0.connection == .network })
            .filter { known.insert($0.identifier).inserted }
    }

    /// libimobiledevice says “no device” also where nobody answers.
    private static var isServiceThere: Bool {
        var text: UnsafeMutablePointer<CChar>?
        guard usbmuxd_read_buid(&text) == 0 else { return false }
        free(text)
        return true
    }

    // MARK: Asking

    /// What is known of it; of a device that is not paired, what it tells everybody.
    ///
    /// Nobody at the device is asked for trust.
    public func facts() async throws(DeviceError) -> DeviceFacts {
        try await ask("asking what it is") { device, line in
            let isPaired = hasPairRecord
            guard isPaired else { return facts(try Lockdown(device, isTrusted: false, line), isPaired: false) }
            do throws(DeviceError) {
                return facts(try Lockdown(device, line), isPaired: true)
            } catch  where error.code == .notPaired {
                return facts(try Lockdown(device, isTrusted: false, line), isPaired: false)
            }
        }
    }

    /// Its apps, by their identifiers: those that people installed, or also those of the system.
    public func apps(includingSystem: Bool = false) async throws(DeviceError) -> [DeviceApp] {
        try await ask("listing its apps") { device, line in
            let proxy = try proxy(device, try Lockdown(device, line), line)
            return try proxy.apps(includingSystem ? "Any" : "User")
                .sorted { $0.identifier.utf8.lexicographicallyPrecedes($1.identifier.utf8) }
        }
    }

    /// The app of that identifier; `nil` for none.
    public func app(_ bundleIdentifier: String) async throws(DeviceError) -> DeviceApp? {
        try await ask("looking for \(bundleIdentifier.printable)") { device, line in
            try proxy(device, try Lockdown(device, line), line).app(bundleIdentifier)
        }
    }

    /// Removes an app with all its data.
    public func uninstall(_ bundleIdentifier: String) async throws(DeviceError) {
        try await ask("removing \(bundleIdentifier.printable)") { device, line in
            try proxy(device, try Lockdown(device, line), line).uninstall(bundleIdentifier)
        }
    }

    private func ask<Value: Sendable>(
        _ step: String,
        _ work: @escaping @Sendable (OpaquePointer, DeviceLine) throws -> Value
    ) async throws(DeviceError) -> Value {
        do {
            return try await DeviceLine.run(
                on: title,
                doing: step,
                limit: Self.answerLimit,
                clock: ContinuousClock()
            ) { line in
                try withHandle(line) { try work($0, line) }
            }
        } catch {
            throw DeviceError(error, on: title, doing: step)
        }
    }

    // MARK: Connecting

    /// Runs `body` with libimobiledevice's object for the device.
    func withHandle<Value>(_ line: DeviceLine, _ body: (OpaquePointer) throws -> Value) throws -> Value {
        try line.check()
        var device: OpaquePointer?
        let result = ferry_idevice_new(&device, identifier, connection == .network ? 1 : 0)
        guard result == IDEVICE_E_SUCCESS, let device else {
            throw DeviceError(.notFound, "\(line.name) is not connected any more.", remedy: Self.connectRemedy)
        }
        defer { idevice_free(device) }
        return try body(device)
    }

    func proxy(
        _ device: OpaquePointer,
        _ lockdown: Lockdown,
        _ line: DeviceLine
    ) throws(DeviceError) -> InstallationProxy {
        let service = try lockdown.start("com.apple.mobile.installation_proxy")
        let connection = try DeviceConnection(
            device,
            port: service.port,
            isEncrypted: service.isEncrypted,
            isPatient: false,
            line
        )
        return InstallationProxy(connection: connection, line: line)
    }

    func conduit(_ device: OpaquePointer, _ lockdown: Lockdown, _ line: DeviceLine) throws(DeviceError) -> FileConduit {
        let service = try lockdown.start("com.apple.afc")
        let connection = try DeviceConnection(
            device,
            port: service.port,
            isEncrypted: service.isEncrypted,
            isPatient: true,
            line
        )
        return FileConduit(connection, line)
    }

    /// What it says of itself.
    func facts(_ lockdown: Lockdown, isPaired: Bool) -> DeviceFacts {
        var facts = DeviceFacts(identifier: identifier, connection: connection, isPaired: isPaired)
        func text(_ key: String) -> String? { lockdown.value(key)?.string?.printable }
        facts.name = text("DeviceName")
        facts.model = text("ProductType")
        facts.deviceClass = text("DeviceClass")
        facts.system = text("ProductVersion")
        facts.build = text("BuildVersion")
        facts.architecture = text("CPUArchitecture")
        if isPaired, let battery = lockdown.value(nil, in: "com.apple.mobile.battery")?.dictionary {
            facts.batteryPercent = battery["BatteryCurrentCapacity"]?.integer.map { Int(min(max($0, 0), 100)) }
            facts.isCharging = battery["BatteryIsCharging"]?.bool
        }
        return facts
    }

    private var hasPairRecord: Bool {
        var data: UnsafeMutablePointer<CChar>?
        var count: UInt32 = 0
        guard usbmuxd_read_pair_record(identifier, &data, &count) == 0 else { return false }
        free(data)
        return count > 0
    }
}
