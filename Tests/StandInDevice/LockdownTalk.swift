import FerryPropertyList
import Foundation

extension StandInDevice {
    func serveLockdown(_ wire: Wire, _ identifier: String) throws {
        var isEncrypted = false
        while true {
            let message = try wire.readMessage()
            let request = message["Request"]?.string ?? ""
            let what = message["Service"]?.string ?? message["Key"]?.string
            note(request + (what.map { " " + $0 } ?? ""), identifier)
            guard let phone = phone(identifier) else { return }
            var answer: PropertyList.Dictionary = ["Request": .string(request)]
            switch request {
            case "QueryType": answer["Type"] = "com.apple.mobile.lockdown"
            case "GetValue": getValue(message, phone, &answer)
            case "Pair", "ValidatePair":
                switch phone.faults.stranger {
                case .trusted?: answer["EscrowBag"] = .data([1, 2, 3])
                case let stranger?: answer["Error"] = .string(stranger.rawValue)
                case nil: break
                }
            case "StartSession":
                if let error = phone.faults.sessionError {
                    answer["Error"] = .string(error)
                    break
                }
                guard message["HostID"]?.string == hostIdentifier || phone.faults.stranger == .trusted else {
                    answer["Error"] = "InvalidHostID"
                    break
                }
                answer["SessionID"] = .string(UUID().uuidString)
                answer["EnableSessionSSL"] = .boolean(!phone.faults.isPlain)
                try wire.writeMessage(answer)
                if !phone.faults.isPlain {
                    guard !phone.faults.breaksSessionTLS else { return }
                    try wire.encrypt(keys)
                    isEncrypted = true
                }
                continue
            case "StopSession":
                try wire.writeMessage(answer)
                if isEncrypted { wire.decrypt() }
                isEncrypted = false
                continue
            case "StartService":
                let name = message["Service"]?.string
                if let service = Service.all.first(where: { $0.name == name }), name != phone.faults.missingService {
                    answer["Service"] = .string(service.name)
                    answer["Port"] = .integer(Int64(service.port))
                    if !phone.faults.isPlain { answer["EnableServiceSSL"] = true }
                } else {
                    answer["Error"] = "InvalidService"
                }
            case "Goodbye": return try wire.writeMessage(answer)
            default: answer["Error"] = "UnknownRequest"
            }
            try wire.writeMessage(answer)
        }
    }

    private func getValue(
        _ message: PropertyList.Dictionary,
        _ phone: StandInPhone,
        _ answer: inout PropertyList.Dictionary
    ) {
        var values = phone.values
        values["DevicePublicKey"] = .data(keys.devicePublicKey)
        values["TimeIntervalSince1970"] = .real(Date().timeIntervalSince1970)
        switch message["Domain"]?.string {
        case nil: break
        case "com.apple.mobile.battery":
            values = ["BatteryCurrentCapacity": .integer(phone.batteryPercent), "BatteryIsCharging": true]
        default: values = [:]
        }
        guard let key = message["Key"]?.string else {
            answer["Value"] = .dictionary(values)
            return
        }
        answer["Key"] = .string(key)
        answer["Value"] = values[key]
        if values[key] == nil { answer["Error"] = "MissingValue" }
    }
}
