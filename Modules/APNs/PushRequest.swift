import Synchronization

/// What kind of notification a push is: the header `apns-push-type`.
public struct PushType: RawRepresentable, Sendable, Hashable {
    /// The header's value.
    public let rawValue: String

    /// A type by the name that Apple gives it.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Starts, updates or ends a Live Activity.
    public static let liveActivity = PushType(rawValue: "liveactivity")
    /// Shows an alert, plays a sound or sets a badge.
    public static let alert = PushType(rawValue: "alert")
    /// Wakes the app in the background.
    public static let background = PushType(rawValue: "background")
    /// Renews widgets.
    public static let widgets = PushType(rawValue: "widgets")
}

/// How urgent a push is: the header `apns-priority`.
public enum PushPriority: Int, Sendable, Hashable {
    /// Progress: does not count against the budget of a Live Activity, and the device may bundle it.
    case five = 5
    /// A change of phase, a failure, an end: at once.
    case ten = 10
}

/// One push to one device, checked.
public struct PushRequest: Sendable, Hashable {
    /// The most bytes that a payload may have.
    public static let payloadLimit = 4096
    /// The most hexadecimal digits that a token may have; Apple names no length, and 160 were seen.
    public static let tokenLimit = 1024
    /// The most bytes of a collapse id.
    public static let collapseIDLimit = 64
    /// The most bytes of a topic: a bundle id with a suffix.
    public static let topicLimit = 512

    /// The device's or activity's token, in hexadecimal digits.
    public let token: String
    /// `apns-topic`: for a Live Activity, the app's bundle id and `.push-type.liveactivity`.
    public let topic: String
    /// `apns-push-type`.
    public let pushType: PushType
    /// `apns-priority`.
    public let priority: PushPriority
    /// `apns-expiration`: seconds since 1970 until when the service keeps the push; 0 tries once, `nil` is Apple's choice.
    public let expiration: Int64?
    /// `apns-collapse-id`: of pushes with the same one the device shows the last; `nil` for none.
    public let collapseID: String?
    /// `apns-id`: stays the same when the push is sent anew, and comes back in the answer.
    public let id: String
    /// The body: JSON with `aps`.
    public let payload: [UInt8]
    /// What makes a newer push stand for an older one that was not sent yet, as a token's; `nil` keeps every push.
    public let replacementKey: String?

    /// Checks the parts; throws ``APNsError/Code/badRequest`` and ``APNsError/Code/tooLarge``.
    ///
    /// - Parameter id: a UUID in its usual form; `nil` makes one.
    public init(
        token: String,
        topic: String,
        pushType: PushType = .liveActivity,
        priority: PushPriority,
        payload: [UInt8],
        expiration: Int64? = nil,
        collapseID: String? = nil,
        id: String? = nil,
        replacementKey: String? = nil
    ) throws(APNsError) {
        try Self.check(token: token)
        try Self.check(topic: topic, pushType)
        if let expiration, expiration < 0 {
            throw APNsError(.badRequest, "The expiration \(expiration) lies before 1970.")
        }
        if let collapseID {
            try Self.check(collapseID: collapseID)
        }
        if let id, !PushID.isValid(id) {
            throw APNsError(.badRequest, "The push id “\(id)” is no UUID.", remedy: "Leave it out; one is made.")
        }
        guard !payload.isEmpty else { throw APNsError(.badRequest, "The payload is empty.") }
        guard payload.count <= Self.payloadLimit else {
            throw APNsError(
                .tooLarge,
                "The payload has \(payload.count) bytes, \(payload.count - Self.payloadLimit) more than APNs takes.",
                remedy: "Leave out the icon, then items, then names."
            )
        }
        self.token = token
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.payload = payload
        self.expiration = expiration
        self.collapseID = collapseID
        self.id = id ?? PushID.random()
        self.replacementKey = replacementKey
    }

    private static func check(token: String) throws(APNsError) {
        let count = token.utf8.count
        guard count > 0, count.isMultiple(of: 2), count <= tokenLimit, token.utf8.all(\.isHexDigit) else {
            throw APNsError(
                .badRequest,
                "The device token is not an even number of hexadecimal digits, at most \(tokenLimit): it has \(count).",
                remedy: "Send the bytes of the token that the app got, two digits a byte."
            )
        }
    }

    private static func check(topic: String, _ type: PushType) throws(APNsError) {
        guard isFieldValue(topic), topic.utf8.count <= topicLimit else {
            throw APNsError(.badRequest, "The topic “\(topic)” is no bundle id.")
        }
        guard isFieldValue(type.rawValue), type.rawValue.utf8.count <= 64 else {
            throw APNsError(.badRequest, "The push type “\(type.rawValue)” is none of Apple's.")
        }
        if type == .liveActivity, !topic.hasSuffix(liveActivitySuffix) {
            throw APNsError(
                .badRequest,
                "The topic “\(topic)” is none for a Live Activity.",
                remedy: "Add .push-type.liveactivity to the app's bundle id."
            )
        }
    }

    private static func check(collapseID: String) throws(APNsError) {
        guard isFieldValue(collapseID), collapseID.utf8.count <= collapseIDLimit else {
            throw APNsError(
                .badRequest,
                "The collapse id has \(collapseID.utf8.count) bytes, or some that no header may have.",
                remedy: "Take 1 to \(collapseIDLimit) visible ASCII characters."
            )
        }
    }

    private static let liveActivitySuffix = ".push-type.liveactivity"

    /// Visible ASCII alone: nothing that could end a header's line or be changed on the way.
    private static func isFieldValue(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.all { (0x21...0x7E).contains($0) }
    }
}

/// `apns-id`: a UUID in its usual form (RFC 9562 §4).
enum PushID {
    /// Whether `text` has the form 8-4-4-4-12.
    static func isValid(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }

    private static let start = (UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max))
    private static let counter = Atomic<UInt64>(0)

    /// The last steps of SplitMix64, by which different numbers stay different.
    private static func mixed(_ number: UInt64) -> UInt64 {
        var number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        return number ^ (number >> 31)
    }

    /// A new one (version 4), in small letters as Apple answers them.
    static func random() -> String {
        // Ids must differ, not be secret: asking the system for each would cost more than sending the push.
        let count = counter.wrappingAdd(1, ordering: .relaxed).oldValue
        let high = mixed(start.0 &+ count) & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = mixed(start.1 &- count) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return String(unsafeUninitializedCapacity: 36) { buffer in
            var place = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    buffer[place] = UInt8(ascii: "-")
                    place += 1
                }
                let word = index < 16 ? high : low
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (index & 15))) & 15
                buffer[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                place += 1
            }
            return place
        }
    }
}

extension String.UTF8View {
    /// Whether all are so: over the text's own memory, where the sequence would be asked for each byte.
    fileprivate func all(_ isSo: (UInt8) -> Bool) -> Bool {
        withContiguousStorageIfAvailable { bytes in bytes.allSatisfy(isSo) } ?? allSatisfy(isSo)
    }
}

extension UInt8 {
    /// Whether it is a hexadecimal digit of either case, in ASCII.
    var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
