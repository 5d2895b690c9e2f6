/// A JSON object (RFC 8259) on one line, with its keys in the order in which they were added.
package struct JSONObject: Sendable {
    package private(set) var text = ""

    /// An object without keys.
    package init() {}

    /// Adds text; `nil` adds nothing.
    package mutating func add(_ key: String, _ value: String?) {
        guard let value else { return }
        append(key)
        text += Self.quoted(value)
    }

    /// Adds a number; `nil` adds nothing.
    package mutating func add(_ key: String, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        append(key)
        text += String(value)
    }

    /// Adds a fraction, rounded to ten-thousandths; `nil` and what is no number add nothing.
    package mutating func add(_ key: String, fraction value: Double?) {
        guard let value, value.isFinite else { return }
        append(key)
        text += "\((value * 10_000).rounded() / 10_000)"
    }

    /// Adds a truth.
    package mutating func add(_ key: String, _ value: Bool) {
        append(key)
        text += value ? "true" : "false"
    }

    /// Adds an object; `nil` adds nothing.
    package mutating func add(_ key: String, _ value: JSONObject?) {
        add(key, json: value?.json)
    }

    /// Adds a list of objects.
    package mutating func add(_ key: String, _ values: [JSONObject]) {
        add(key, json: "[" + values.map(\.json).joined(separator: ",") + "]")
    }

    /// Adds a list of texts.
    package mutating func add(_ key: String, _ values: [String]) {
        add(key, json: "[" + values.map(Self.quoted).joined(separator: ",") + "]")
    }

    /// Adds what is JSON already, on one line; `nil` adds nothing.
    package mutating func add(_ key: String, json value: String?) {
        guard let value else { return }
        append(key)
        text += value
    }

    /// The object without an end of line.
    package var json: String { "{" + text + "}" }

    /// The line with its end.
    package var line: String { json + "\n" }

    private mutating func append(_ key: String) {
        if !text.isEmpty { text += "," }
        text += Self.quoted(key) + ":"
    }

    /// RFC 8259 §7: quotes, backslashes and control characters are escaped; so are the two line ends of Unicode, which
    /// some readers split lines at.
    private static func quoted(_ string: String) -> String {
        var text = "\""
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
        return text + "\""
    }
}
