extension Character {
    /// How many columns of a terminal the letter takes: 0, 1 or 2.
    ///
    /// East Asian wide and fullwidth letters (UAX #11) and emoji take two; marks and format characters on their own
    /// none. A letter of several scalars is as wide as its widest one.
    var displayWidth: Int {
        var width = 0
        for scalar in unicodeScalars {
            // Variation selector 16 asks for the emoji form of what comes before it.
            if scalar == "\u{FE0F}", width == 1 { return 2 }
            width = max(width, scalar.displayWidth)
            if width == 2 { return 2 }
        }
        return width
    }
}

extension Unicode.Scalar {
    /// The scripts that UAX #11 calls W or F; emoji are known by a property of their own.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4CF,
        0xA960...0xA97C,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]

    fileprivate var displayWidth: Int {
        if value < 0x300 { return value < 0x20 || 0x7F..<0xA0 ~= value || value == 0xAD ? 0 : 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        // The vowels and finals of a Hangul syllable join the consonant before them.
        if 0x1160...0x11FF ~= value { return 0 }
        if properties.isEmojiPresentation || Self.wide.contains(where: { $0.contains(value) }) { return 2 }
        return 1
    }
}

extension String {
    /// How many columns of a terminal the text takes.
    var displayWidth: Int {
        reduce(0) { $0 + $1.displayWidth }
    }

    /// The text without what could move the cursor or change the direction: control characters, line ends and
    /// bidirectional marks become spaces or go.
    var printable: String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0A, 0x0D, 0x85, 0x2028, 0x2029: result.unicodeScalars.append(" ")
            case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: break
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The text in at most `columns` columns, cut between letters, with `ellipsis` where something is missing.
    func cut(to columns: Int, ellipsis: String) -> String {
        if displayWidth <= columns { return self }
        var room = columns - ellipsis.displayWidth
        guard room >= 0 else { return String(ellipsis.prefix(max(columns, 0))) }
        var kept = ""
        for character in self {
            room -= character.displayWidth
            guard room >= 0 else { break }
            kept.append(character)
        }
        return kept + ellipsis
    }

    /// The text with spaces after it up to `columns` columns.
    func padded(to columns: Int) -> String {
        self + String(repeating: " ", count: max(columns - displayWidth, 0))
    }

    /// The text with spaces before it up to `columns` columns.
    func aligned(to columns: Int) -> String {
        String(repeating: " ", count: max(columns - displayWidth, 0)) + self
    }
}
