import Foundation
import StandInDevice

/// A device that is not there, at a socket, for those who want to try Ferry without one.
enum Program {
    private static let usage = """
        Usage: ferry-stand-in-device SOCKET FOLDER [--udid UDID] [--name NAME] [--class CLASS] [--system VERSION]
                                     [--fault FAULT]...

        Is usbmuxd at SOCKET with one device, whose files are in FOLDER, until standard input ends. Then, for example:

          USBMUXD_SOCKET_ADDRESS=UNIX:SOCKET ferry devices

        FAULT: stranger=trusted|PairingDialogResponsePending|UserDeniedPairing|PasswordProtected,
          session=InvalidHostID|PasswordProtected, plain, full=BYTES, half, ends=BYTES, stalls=BYTES,
          ends-after=STATUS, stalls-after=STATUS, vanishes, answer=ERROR, no-percents, nonsense
        """

    static func run() {
        var arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2 else { fail(usage) }
        let (socket, folder) = (arguments.removeFirst(), arguments.removeFirst())
        var phone = StandInPhone(identifier: "00008110-000A11223344801E", name: "Anna's iPhone")
        while !arguments.isEmpty {
            let option = arguments.removeFirst()
            guard let value = arguments.first else { fail(usage) }
            arguments.removeFirst()
            switch option {
            case "--udid": phone.identifier = value
            case "--name": phone.name = value
            case "--class": phone.deviceClass = value
            case "--system": phone.system = value
            case "--fault": if !add(value, to: &phone.faults) { fail(usage) }
            default: fail(usage)
            }
        }
        do {
            let device = try StandInDevice(socketPath: socket, folder: folder)
            try device.connect(phone)
            print("USBMUXD_SOCKET_ADDRESS=UNIX:\(socket)")
            fflush(nil)
            while readLine() != nil {}
            for line in device.log(phone.identifier) { print(line) }
            device.stop()
        } catch {
            fail("\(error)")
        }
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
