import FerryBytes
import FerryPropertyList

/// `com.apple.mobile.installation_proxy`: installs, removes and lists apps.
///
/// ```
/// message: length (4 bytes, big-endian), property list
/// ```
struct InstallationProxy {
    /// The longest message that is taken from a device.
    static let maximumMessageBytes = 32 << 20
    /// The most messages of one answer.
    static let maximumMessageCount = 100_000

    let connection: DeviceConnection
    let line: DeviceLine

    /// Installs the file at `path` on the device; returns once the device says `Complete`.
    ///
    /// - Parameter tell: called with each status and its percent, where it has one.
    func install(
        _ path: String,
        _ options: PropertyList.Dictionary,
        tell: (_ status: String, _ percent: Int?) -> Void
    ) throws(DeviceError) {
        try send(["Command": "Install", "PackagePath": .string(path), "ClientOptions": .dictionary(options)])
        _ = try receive(tell) { _ in }
    }

    /// Removes an app, with its data.
    func uninstall(
        _ identifier: String,
        tell: (_ status: String, _ percent: Int?) -> Void = { _, _ in }
    ) throws(DeviceError) {
        try send(["Command": "Uninstall", "ApplicationIdentifier": .string(identifier), "ClientOptions": [:]])
        _ = try receive(tell) { _ in }
    }

    /// The app of that identifier; `nil` for none.
    func app(_ identifier: String) throws(DeviceError) -> DeviceApp? {
        try send([
            "Command": "Lookup",
            "ClientOptions": [
                "BundleIDs": .array([.string(identifier)]), "ReturnAttributes": Self.attributes,
            ],
        ])
        var found: DeviceApp?
        try receive({ _, _ in }) { message in
            guard let result = message["LookupResult"]?.dictionary else { return }
            found = result[identifier]?.dictionary.flatMap { DeviceApp($0) }
        }
        return found
    }

    /// The apps of a kind, `User` or `Any`.
    func apps(_ kind: String) throws(DeviceError) -> [DeviceApp] {
        try send([
            "Command": "Browse",
            "ClientOptions": ["ApplicationType": .string(kind), "ReturnAttributes": Self.attributes],
        ])
        var found: [DeviceApp] = []
        try receive({ _, _ in }) { message in
            for value in message["CurrentList"]?.array ?? [] {
                if let app = value.dictionary.flatMap({ DeviceApp($0) }) { found.append(app) }
            }
        }
        return found
    }

    private static let attributes = PropertyList.array(DeviceApp.attributes.map { .string($0) })

    private func send(_ message: PropertyList.Dictionary) throws(DeviceError) {
        let body = PropertyList.dictionary(message).encoded(as: .xml)
        var bytes: [UInt8] = []
        bytes.append(UInt32(clamping: body.count), .big)
        try connection.send(bytes + body)
    }

    /// Reads messages up to `Complete`: that alone is success, and the end of a connection is none.
    private func receive(
        _ tell: (_ status: String, _ percent: Int?) -> Void,
        _ take: (PropertyList.Dictionary) -> Void
    ) throws(DeviceError) {
        for _ in 0..<Self.maximumMessageCount {
            let message = try receive()
            try line.sign()
            if let name = message["Error"] {
                throw InstallAnswer(
                    name: name.string ?? "unknown",
                    description: message["ErrorDescription"]?.string,
                    detail: message["ErrorDetail"]?.integer
                ).error(on: line)
            }
            take(message)
            guard let status = message["Status"]?.string else { continue }
            if status == "Complete" { return }
            // What came last is what is told of a stall.
            try line.begin(status.printable)
            tell(status.printable, message["PercentComplete"]?.integer.map { Int(min(max($0, 0), 100)) })
        }
        throw DeviceError(.answer, "\(line.name): \(line.step): its answer does not end.")
    }

    private func receive() throws(DeviceError) -> PropertyList.Dictionary {
        let length = try connection.receive(4).reduce(0) { $0 << 8 | Int($1) }
        guard length <= Self.maximumMessageBytes else {
            throw DeviceError(
                .answer,
                "\(line.name): \(line.step): a message of \(length) bytes is longer than any should be."
            )
        }
        let bytes = try connection.receive(length)
        do {
            if let message = try PropertyList.parse(bytes).value.dictionary { return message }
            throw DeviceError(.answer, "\(line.name): \(line.step): its answer is no dictionary.")
        } catch {
            let what = (error as? any ExplainedError)?.message ?? "\(error)"
            throw DeviceError(.answer, "\(line.name): \(line.step): \(what)")
        }
    }
}
