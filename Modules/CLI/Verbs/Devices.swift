import FerryAppBundle
import FerryBytes
import FerryDevice

extension Option {
    /// `--device UDID`: which one is meant where several are connected.
    static let device = Option(
        name: "--device",
        value: "UDID",
        help: "the device that is meant, where several are connected"
    )
}

/// `ferry devices`: what is connected.
enum Devices {
    static let verb = Verb(
        name: "devices",
        summary: "show the devices that are connected, by cable or network",
        discussion: """
            Asks usbmuxd, which leads to iPhones, iPads and their kin, and each device what it is. One that is not paired \
            with this computer says little, and is asked for nothing else: it is paired when an app is first installed on \
            it, or with idevicepair pair, and asks its owner then.

            USBMUXD_SOCKET_ADDRESS says where usbmuxd is, if not at its usual place: UNIX:/PATH or HOST:PORT.
            """,
        examples: [
            .init(purpose: "What is connected", command: "ferry devices"),
            .init(purpose: "The same as data", command: "ferry devices --json"),
        ],
        options: [.json],
        environment: [.usbmuxd],
        run: run
    )

    /// What `--json` prints of one device.
    struct Report: Encodable {
        let udid: String
        let name: String?
        let model: String?
        let deviceClass: String?
        let os: String?
        let build: String?
        let architecture: String?
        let connection: String
        let paired: Bool
        let locked: Bool
        let batteryPercent: Int?
        let charging: Bool?
        /// Why nothing more is known of it.
        let error: ErrorReport?

        init(_ facts: DeviceFacts, _ error: (any Error)?) {
            udid = facts.identifier
            name = facts.name
            model = facts.model
            deviceClass = facts.deviceClass
            os = facts.system
            build = facts.build
            architecture = facts.architecture
            connection = facts.connection.rawValue
            paired = facts.isPaired
            locked = facts.isLocked
            batteryPercent = facts.batteryPercent
            charging = facts.isCharging
            self.error = error.map { ErrorReport($0) }
        }
    }

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let devices = try await Device.connected()
        var found: [(facts: DeviceFacts, error: DeviceError?)] = []
        for device in devices {
            do throws(DeviceError) {
                found.append((try await device.facts(), nil))
            } catch {
                guard !error.isCancellation else { throw error }
                found.append((DeviceFacts(identifier: device.identifier, connection: device.connection), error))
            }
        }
        let rows = found.map { facts, _ in
            [
                (facts.name ?? "–").printable, (facts.model ?? "–").printable,
                (facts.platform?.rawValue ?? "") + " " + (facts.system ?? "–"),
                facts.identifier.printable, facts.connection.rawValue,
                (facts.isPaired ? "paired" : "not paired") + (facts.isLocked ? ", locked" : ""),
                facts.batteryPercent.map { "\($0) %" + (facts.isCharging == true ? ", charging" : "") } ?? "",
            ]
        }
        let text = rows.isEmpty ? "no device is connected" : tableLines(rows).joined(separator: "\n")
        try invocation.show(found.map { Report($0.facts, $0.error) }, text: text)
        let errors = found.compactMap(\.error)
        if !invocation.asData { for error in errors { invocation.console.report(error) } }
        return errors.isEmpty ? .done : .failed
    }
}

extension Verb.Variable {
    /// Where usbmuxd is.
    static let usbmuxd = Verb.Variable(
        name: "USBMUXD_SOCKET_ADDRESS",
        help: "where usbmuxd is, which leads to devices: UNIX:/PATH or HOST:PORT"
    )
}
