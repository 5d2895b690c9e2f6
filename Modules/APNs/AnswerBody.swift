import FerryBytes

/// What a refusal says in its body: `{"reason":"Unregistered","timestamp":1712345678901}`.
///
/// Reads the two members of a flat object and passes over everything else; what is no JSON has neither.
package struct AnswerBody: Equatable {
    /// The member `reason`, control characters written out.
    package private(set) var reason: String?
    /// The member `timestamp`.
    package private(set) var timestamp: Int64?

    /// An answer without a body.
    package init() {}

    package init(_ bytes: [UInt8]) {
        var scan = Scan(bytes: bytes)
        guard scan.take(UInt8(ascii: "{")) else { return }
        while let name = scan.string(), scan.take(UInt8(ascii: ":")) {
            if let text = scan.string() {
                if name == "reason" { reason = text.printable }
            } else if let number = scan.word() {
                if name == "timestamp" { timestamp = Int64(number) }
            } else {
                return
            }
            guard scan.take(UInt8(ascii: ",")) else { return }
        }
    }

    private struct Scan {
        let bytes: [UInt8]
        var place = 0

        private mutating func skipSpace() {
            while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
        }

        mutating func take(_ byte: UInt8) -> Bool {
            skipSpace()
            guard place < bytes.count, bytes[place] == byte else { return false }
            place += 1
            return true
        }

        /// A string; an escape stands for itself, as none is in a word of Apple's.
        mutating func string() -> String? {
            guard take(UInt8(ascii: "\"")) else { return nil }
            let start = place
            while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
                place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
            }
            guard place < bytes.count else { return nil }
            defer { place += 1 }
            return String(decoding: bytes[start..<place], as: UTF8.self)
        }

        /// A number, `true`, `false` or `null`.
        mutating func word() -> String? {
            skipSpace()
            let start = place
            while place < bytes.count, !Array(",}]{[\" \t\r\n".utf8).contains(bytes[place]) { place += 1 }
            return place > start ? String(decoding: bytes[start..<place], as: UTF8.self) : nil
        }
    }
}

/// How long `Retry-After` asks to wait (RFC 9110 §10.2.3).
package enum RetryAfter {
    /// The longest wait that is believed.
    package static let limit: Duration = .seconds(86_400)

    /// Seconds, or a date as servers must write it; `nil` for anything else.
    package static func wait(_ text: String, wallSeconds: Int64) -> Duration? {
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            return min(.seconds(Int64(text) ?? .max >> 1), limit)
        }
        guard let date = CalendarText.seconds(httpDate: text) else { return nil }
        let (wait, overflow) = date.subtractingReportingOverflow(wallSeconds)
        return overflow ? nil : min(max(.zero, .seconds(wait)), limit)
    }
}
