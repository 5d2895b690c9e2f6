/// A request as it came: what its header fields and body are, in one array.
final class IncomingRequest {
    /// The fields that are looked at.
    enum Field: Int, CaseIterable {
        case method, path, authorization, topic, pushType, priority, expiration, id, collapseID
    }

    /// The most bytes of a body that are kept; one more than the limit would do.
    private static let bodyKept = 8192

    private var values: [UInt8] = []
    private var ranges = [Range<Int>?](repeating: nil, count: Field.allCases.count)
    private(set) var body: [UInt8] = []
    /// A field that came twice.
    private(set) var isDoubled = false

    func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        guard let field = Self.field(name) else { return }
        if ranges[field.rawValue] != nil { isDoubled = true }
        ranges[field.rawValue] = values.count..<values.count + value.count
        values += value
    }

    private static func field(_ name: UnsafeBufferPointer<UInt8>) -> Field? {
        switch name.count {
        case 5: name.isSame(":path") ? .path : nil
        case 7: name.isSame(":method") ? .method : name.isSame("apns-id") ? .id : nil
        case 10: name.isSame("apns-topic") ? .topic : nil
        case 13: name.isSame("authorization") ? .authorization : name.isSame("apns-priority") ? .priority : nil
        case 14: name.isSame("apns-push-type") ? .pushType : nil
        case 15: name.isSame("apns-expiration") ? .expiration : nil
        case 16: name.isSame("apns-collapse-id") ? .collapseID : nil
        default: nil
        }
    }

    func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        body += bytes.prefix(Self.bodyKept - body.count)
    }

    func has(_ field: Field) -> Bool { ranges[field.rawValue] != nil }

    /// A field's value; empty where it did not come.
    subscript(field: Field) -> ArraySlice<UInt8> { ranges[field.rawValue].map { values[$0] } ?? [] }

    /// A field's value as text.
    func text(_ field: Field) -> String { String(decoding: self[field], as: UTF8.self) }

    /// The device's token; empty where the path has none.
    var token: ArraySlice<UInt8> {
        let path = self[.path]
        return path.prefix(RequestJudge.pathStart.count).isSame(RequestJudge.pathStart)
            ? path.dropFirst(RequestJudge.pathStart.count) : []
    }
}

/// Checks what Apple documents of a request.
struct RequestJudge {
    static let pathStart = Array("/3/device/".utf8)
    static let payloadLimit = 4096
    private static let bundle = Array(StandInCredentials.bundleID.utf8)
    private static let suffix = Array(".push-type.liveactivity".utf8)

    var tokens: TokenJudge

    /// Why the request is refused; `nil` where it is not.
    mutating func fault(_ request: IncomingRequest, now: Int64) -> (Int, String)? {
        guard request[.method].isSame("POST") else { return (405, "MethodNotAllowed") }
        guard request[.path].prefix(Self.pathStart.count).isSame(Self.pathStart) else { return (404, "BadPath") }
        if request.isDoubled { return (400, "DuplicateHeaders") }
        let token = request.token
        guard !token.isEmpty else { return (400, "MissingDeviceToken") }
        guard token.count.isMultiple(of: 2), token.allSatisfy(Self.isHexDigit) else { return (400, "BadDeviceToken") }
        if let fault = tokens.fault(request[.authorization], now: now) { return fault }
        return headerFault(request) ?? bodyFault(request)
    }

    private func headerFault(_ request: IncomingRequest) -> (Int, String)? {
        let isActivity = request[.pushType].isSame("liveactivity")
        guard isActivity || request[.pushType].isSame("alert") else { return (400, "InvalidPushType") }
        guard request.has(.topic) else { return (400, "MissingTopic") }
        if isActivity, !request[.topic].suffix(Self.suffix.count).isSame(Self.suffix) { return (400, "BadTopic") }
        guard request[.topic].isSame(isActivity ? Self.bundle + Self.suffix : Self.bundle) else {
            return (400, "TopicDisallowed")
        }
        guard request[.priority].isSame("5") || request[.priority].isSame("10") else {
            return (400, "BadPriority")
        }
        if request.has(.expiration) {
            let digits = request[.expiration]
            guard (1...12).contains(digits.count), digits.allSatisfy({ (48...57).contains($0) }) else {
                return (400, "BadExpirationDate")
            }
        }
        if request.has(.id), !Self.isUUID(request[.id]) { return (400, "BadMessageId") }
        return request[.collapseID].count > 64 ? (400, "BadCollapseId") : nil
    }

    private func bodyFault(_ request: IncomingRequest) -> (Int, String)? {
        guard !request.body.isEmpty else { return (400, "PayloadEmpty") }
        guard request.body.count <= Self.payloadLimit else { return (413, "PayloadTooLarge") }
        guard request[.pushType].isSame("liveactivity") else { return nil }
        // Apple takes these, and the device drops them; a word of our own makes the mistake plain.
        guard let json = JSONCheck(request.body[...], wanted: ["aps.timestamp", "aps.event"]),
            let timestamp = json.numbers["aps.timestamp"], Int64(timestamp) != nil,
            ["start", "update", "end"].contains(json.strings["aps.event"])
        else { return (400, "StandInBadPayload") }
        return nil
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...102).contains(byte) || (65...70).contains(byte)
    }

    private static func isUUID(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count == 36 else { return false }
        for (index, byte) in text.enumerated() {
            let isDash = index == 8 || index == 13 || index == 18 || index == 23
            guard isDash ? byte == UInt8(ascii: "-") : isHexDigit(byte) else { return false }
        }
        return true
    }
}
