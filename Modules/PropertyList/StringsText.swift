import FerryBytes

/// The old style of a strings file: what it says, and where each value stands.
struct StringsText: Sendable {
    /// How the characters are written.
    struct Encoding: Sendable {
        /// Bytes before the first character.
        let markSize: Int
        /// Bytes of a code unit: 1 for UTF-8, 2 for UTF-16.
        let unitSize: Int
        let isBigEndian: Bool

        /// Goes by the mark at the beginning; without one by where zeros are.
        init(_ bytes: [UInt8]) throws(PropertyListError) {
            switch bytes {
            case _ where bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]):
                throw PropertyListError(
                    .unsupportedFormat,
                    "The strings file is written in UTF-32, which is not read.",
                    remedy: "Convert it with `iconv -f UTF-32 -t UTF-8`.",
                    offset: 0
                )
            case _ where bytes.starts(with: [0xFF, 0xFE]): (markSize, unitSize, isBigEndian) = (2, 2, false)
            case _ where bytes.starts(with: [0xFE, 0xFF]): (markSize, unitSize, isBigEndian) = (2, 2, true)
            case _ where bytes.starts(with: [0xEF, 0xBB, 0xBF]): (markSize, unitSize, isBigEndian) = (3, 1, false)
            case _ where bytes.count >= 2 && bytes[0] == 0 && bytes[1] != 0:
                (markSize, unitSize, isBigEndian) = (0, 2, true)
            case _ where bytes.count >= 2 && bytes[0] != 0 && bytes[1] == 0:
                (markSize, unitSize, isBigEndian) = (0, 2, false)
            default: (markSize, unitSize, isBigEndian) = (0, 1, false)
            }
            guard (bytes.count - markSize).isMultiple(of: unitSize) else {
                throw PropertyListError(
                    .malformed,
                    "The strings file is cut short: half a character of UTF-16 is at its end.",
                    remedy: "Get the file again.",
                    offset: bytes.count
                )
            }
        }

        /// Code units as numbers.
        func units(of bytes: [UInt8]) -> [UInt16] {
            if unitSize == 1 { return bytes.dropFirst(markSize).map(UInt16.init) }
            return stride(from: markSize, to: bytes.count, by: 2).map { place in
                let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
                return isBigEndian ? first << 8 | second : second << 8 | first
            }
        }

        /// Text as the file has it.
        func bytes(of text: String) -> [UInt8] {
            if unitSize == 1 { return Array(text.utf8) }
            return text.utf16.flatMap { unit in
                let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
                return isBigEndian ? [high, low] : [low, high]
            }
        }
    }

    /// One key and its value.
    struct Entry: Sendable {
        let key: String
        let value: PropertyList
        /// Where the value stands, in code units; empty and behind the key where it is left out.
        let place: Range<Int>
    }

    let entries: [Entry]
    private let encoding: Encoding
    /// Where another entry may be put, in code units.
    private let end: Int
    private let endsWithLine: Bool
    /// Whether a semicolon is due before another entry.
    private let lacksSemicolon: Bool

    init(_ bytes: [UInt8]) throws(PropertyListError) {
        encoding = try Encoding(bytes)
        var scan = StringsScan(encoding.units(of: bytes), isUTF8: encoding.unitSize == 1)
        (entries, end) = try scan.file()
        endsWithLine = scan.isLineStart(end)
        lacksSemicolon = scan.lacksSemicolon
    }

    /// `bytes`, which this was read from, with one value changed wherever it stands, or added.
    func setting(_ key: String, to value: String, in bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        let places = entries.filter { $0.key.utf8.elementsEqual(key.utf8) }.map(\.place)
        for place in places.reversed() {
            let text = place.isEmpty ? " = " + Self.quoted(value) : Self.quoted(value)
            result.replaceSubrange(byte(place.lowerBound)..<byte(place.upperBound), with: encoding.bytes(of: text))
        }
        if places.isEmpty {
            // The semicolon on a line of its own: what ends the file may be a comment.
            let start = (endsWithLine ? "" : "\n") + (lacksSemicolon ? ";\n" : "")
            let line = start + Self.quoted(key) + " = " + Self.quoted(value) + ";\n"
            result.insert(contentsOf: encoding.bytes(of: line), at: byte(end))
        }
        return result
    }

    private func byte(_ unit: Int) -> Int {
        encoding.markSize + unit * encoding.unitSize
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16, uppercase: true)
                quoted += "\\U" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
