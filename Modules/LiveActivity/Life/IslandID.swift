/// The name that the system gives a Live Activity: `Activity.id`, a UUID as text.
///
/// On a server it comes from outside, so it is short and printable or it is none.
public struct IslandID: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    /// How long it may be, in bytes of UTF-8.
    public static let maximumBytes = 128

    /// The name itself.
    public let rawValue: String

    /// A name; `nil` for an empty one, a long one, and one with anything but visible ASCII.
    public init?(rawValue: String) {
        let bytes = rawValue.utf8
        guard !bytes.isEmpty, bytes.count <= Self.maximumBytes, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return nil
        }
        self.rawValue = rawValue
    }

    /// The name itself.
    public var description: String { rawValue }
}

/// A token that pushes go to: one for starts, and one for each Live Activity, each of which may change.
///
/// Who has it can write on somebody's lock screen, so descriptions show its last letters only.
public struct PushToken: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
    /// How many hexadecimal digits it may have. Apple names no length; 160 were seen for starts.
    public static let maximumDigits = 1_024

    /// The hexadecimal digits, in lower case, as they go into `/3/device/…`.
    public let hex: String

    /// A token; `nil` for what is no bytes in hexadecimal digits, or too long.
    public init?(hex: String) {
        let digits = hex.utf8
        guard !digits.isEmpty, digits.count <= Self.maximumDigits, digits.count.isMultiple(of: 2) else { return nil }
        let isHexadecimal = digits.allSatisfy { digit in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                true
            default: false
            }
        }
        guard isHexadecimal else { return nil }
        self.hex = hex.lowercased()
    }

    /// A token as ActivityKit gives it; `nil` for no bytes or too many.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count <= Self.maximumDigits / 2 else { return nil }
        var hex = ""
        for byte in bytes { hex += (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        self.init(hex: hex)
    }

    /// Reads the digits; throws for anything else.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let token = PushToken(hex: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a push token is hexadecimal")
        }
        self = token
    }

    /// Writes the digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }

    /// The last four digits, to tell one from another.
    public var description: String { "‹…" + hex.suffix(4) + "›" }

    /// A mirror without children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
