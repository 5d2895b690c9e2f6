/// A request as it came: what its header fields and body are, in one array.
final class IncomingRequest {
    /// The fields that are looked at.
    enum Field: Int, CaseIterable {
        case method, path, authorization, topic, pushType, priority, expiration, id, collapseID
    }

    private static let names: [Field: String] = [
        .method: ":method", .path: ":path", .authorization: "authorization", .topic: "apns-topic",
        .pushType: "apns-push-type", .priority: "apns-priority", .expiration: "apns-expiration", .id: "apns-id",
        .collapseID: "apns-collapse-id",
    ]
    private static let fields: [(bytes: [UInt8], field: Field)] = names.map { (Array($0.value.utf8), $0.key) }
    /// The most bytes of a body that are kept; one more than the limit would do.
    private static let bodyKept = 8192

    private var values: [UInt8] = []
    private var ranges = [Range<Int>?](repeating: nil, count: Field.allCases.count)
    private(set) var body: [UInt8] = []
    /// A field that came twice.
    private(set) var isDoubled = false

    func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        guard let field = Self.fields.first(where: { $0.bytes.count == name.count && $0.bytes.elementsEqual(name) })
        else { return }
        if ranges[field.field.rawValue] != nil { isDoubled = true }
        ranges[field.field.rawValue] = values.count..<values.count + value.count
        values += value
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
        return path.starts(with: RequestJudge.pathStart) ? path.dropFirst(RequestJudge.pathStart.count) : []
    }
}

/// Checks what Apple documents of a request.
struct RequestJudge {
    static let pathStart = Array("/3/device/".utf8)
    static let payloadLimit = 4096

    var tokens: TokenJudge

    /// Why the request is refused; `nil` where it is not.
    mutating func fault(_ request: IncomingRequest, now: Int64) -> (Int, String)? {
        guard request[.method].elementsEqual("POST".utf8) else { return (405, "MethodNotAllowed") }
        guard request[.path].starts(with: Self.pathStart) else { return (404, "BadPath") }
        if request.isDoubled { return (400, "DuplicateHeaders") }
        let token = request.token
        guard !token.isEmpty else { return (400, "MissingDeviceToken") }
        guard token.count.isMultiple(of: 2), token.allSatisfy(Self.isHexDigit) else { return (400, "BadDeviceToken") }
        if let fault = tokens.fault(request[.authorization], now: now) { return fault }
        return headerFault(request) ?? bodyFault(request)
    }

    private func headerFault(_ request: IncomingRequest) -> (Int, String)? {
        let isActivity = request[.pushType].elementsEqual("liveactivity".utf8)
        guard isActivity || request[.pushType].elementsEqual("alert".utf8) else { return (400, "InvalidPushType") }
        guard request.has(.topic) else { return (400, "MissingTopic") }
        let suffix = isActivity ? ".push-type.liveactivity" : ""
        if isActivity, !request[.topic].reversed().starts(with: suffix.utf8.reversed()) { return (400, "BadTopic") }
        guard request[.topic].elementsEqual((StandInCredentials.bundleID + suffix).utf8) else {
            return (400, "TopicDisallowed")
        }
        guard request[.priority].elementsEqual("5".utf8) || request[.priority].elementsEqual("10".utf8) else {
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
        guard request[.pushType].elementsEqual("liveactivity".utf8) else { return nil }
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
