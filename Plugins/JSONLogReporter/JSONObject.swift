/// A JSON object (RFC 8259) on one line, with its keys in the order in which they were added.
struct JSONObject {
    private(set) var text = ""

    /// Adds text; `nil` adds nothing.
    mutating func add(_ key: String, _ value: String?) {
        guard let value else { return }
        append(key)
        Self.append(value, to: &text)
    }

    /// Adds a number; `nil` adds nothing.
    mutating func add(_ key: String, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        append(key)
        text += String(value)
    }

    /// Adds a truth.
    mutating func add(_ key: String, _ value: Bool) {
        append(key)
        text += value ? "true" : "false"
    }

    /// The line with its end.
    var line: String { "{" + text + "}\n" }

    private mutating func append(_ key: String) {
        if !text.isEmpty { text += "," }
        Self.append(key, to: &text)
        text += ":"
    }

    /// RFC 8259 §7: quotes, backslashes and control characters are escaped; so are the two line ends of Unicode, which
    /// some readers split lines at.
    private static func append(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
