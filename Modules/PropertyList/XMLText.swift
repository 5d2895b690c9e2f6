/// The text encodings that an XML property list may come in.
enum XMLText {
    static let utf8Mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The same text as UTF-8: unchanged, or recoded from UTF-16 where it begins with that byte order mark.
    ///
    /// Throws for what is no XML at all, and names what it is.
    static func utf8(_ bytes: [UInt8]) throws(PropertyListError) -> [UInt8] {
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) {
            throw unsupported("UTF-32")
        }
        if bytes.starts(with: [0xFE, 0xFF]) { return try utf16(bytes, high: 0) }
        if bytes.starts(with: [0xFF, 0xFE]) { return try utf16(bytes, high: 1) }
        let text = bytes[(bytes.starts(with: utf8Mark) ? utf8Mark.count : 0)...].drop(while: isSpace)
        guard text.first == UInt8(ascii: "<") else {
            switch text.first {
            case UInt8(ascii: "{"), UInt8(ascii: "("), UInt8(ascii: "\""), UInt8(ascii: "/"):
                throw PropertyListError(
                    .unsupportedFormat,
                    "It is an old-style (ASCII) property list, which is not read.",
                    remedy: "Convert it with `plutil -convert xml1 FILE`.",
                    offset: 0
                )
            case _ where text.starts(with: Array("bplist".utf8)):
                throw PropertyListError(
                    .unsupportedFormat,
                    "It is a binary property list of another version than 00.",
                    remedy: "Convert it with `plutil -convert binary1 FILE`.",
                    offset: 0
                )
            default: throw PropertyListError.notAPropertyList(text)
            }
        }
        if let encoding = declaredEncoding(text),
            !["utf-8", "utf8", "us-ascii", "ascii"].contains(encoding.lowercased()),
            bytes.contains(where: { $0 >= 0x80 })
        {
            throw unsupported(encoding)
        }
        return bytes
    }

    /// Whether XML counts a byte as white space.
    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D
    }

    /// The text without white space at its ends.
    static func trimmed(_ text: String) -> String {
        let bytes = text.utf8.drop(while: isSpace)
        guard let last = bytes.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(Substring(bytes[...last]))
    }

    private static func utf16(_ bytes: [UInt8], high: Int) throws(PropertyListError) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        for index in stride(from: 2, to: bytes.count - 1, by: 2) {
            units.append(UInt16(bytes[index + high]) << 8 | UInt16(bytes[index + 1 - high]))
        }
        guard bytes.count.isMultiple(of: 2), let text = String(validating: units, as: UTF16.self) else {
            throw PropertyListError(
                .malformed,
                "The XML property list is no whole UTF-16.",
                remedy: "Get the file again."
            )
        }
        guard text.utf8.drop(while: isSpace).first == UInt8(ascii: "<") else {
            throw PropertyListError.notAPropertyList(Array(text.utf8.drop(while: isSpace)))
        }
        return Array(text.utf8)
    }

    /// What `<?xml … encoding="…"?>` says.
    private static func declaredEncoding(_ text: ArraySlice<UInt8>) -> String? {
        guard text.starts(with: Array("<?xml".utf8)) else { return nil }
        let longest = 200
        let head = String(decoding: text.prefix(longest).prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
        let parts = head.split(whereSeparator: { $0 == "\"" || $0 == "'" })
        guard let name = parts.firstIndex(where: { trimmed(String($0)).hasSuffix("encoding=") }),
            parts.indices.contains(name + 1)
        else { return nil }
        return String(parts[name + 1])
    }

    private static func unsupported(_ encoding: String) -> PropertyListError {
        PropertyListError(
            .unsupportedFormat,
            "The XML property list is written in \(encoding.prefix(40)), which is not read.",
            remedy: "Convert it with `plutil -convert xml1 FILE`.",
            offset: 0
        )
    }
}
