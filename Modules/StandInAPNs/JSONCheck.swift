/// Reads JSON just so far as the stand-in has to know it (RFC 8259): is it well-formed, and what are its plain members.
struct JSONCheck {
    /// The deepest nesting that is read.
    private static let depthLimit = 32

    /// Strings (without quotes) and numbers, by their path: `aps.event`.
    private(set) var strings: [String: String] = [:]
    private(set) var numbers: [String: String] = [:]
    private let bytes: ArraySlice<UInt8>
    private let wanted: Set<String>
    private var place: Int

    /// `nil` where it is no JSON object. Keeps the members in `wanted`.
    init?(_ bytes: ArraySlice<UInt8>, wanted: Set<String>) {
        self.bytes = bytes
        self.wanted = wanted
        place = bytes.startIndex
        skipSpace()
        guard peek == UInt8(ascii: "{"), value("", 0) else { return nil }
        skipSpace()
        guard place == bytes.endIndex else { return nil }
    }

    private var peek: UInt8 { place < bytes.endIndex ? bytes[place] : 0 }

    private mutating func skipSpace() {
        while place < bytes.endIndex, bytes[place] <= 0x20 { place += 1 }
    }

    private mutating func value(_ path: String, _ depth: Int) -> Bool {
        guard depth < Self.depthLimit else { return false }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return object(path, depth)
        case UInt8(ascii: "["): return array(depth)
        case UInt8(ascii: "\""):
            guard let text = string() else { return false }
            if wanted.contains(path) { strings[path] = String(decoding: text, as: UTF8.self) }
            return true
        default:
            let start = place
            while place < bytes.endIndex, Self.isWord(bytes[place]) { place += 1 }
            guard place > start else { return false }
            let word = bytes[start..<place]
            if word.first == UInt8(ascii: "-") || (48...57).contains(word[start]) {
                if wanted.contains(path) { numbers[path] = String(decoding: word, as: UTF8.self) }
                return true
            }
            return ["true", "false", "null"].contains { word.elementsEqual($0.utf8) }
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...122).contains(byte) || byte == 0x2D || byte == 0x2B || byte == 0x2E
            || byte == 0x45
    }

    private mutating func object(_ path: String, _ depth: Int) -> Bool {
        place += 1
        skipSpace()
        if peek == UInt8(ascii: "}") {
            place += 1
            return true
        }
        while true {
            skipSpace()
            guard let name = string() else { return false }
            skipSpace()
            guard peek == UInt8(ascii: ":") else { return false }
            place += 1
            // Nothing is asked for but what lies on the top, or in `aps`.
            let text = depth == 0 || path == "aps" ? String(decoding: name, as: UTF8.self) : "…"
            let inner = path == "aps" ? "aps." + text : text
            guard value(inner, depth + 1) else { return false }
            skipSpace()
            defer { place += 1 }
            if peek == UInt8(ascii: "}") { return true }
            guard peek == UInt8(ascii: ",") else { return false }
        }
    }

    private mutating func array(_ depth: Int) -> Bool {
        place += 1
        skipSpace()
        if peek == UInt8(ascii: "]") {
            place += 1
            return true
        }
        while true {
            guard value("…", depth + 1) else { return false }
            skipSpace()
            defer { place += 1 }
            if peek == UInt8(ascii: "]") { return true }
            guard peek == UInt8(ascii: ",") else { return false }
        }
    }

    private mutating func string() -> ArraySlice<UInt8>? {
        guard peek == UInt8(ascii: "\"") else { return nil }
        place += 1
        let start = place
        while place < bytes.endIndex {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                defer { place += 1 }
                return bytes[start..<place]
            case UInt8(ascii: "\\"): place += 2
            case 0..<0x20: return nil
            default: place += 1
            }
        }
        return nil
    }
}
