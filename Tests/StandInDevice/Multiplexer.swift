import FerryBytes
import FerryPropertyList
import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// A service of a device, and where it listens.
struct Service: Sendable {
    static let lockdown: UInt16 = 62078
    static let files = Service(name: "com.apple.afc", port: 50001)
    static let apps = Service(name: "com.apple.mobile.installation_proxy", port: 50002)
    static let notifications = Service(name: "com.apple.mobile.notification_proxy", port: 50003)
    static let all = [files, apps, notifications]

    let name: String
    let port: UInt16
}

// What usbmuxd says: a header of 16 bytes (length, version, kind, tag, little-endian), and a property list.
extension StandInDevice {
    func serve(_ wire: Wire) throws {
        while true {
            let header = ByteReader(try wire.read(16))
            let length = Int(try header.integer(at: 0, as: UInt32.self, .little))
            let tag = try header.integer(at: 12, as: UInt32.self, .little)
            guard let message = try PropertyList.parse(try wire.read(length - 16)).value.dictionary else { return }
            switch message["MessageType"]?.string {
            case "ListDevices":
                let list = devices().map { PropertyList.dictionary($0) }
                try answer(["DeviceList": .array(list)], tag, wire)
            case "Listen":
                try result(0, tag, wire)
                for device in devices() { try answer(device, 0, wire) }
            case "ReadBUID": try answer(["BUID": .string(systemIdentifier)], tag, wire)
            case "ReadPairRecord":
                if let record = pairRecord(message["PairRecordID"]?.string ?? "") {
                    try answer(["PairRecordData": .data(record)], tag, wire)
                } else {
                    try result(2, tag, wire)
                }
            case "SavePairRecord":
                if let identifier = message["PairRecordID"]?.string, let data = message["PairRecordData"]?.data {
                    state.withLock { $0.pairRecords[identifier] = data }
                }
                try result(0, tag, wire)
            case "DeletePairRecord":
                if let identifier = message["PairRecordID"]?.string {
                    state.withLock { $0.pairRecords[identifier] = nil }
                }
                try result(0, tag, wire)
            case "Connect":
                let number = Int(message["DeviceID"]?.integer ?? 0)
                let port = UInt16(truncatingIfNeeded: message["PortNumber"]?.integer ?? 0).byteSwapped
                guard let identifier = identifier(number) else {
                    try result(2, tag, wire)
                    continue
                }
                guard port == Service.lockdown || Service.all.contains(where: { $0.port == port }) else {
                    try result(3, tag, wire)
                    continue
                }
                try result(0, tag, wire)
                return try serve(wire, identifier, port)
            default: try result(1, tag, wire)
            }
        }
    }

    /// Is the service of a device.
    func serve(_ wire: Wire, _ identifier: String, _ port: UInt16) throws {
        state.withLock { $0.connections[wire.descriptor] = identifier }
        if port != Service.lockdown, !faults(identifier).isPlain {
            guard !faults(identifier).breaksServiceTLS else { return }
            try wire.encrypt(keys)
        }
        switch port {
        case Service.lockdown: try serveLockdown(wire, identifier)
        case Service.files.port: try FileTalk(self, wire, identifier).serve()
        case Service.apps.port: try AppTalk(device: self, wire: wire, identifier: identifier).serve()
        default: try serveNotifications(wire)
        }
    }

    private func serveNotifications(_ wire: Wire) throws {
        while true {
            if try wire.readMessage()["Command"]?.string == "Shutdown" {
                return try wire.writeMessage(["Command": "ProxyDeath"])
            }
        }
    }

    private func identifier(_ number: Int) -> String? {
        state.withLock { state in state.order.first { Self.number($0) == number } }
    }

    /// The same number for a device however often it is connected.
    private static func number(_ identifier: String) -> Int {
        Int(identifier.utf8.reduce(UInt32(5381)) { ($0 &* 33) ^ UInt32($1) } & 0x00FF_FFFF) + 1
    }

    private func devices() -> [PropertyList.Dictionary] {
        let phones = state.withLock { state in state.order.compactMap { state.phones[$0] } }
        return phones.map { phone in
            let number = PropertyList.integer(Int64(Self.number(phone.identifier)))
            var properties: PropertyList.Dictionary = [
                "DeviceID": number, "SerialNumber": .string(phone.identifier), "ConnectionType": "USB",
                "LocationID": 0, "ProductID": 4776,
            ]
            if let address = phone.networkAddress {
                properties["ConnectionType"] = "Network"
                properties["EscapedFullServiceName"] = "aa:bb:cc:dd:ee:ff@fe80::1._apple-mobdev2._tcp.local."
                properties["InterfaceIndex"] = 1
                // A sockaddr_in as macOS lays it out: length, family, port, address.
                properties["NetworkAddress"] = .data([16, 2, 0, 0] + address + [UInt8](repeating: 0, count: 8))
            }
            return ["DeviceID": number, "MessageType": "Attached", "Properties": .dictionary(properties)]
        }
    }

    private func pairRecord(_ identifier: String) -> [UInt8]? {
        if let saved = state.withLock({ $0.pairRecords[identifier] }) { return saved }
        guard let phone = phone(identifier), phone.faults.stranger == nil else { return nil }
        let record: PropertyList.Dictionary = [
            "DeviceCertificate": .data(keys.deviceCertificate), "HostCertificate": .data(keys.hostCertificate),
            "HostPrivateKey": .data(keys.hostKey), "RootCertificate": .data(keys.rootCertificate),
            "RootPrivateKey": .data(keys.rootKey), "HostID": .string(hostIdentifier),
            "SystemBUID": .string(systemIdentifier), "WiFiMACAddress": "aa:bb:cc:dd:ee:ff",
        ]
        return PropertyList.dictionary(record).encoded(as: .xml)
    }

    private func result(_ number: Int64, _ tag: UInt32, _ wire: Wire) throws {
        try answer(["MessageType": "Result", "Number": .integer(number)], tag, wire)
    }

    private func answer(_ message: PropertyList.Dictionary, _ tag: UInt32, _ wire: Wire) throws {
        let body = PropertyList.dictionary(message).encoded(as: .xml)
        var bytes: [UInt8] = []
        for field in [UInt32(16 + body.count), 1, 8, tag] { bytes.append(field, .little) }
        try wire.write(bytes + body)
    }
}
