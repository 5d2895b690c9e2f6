import FerryBytes

/// One walk over a strings file of the old style.
///
/// ```
/// file  = entry* | "{" entry* "}"
/// entry = text [ "=" value ] ";"
/// value = text | "<" hexadecimal digits ">" | "(" [ value *( "," value ) ] ")" | "{" entry* "}"
/// text  = quoted by " or ', or a word of letters, digits and _ $ / : . -
/// ```
/// Spaces, `// …` and `/* … */` may stand anywhere between. Source: CoreFoundation, `CFOldStylePList.c`.
struct StringsScan {
    private let units: [UInt16]
    private let isUTF8: Bool
    private var place = 0
    private var values = 0
    /// Whether the last entry that was read has no semicolon.
    private(set) var lacksSemicolon = false

    private static let maximumDepth = 64
    private static let maximumValueCount = 500_000

    init(_ units: [UInt16], isUTF8: Bool) {
        self.units = units
        self.isUTF8 = isUTF8
    }

    /// Whether what is at `place` would begin a line.
    func isLineStart(_ place: Int) -> Bool {
        place == 0 || units[place - 1] == 0x0A || units[place - 1] == 0x0D
    }

    mutating func file() throws(PropertyListError) -> (entries: [StringsText.Entry], end: Int) {
        try skip()
        let isBraced = take("{")
        let entries = try self.entries(depth: 0, until: isBraced ? "}" : nil)
        let end = place
        if isBraced {
            guard take("}") else { throw fault("a closing brace is due") }
            try skip()
        }
        guard place == units.count else { throw fault("something follows the last entry") }
        return (entries, end)
    }

    private mutating func entries(
        depth: Int,
        until close: Unicode.Scalar?
    ) throws(PropertyListError) -> [StringsText
        .Entry]
    {
        var entries: [StringsText.Entry] = []
        while true {
            try skip()
            guard place < units.count else { return entries }
            if let close, units[place] == UInt16(close.value) { return entries }
            let key = try text()
            var valuePlace = place..<place
            try skip()
            var value = PropertyList.string(key)
            if take("=") {
                try skip()
                let start = place
                value = try self.value(depth: depth)
                valuePlace = start..<place
                try skip()
            }
            // The last one may lack it.
            lacksSemicolon = !take(";")
            guard !lacksSemicolon || place == units.count || (close.map { units[place] == UInt16($0.value) } ?? false)
            else {
                throw fault("a semicolon is due after the entry “\(key.prefix(80))”")
            }
            entries.append(StringsText.Entry(key: key, value: value, place: valuePlace))
        }
    }

    private mutating func value(depth: Int) throws(PropertyListError) -> PropertyList {
        values += 1
        guard values <= Self.maximumValueCount, depth <= Self.maximumDepth else {
            throw PropertyListError.tooMuch(
                "it has more than \(Self.maximumValueCount) values, or is nested more than \(Self.maximumDepth) deep"
            )
        }
        if take("<") { return .data(try data()) }
        if take("(") { return .array(try array(depth: depth + 1)) }
        guard take("{") else { return .string(try text()) }
        var dictionary = PropertyList.Dictionary()
        for entry in try entries(depth: depth + 1, until: "}") { dictionary[entry.key] = entry.value }
        guard take("}") else { throw fault("a closing brace is due") }
        return .dictionary(dictionary)
    }

    private mutating func array(depth: Int) throws(PropertyListError) -> [PropertyList] {
        var elements: [PropertyList] = []
        try skip()
        while !take(")") {
            elements.append(try value(depth: depth))
            try skip()
            if take(",") {
                try skip()
            } else if place >= units.count || units[place] != UInt16(UInt8(ascii: ")")) {
                throw fault("a comma or a closing parenthesis is due")
            }
        }
        return elements
    }

    private mutating func data() throws(PropertyListError) -> [UInt8] {
        var digits: [UInt8] = []
        while !take(">") {
            guard place < units.count else { throw fault("data does not end") }
            guard !isSpace(units[place]) else {
                place += 1
                continue
            }
            guard let digit = Self.hexadecimal(units[place]) else { throw fault("data has no hexadecimal digit here") }
            digits.append(UInt8(digit))
            place += 1
        }
        guard digits.count.isMultiple(of: 2) else { throw fault("data has half a byte") }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    // MARK: Text

    private mutating func text() throws(PropertyListError) -> String {
        guard place < units.count else { throw fault("it ends where a text is due") }
        let first = units[place]
        if first == UInt16(UInt8(ascii: "\"")) || first == UInt16(UInt8(ascii: "'")) { return try quoted(by: first) }
        let start = place
        while place < units.count, Self.isWord(units[place]) { place += 1 }
        guard place > start else { throw fault("no text begins like this") }
        return String(decoding: units[start..<place], as: UTF16.self)
    }

    private mutating func quoted(by quote: UInt16) throws(PropertyListError) -> String {
        let start = place
        place += 1
        var text: [UInt16] = []
        /// Bytes of UTF-8 that are not in `text` yet.
        var pending: [UInt8] = []
        while true {
            guard place < units.count else {
                place = start
                throw fault("a text does not end")
            }
            let unit = units[place]
            place += 1
            guard unit == quote || unit == UInt16(UInt8(ascii: "\\")) else {
                if isUTF8 { pending.append(UInt8(truncatingIfNeeded: unit)) } else { text.append(unit) }
                continue
            }
            if !pending.isEmpty {
                guard let part = String(validating: pending, as: UTF8.self) else { throw fault("a text is no UTF-8") }
                text += part.utf16
                pending = []
            }
            if unit == quote { break }
            text.append(try escape())
        }
        guard let whole = String(validating: text, as: UTF16.self) else { throw fault("a text is no UTF-16") }
        return whole
    }

    private mutating func escape() throws(PropertyListError) -> UInt16 {
        guard place < units.count else { throw fault("a text does not end") }
        let letter = units[place]
        place += 1
        switch UInt8(exactly: letter).map({ Unicode.Scalar($0) }) {
        case "a"?: return 0x07
        case "b"?: return 0x08
        case "f"?: return 0x0C
        case "n"?: return 0x0A
        case "r"?: return 0x0D
        case "t"?: return 0x09
        case "v"?: return 0x0B
        case "U"?, "u"?:
            var number: UInt16 = 0
            var count = 0
            while count < 4, place < units.count, let digit = Self.hexadecimal(units[place]) {
                number = number << 4 | digit
                count += 1
                place += 1
            }
            guard count > 0 else { throw fault("hexadecimal digits are due after \\U") }
            return number
        case ("0"..."7")?:
            var number = letter - 0x30
            var count = 1
            while count < 3, place < units.count, (0x30...0x37).contains(units[place]) {
                number = number << 3 | (units[place] - 0x30)
                count += 1
                place += 1
            }
            // Above ASCII it is NeXT's own character set, which no app has used since.
            guard number < 0x80 else { throw fault("the octal escape is past ASCII") }
            return number
        default:
            guard isUTF8, letter >= 0x80 else { return letter }
            throw fault("a backslash stands before half a character")
        }
    }

    private static func isWord(_ unit: UInt16) -> Bool {
        switch UInt8(exactly: unit).map({ Unicode.Scalar($0) }) {
        case ("a"..."z")?, ("A"..."Z")?, ("0"..."9")?, "_"?, "$"?, "/"?, ":"?, "."?, "-"?: true
        default: false
        }
    }

    private static func hexadecimal(_ unit: UInt16) -> UInt16? {
        switch unit {
        case 0x30...0x39: unit - 0x30
        case 0x41...0x46: unit - 0x41 + 10
        case 0x61...0x66: unit - 0x61 + 10
        default: nil
        }
    }

    // MARK: Between

    private func isSpace(_ unit: UInt16) -> Bool {
        // Line and paragraph separators too, as CoreFoundation has it.
        unit == 0x20 || (0x09...0x0D).contains(unit) || (!isUTF8 && (unit == 0x2028 || unit == 0x2029))
    }

    /// Passes over spaces and comments.
    private mutating func skip() throws(PropertyListError) {
        while place < units.count {
            if isSpace(units[place]) {
                place += 1
            } else if take("//") {
                while place < units.count, units[place] != 0x0A, units[place] != 0x0D { place += 1 }
            } else if take("/*") {
                let start = place
                while !take("*/") {
                    guard place < units.count else {
                        place = start
                        throw fault("a comment does not end")
                    }
                    place += 1
                }
            } else {
                return
            }
        }
    }

    private mutating func take(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard units.count - place >= length else { return false }
        for index in 0..<length where units[place + index] != UInt16(text.utf8Start[index]) { return false }
        place += length
        return true
    }

    private func fault(_ what: String) -> PropertyListError {
        let line = 1 + units[..<min(place, units.count)].count { $0 == 0x0A }
        return PropertyListError(
            .malformed,
            "The strings file is damaged at line \(line) (character \(place)): \(what).",
            remedy: "Get the file again, or check it with `plutil -lint`.",
            offset: place
        )
    }
}
