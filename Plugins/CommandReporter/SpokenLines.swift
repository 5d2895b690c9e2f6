import FerryBytes

/// What a program says, in whole lines that cannot command a terminal.
struct SpokenLines: Sendable {
    private let limits: CommandLimits
    private var line: [UInt8] = []
    private var isCut = false
    private var count = 0

    init(_ limits: CommandLimits) {
        self.limits = limits
    }

    /// The lines that these bytes end.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                end(&lines)
            } else if line.count < limits.spokenLineLength {
                line.append(byte)
            } else {
                isCut = true
            }
        }
        return lines
    }

    /// What was said without an end of line.
    mutating func rest() -> [String] {
        var lines: [String] = []
        if !line.isEmpty { end(&lines) }
        return lines
    }

    private mutating func end(_ lines: inout [String]) {
        count += 1
        if count <= limits.spokenLines {
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            lines.append(String(decoding: line, as: UTF8.self).printable + (isCut ? "…" : ""))
        } else if count == limits.spokenLines + 1 {
            lines.append("(it says more than \(limits.spokenLines) lines; the rest is left out)")
        }
        line = []
        isCut = false
    }
}
