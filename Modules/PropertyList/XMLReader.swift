/// Reads the XML form, and no more of XML than that form needs.
///
/// No entity can be declared, so none can expand; attributes are passed over; a key may not come twice in one dictionary,
/// because readers differ in which one counts.
struct XMLReader {
    private let bytes: [UInt8]
    private let limits: PropertyList.Limits
    private var position = 0
    private var valueCount = 0

    init(_ bytes: [UInt8], limits: PropertyList.Limits) throws(PropertyListError) {
        self.limits = limits
        self.bytes = try XMLText.utf8(bytes)
        position = self.bytes.starts(with: XMLText.utf8Mark) ? XMLText.utf8Mark.count : 0
    }

    /// The one value of the document, which nothing but comments may follow.
    mutating func document() throws(PropertyListError) -> PropertyList {
        try prolog()
        let root = try openTag()
        let value: PropertyList
        if root.kind == .plist {
            guard !root.isEmpty else { throw fault("the property list is empty", at: root.offset) }
            value = try self.value(try openTag(), depth: 0)
            try close(.plist)
        } else {
            value = try self.value(root, depth: 0)
        }
        try skipBlanks()
        guard position == bytes.count else { throw fault("something follows the end of the property list") }
        return value
    }

    // MARK: Before the root

    private mutating func prolog() throws(PropertyListError) {
        try skipBlanks()
        if follows("<!DOCTYPE") {
            position += "<!DOCTYPE".utf8.count
            skipSpace()
            guard follows("plist") else { throw PropertyListError.notAPropertyList(bytes) }
            while let byte = peek, byte != UInt8(ascii: ">") {
                guard byte != UInt8(ascii: "[") else {
                    throw fault("it declares entities of its own, which are refused")
                }
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    try skip(past: [byte], from: position + 1, in: "the DOCTYPE")
                } else {
                    position += 1
                }
            }
            try expect(UInt8(ascii: ">"), in: "the DOCTYPE")
            try skipBlanks()
        }
        guard peek == UInt8(ascii: "<"), Kind(at: position + 1, in: bytes) != nil else {
            if position == bytes.count, position > 0 { throw fault("it ends before the property list begins") }
            throw PropertyListError.notAPropertyList(bytes[position...])
        }
    }

    /// Passes over white space, comments and processing instructions.
    private mutating func skipBlanks() throws(PropertyListError) {
        while true {
            skipSpace()
            if follows("<!--") {
                try skip(past: Array("-->".utf8), from: position + 4, in: "a comment")
            } else if follows("<?") {
                try skip(past: Array("?>".utf8), from: position + 2, in: "a processing instruction")
            } else {
                return
            }
        }
    }

    // MARK: Values

    private mutating func value(_ tag: Tag, depth: Int) throws(PropertyListError) -> PropertyList {
        try count(tag)
        switch tag.kind {
        case .string: return .string(try text(of: tag))
        case .trueValue, .falseValue:
            if !tag.isEmpty { try close(tag.kind) }
            return .boolean(tag.kind == .trueValue)
        case .integer: return try integer(tag)
        case .real:
            let text = try text(of: tag)
            guard let number = Self.real(text) else { throw fault("“\(text.prefix(40))” is no real", at: tag.offset) }
            return .real(number)
        case .date:
            let text = try text(of: tag)
            guard let date = PropertyListDate(text) else {
                throw fault("“\(text.prefix(40))” is no date of the form 2001-01-01T00:00:00Z", at: tag.offset)
            }
            return .date(date)
        case .data:
            let digits = try content(of: tag)
            guard let data = Base64.decode(digits) else { throw fault("the data is no base 64", at: tag.offset) }
            return .data(data)
        case .array: return try array(tag, depth: depth + 1)
        case .dictionary: return try dictionary(tag, depth: depth + 1)
        case .key, .plist: throw fault("<\(tag.kind.name)> stands where a value is due", at: tag.offset)
        }
    }

    private mutating func count(_ tag: Tag) throws(PropertyListError) {
        valueCount += 1
        guard valueCount <= limits.maximumValueCount else {
            throw PropertyListError.tooMuch("it has more than \(limits.maximumValueCount) values")
        }
    }

    private func check(depth: Int) throws(PropertyListError) {
        guard depth <= limits.maximumDepth else {
            throw PropertyListError.tooMuch("it is nested more than \(limits.maximumDepth) deep")
        }
    }

    private mutating func array(_ tag: Tag, depth: Int) throws(PropertyListError) -> PropertyList {
        try check(depth: depth)
        var elements: [PropertyList] = []
        guard !tag.isEmpty else { return .array(elements) }
        while try !isClosing() {
            elements.append(try value(try openTag(), depth: depth))
        }
        try close(.array)
        return .array(elements)
    }

    private mutating func dictionary(_ tag: Tag, depth: Int) throws(PropertyListError) -> PropertyList {
        try check(depth: depth)
        var dictionary = PropertyList.Dictionary()
        guard !tag.isEmpty else { return .dictionary(dictionary) }
        while try !isClosing() {
            let keyTag = try openTag()
            guard keyTag.kind == .key else {
                throw fault("<\(keyTag.kind.name)> stands where a key is due", at: keyTag.offset)
            }
            try count(keyTag)
            let key = try text(of: keyTag)
            guard try !isClosing() else { throw fault("the key “\(key.prefix(80))” has no value") }
            let value = try value(try openTag(), depth: depth)
            guard dictionary.insert(value, forNew: key) else {
                throw fault("the key “\(key.prefix(80))” comes twice in one dictionary", at: keyTag.offset)
            }
        }
        try close(.dictionary)
        if dictionary.count == 1, case .integer(let number)? = dictionary[PropertyList.uidKey], number >= 0 {
            return .uid(UInt64(number))
        }
        if dictionary.count == 1, case .unsigned(let number)? = dictionary[PropertyList.uidKey] {
            return .uid(number)
        }
        return .dictionary(dictionary)
    }

    private mutating func integer(_ tag: Tag) throws(PropertyListError) -> PropertyList {
        let text = try text(of: tag)
        var digits = Substring(XMLText.trimmed(text))
        let isNegative = digits.hasPrefix("-")
        if isNegative || digits.hasPrefix("+") { digits = digits.dropFirst() }
        let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
        if isHexadecimal { digits = digits.dropFirst(2) }
        // `UInt64` would take a sign of its own.
        guard let first = digits.utf8.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-"),
            let magnitude = UInt64(digits, radix: isHexadecimal ? 16 : 10)
        else { throw fault("“\(text.prefix(40))” is no integer of 64 bits", at: tag.offset) }
        if let number = Int64(exactly: magnitude) { return .integer(isNegative ? -number : number) }
        if !isNegative { return .unsigned(magnitude) }
        guard magnitude == Int64.min.magnitude else {
            throw fault("“\(text.prefix(40))” is no integer of 64 bits", at: tag.offset)
        }
        return .integer(.min)
    }

    private static func real(_ text: String) -> Double? {
        let digits = XMLText.trimmed(text)
        // Swift's reader also takes hexadecimal reals and `nan(…)`, which no property list has.
        guard !digits.utf8.contains(where: { $0 == UInt8(ascii: "x") || $0 == UInt8(ascii: "(") }) else { return nil }
        return Double(digits)
    }

    // MARK: Text

    private mutating func text(of tag: Tag) throws(PropertyListError) -> String {
        let start = position
        let content = try content(of: tag)
        guard let text = String(validating: content, as: UTF8.self) else {
            throw fault("the text is no UTF-8", at: start)
        }
        return text
    }

    /// The bytes between a tag and its end, with references and CDATA sections resolved and comments left out.
    private mutating func content(of tag: Tag) throws(PropertyListError) -> ArraySlice<UInt8> {
        guard !tag.isEmpty else { return [] }
        var gathered: [UInt8] = []
        var start = position
        while let byte = peek {
            if byte == UInt8(ascii: "&") {
                gathered.append(contentsOf: bytes[start..<position])
                gathered.append(contentsOf: try reference())
                start = position
            } else if byte == UInt8(ascii: "<") {
                let end = position
                if follows("<![CDATA[") {
                    gathered.append(contentsOf: bytes[start..<end])
                    let inner = position + 9
                    try skip(past: Array("]]>".utf8), from: inner, in: "a CDATA section")
                    gathered.append(contentsOf: bytes[inner..<position - 3])
                } else if follows("<!--") {
                    gathered.append(contentsOf: bytes[start..<end])
                    try skip(past: Array("-->".utf8), from: position + 4, in: "a comment")
                } else {
                    try close(tag.kind)
                    guard !gathered.isEmpty else { return bytes[start..<end] }
                    gathered.append(contentsOf: bytes[start..<end])
                    return gathered[...]
                }
                start = position
            } else {
                skipText()
            }
        }
        throw fault("it ends inside <\(tag.kind.name)>")
    }

    /// Moves to the next byte that means something in text.
    private mutating func skipText() {
        position = bytes.withUnsafeBufferPointer { [position] bytes in
            var place = position
            while place < bytes.count, bytes[place] != UInt8(ascii: "&"), bytes[place] != UInt8(ascii: "<") {
                place += 1
            }
            return place
        }
    }

    private mutating func reference() throws(PropertyListError) -> [UInt8] {
        let start = position
        let longest = 12
        guard let end = bytes[start..<min(start + longest, bytes.count)].firstIndex(of: UInt8(ascii: ";")) else {
            throw fault("a reference that begins with & does not end", at: start)
        }
        position = end + 1
        let name = String(decoding: bytes[start + 1..<end], as: UTF8.self)
        switch name {
        case "amp": return [UInt8(ascii: "&")]
        case "lt": return [UInt8(ascii: "<")]
        case "gt": return [UInt8(ascii: ">")]
        case "quot": return [UInt8(ascii: "\"")]
        case "apos": return [UInt8(ascii: "'")]
        default: break
        }
        let isHexadecimal = name.hasPrefix("#x") || name.hasPrefix("#X")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard name.hasPrefix("#"), let first = digits.first, first != "+", first != "-",
            let number = UInt32(digits, radix: isHexadecimal ? 16 : 10), number != 0,
            let scalar = Unicode.Scalar(number)
        else { throw fault("&\(name); stands for no character", at: start) }
        return Array(String(Character(scalar)).utf8)
    }

    // MARK: Tags

    private mutating func openTag() throws(PropertyListError) -> Tag {
        try skipBlanks()
        let start = position
        guard let byte = peek else { throw fault("it ends too early") }
        guard byte == UInt8(ascii: "<") else { throw fault("text stands where a tag is due") }
        guard let kind = Kind(at: position + 1, in: bytes) else {
            let name = bytes[(position + 1)...].prefix(20).prefix {
                $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/")
            }
            throw fault("<\(String(decoding: name, as: UTF8.self))> is no tag of a property list")
        }
        position += 1 + kind.name.utf8.count
        while let byte = peek, byte != UInt8(ascii: ">") {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                try skip(past: [byte], from: position + 1, in: "an attribute")
            } else {
                guard byte != UInt8(ascii: "<") else { throw fault("the tag <\(kind.name)> does not end", at: start) }
                position += 1
            }
        }
        try expect(UInt8(ascii: ">"), in: "the tag <\(kind.name)>")
        return Tag(kind: kind, isEmpty: bytes[position - 2] == UInt8(ascii: "/"), offset: start)
    }

    private mutating func isClosing() throws(PropertyListError) -> Bool {
        try skipBlanks()
        return follows("</")
    }

    private mutating func close(_ kind: Kind) throws(PropertyListError) {
        try skipBlanks()
        guard peek != nil else { throw fault("it ends inside <\(kind.name)>") }
        guard follows("</") else { throw fault("<\(kind.name)> is not closed here") }
        guard Kind(at: position + 2, in: bytes) == kind else {
            throw fault("<\(kind.name)> is closed by the end of another tag")
        }
        position += 2 + kind.name.utf8.count
        skipSpace()
        try expect(UInt8(ascii: ">"), in: "</\(kind.name)>")
    }

    // MARK: Bytes

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while position < bytes.count, XMLText.isSpace(bytes[position]) { position += 1 }
    }

    private func follows(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - position >= count else { return false }
        return text.withUTF8Buffer { wanted in
            for index in 0..<count where bytes[position + index] != wanted[index] { return false }
            return true
        }
    }

    private mutating func expect(_ byte: UInt8, in what: String) throws(PropertyListError) {
        guard let found = peek else { throw fault("it ends inside \(what)") }
        guard found == byte else { throw fault("\(what) does not end as it should") }
        position += 1
    }

    private mutating func skip(past end: [UInt8], from start: Int, in what: String) throws(PropertyListError) {
        let opened = position
        position = start
        while position <= bytes.count - end.count {
            if bytes[position] == end[0], bytes[position..<position + end.count].elementsEqual(end) {
                position += end.count
                return
            }
            position += 1
        }
        throw fault("it ends inside \(what)", at: min(opened, bytes.count))
    }

    private func fault(_ what: String, at offset: Int? = nil) -> PropertyListError {
        let offset = min(offset ?? position, bytes.count)
        let line = bytes[..<offset].reduce(1) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
        return PropertyListError.malformed(what, line: line, offset: offset)
    }
}

extension XMLReader {
    private struct Tag {
        let kind: Kind
        /// Whether it is its own end: `<dict/>`.
        let isEmpty: Bool
        let offset: Int
    }

    private enum Kind {
        case plist, dictionary, array, key, string, integer, real, data, date, trueValue, falseValue

        var name: String {
            switch self {
            case .plist: "plist"
            case .dictionary: "dict"
            case .array: "array"
            case .key: "key"
            case .string: "string"
            case .integer: "integer"
            case .real: "real"
            case .data: "data"
            case .date: "date"
            case .trueValue: "true"
            case .falseValue: "false"
            }
        }

        /// The tag whose name begins at `start`; `nil` for any other name.
        init?(at start: Int, in bytes: [UInt8]) {
            let longest = 8
            var packed: UInt64 = 0
            var index = start
            while index < bytes.count, Self.isName(bytes[index]) {
                guard index - start < longest else { return nil }
                packed = packed << 8 | UInt64(bytes[index])
                index += 1
            }
            switch packed {
            case 0x6B_6579: self = .key
            case 0x73_7472_696E_67: self = .string
            case 0x64_6174_61: self = .data
            case 0x64_6963_74: self = .dictionary
            case 0x74_7275_65: self = .trueValue
            case 0x66_616C_7365: self = .falseValue
            case 0x69_6E74_6567_6572: self = .integer
            case 0x61_7272_6179: self = .array
            case 0x72_6561_6C: self = .real
            case 0x64_6174_65: self = .date
            case 0x70_6C69_7374: self = .plist
            default: return nil
            }
        }

        private static func isName(_ byte: UInt8) -> Bool {
            byte > 0x20 && byte != UInt8(ascii: ">") && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "<")
        }
    }
}
