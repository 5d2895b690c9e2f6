import Foundation
import StandInDevice

/// A device that is not there, at a socket, for those who want to try Ferry without one.
enum Program {
    private static let usage = """
        Usage: ferry-stand-in-device SOCKET FOLDER [--udid UDID] [--name NAME] [--class CLASS] [--system VERSION]
                                     [--fault FAULT]...

        Is usbmuxd at SOCKET with one device, whose files are in FOLDER, until standard input ends. Each further --udid is
        another device, which the options after it are for. Then, for example:

          USBMUXD_SOCKET_ADDRESS=UNIX:SOCKET ferry devices

        FAULT: stranger=trusted|PairingDialogResponsePending|UserDeniedPairing|PasswordProtected|
            PairingProhibitedOverThisConnection,
          session=InvalidHostID|PasswordProtected, no-session-tls, no-service-tls, plain, full=BYTES, half, ends=BYTES, stalls=BYTES,
          ends-after=STATUS, stalls-after=STATUS, vanishes, answer=ERROR, no-percents, nonsense

        Lines on standard input: unplug [UDID], plug [UDID], faults [FAULT]... (of the first device: none but these)
        """

    static func run() {
        var arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2 else { fail(usage) }
        let (socket, folder) = (arguments.removeFirst(), arguments.removeFirst())
        var phones = [StandInPhone(identifier: "00008110-000A11223344801E", name: "Anna's iPhone")]
        var isNamed = false
        while !arguments.isEmpty {
            let option = arguments.removeFirst()
            guard let value = arguments.first else { fail(usage) }
            arguments.removeFirst()
            let last = phones.count - 1
            switch option {
            case "--udid":
                if isNamed {
                    phones.append(StandInPhone(identifier: value, name: "Device \(phones.count + 1)"))
                } else {
                    phones[last].identifier = value
                }
                isNamed = true
            case "--name": phones[last].name = value
            case "--class": phones[last].deviceClass = value
            case "--system": phones[last].system = value
            case "--fault": if !add(value, to: &phones[last].faults) { fail(usage) }
            default: fail(usage)
            }
        }
        do {
            let device = try StandInDevice(socketPath: socket, folder: folder)
            for phone in phones { try device.connect(phone) }
            print("USBMUXD_SOCKET_ADDRESS=UNIX:\(socket)")
            fflush(nil)
            while let line = readLine() { try obey(line, &phones, device) }
            for phone in phones { for line in device.log(phone.identifier) { print(line) } }
            device.stop()
        } catch {
            fail("\(error)")
        }
    }

    /// Does what a line of standard input says.
    private static func obey(_ line: String, _ phones: inout [StandInPhone], _ device: StandInDevice) throws {
        let words = line.split(separator: " ").map(String.init)
        let meant = words.dropFirst().first.flatMap { word in phones.firstIndex { $0.identifier == word } } ?? 0
        switch words.first {
        case "unplug":
            // Its apps stay on it.
            if let now = device.phone(phones[meant].identifier) { phones[meant] = now }
            device.disconnect(phones[meant].identifier)
        case "plug": try device.connect(phones[meant])
        case "faults":
            phones[0].faults = StandInFaults()
            for word in words.dropFirst() where !add(word, to: &phones[0].faults) { print("no fault: \(word)") }
            device.setFaults(phones[0].faults, of: phones[0].identifier)
        default: print("no order: \(line)")
        }
        fflush(nil)
    }

    private static func add(_ text: String, to faults: inout StandInFaults) -> Bool {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        let value = parts.count == 2 ? parts[1] : ""
        switch parts.first {
        case "stranger":
            faults.stranger = StandInFaults.Stranger(rawValue: value) ?? (value == "trusted" ? .trusted : nil)
            return faults.stranger != nil
        case "session": faults.sessionError = value
        case "plain": faults.isPlain = true
        case "no-session-tls": faults.breaksSessionTLS = true
        case "no-service-tls": faults.breaksServiceTLS = true
        case "full": faults.fullAfterBytes = Int(value)
        case "half": faults.keepsHalf = true
        case "ends": faults.endsAfterBytes = Int(value)
        case "stalls": faults.stallsAfterBytes = Int(value)
        case "ends-after": faults.endsAfterStatus = value
        case "stalls-after": faults.stallsAfterStatus = value
        case "vanishes": faults.vanishes = true
        case "answer": faults.answer = .init(value)
        case "no-percents": faults.omitsPercents = true
        case "nonsense": faults.talksNonsense = true
        default: return false
        }
        return true
    }

    private static func fail(_ text: String) -> Never {
        FileHandle.standardError.write(Data((text + "\n").utf8))
        exit(2)
    }
}
