extension String {
    /// The text as one line that leaves its neighbours alone: what would break the line or turn the direction of what
    /// follows is a space, several are one, and none is at the ends.
    var oneLine: String {
        var text = ""
        var hasGap = false
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator: hasGap = true
            default:
                // Embeddings, overrides and isolates: a cut would leave them open. Some readers drop a byte order mark.
                let value = scalar.value
                if (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value) || value == 0xFEFF {
                    continue
                }
                if hasGap, !text.isEmpty { text.unicodeScalars.append(" ") }
                hasGap = false
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The text if it has at most so many letters and bytes of UTF-8, else its beginning and `…`, cut between letters
    /// as people see them. Empty where not even `…` has room.
    func cut(toLetters letters: Int, bytes: Int = .max) -> String {
        let ellipsis = "…"
        var kept = startIndex
        var index = startIndex
        var count = 0
        var size = 0
        while index < endIndex {
            let next = self.index(after: index)
            count += 1
            size += utf8.distance(from: index, to: next)
            if count > letters || size > bytes {
                guard letters > 0, bytes >= ellipsis.utf8.count else { return "" }
                var beginning = self[..<kept]
                while beginning.last?.isWhitespace == true { beginning.removeLast() }
                return beginning + ellipsis
            }
            index = next
            if count < letters, size <= bytes - ellipsis.utf8.count { kept = next }
        }
        return self
    }
}
