extension StringProtocol {
    /// The text as part of one line, whatever somebody put into it: control characters, which could end the line or
    /// command a terminal, are written out as escapes.
    package var printable: String {
        if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return String(self) }
        var text = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: text += scalar.escaped(asASCII: true)
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
