import FerryBytes

extension PropertyList {
    /// How strictly JSON is read.
    public enum JSONDialect: Sendable, Hashable {
        /// As RFC 8259 says, and nothing that a property list cannot hold: for files that are written for us.
        case exact
        /// Whatever Foundation's decoder takes, for files that were written for others, who read them with that: a comma
        /// before a closing bracket, control characters in a text, half a surrogate pair (it becomes U+FFFD), numbers of
        /// any size (they become reals, which may be infinite), a key that comes twice (the first one counts). A key whose
        /// value is `null` is left out; in an array `null` becomes an empty dictionary, so that no element moves. `$date`
        /// and `$data` are keys like others.
        case published
    }

    /// Reads JSON (RFC 8259) as a property list.
    ///
    /// Objects keep the order of their keys; `1` is an integer and `1.0` a real. An object whose only key is `$date`
    /// (`YYYY-MM-DDTHH:MM:SSZ`) or `$data` (base64) stands for a date or data. `null` has no counterpart and is refused, as
    /// is a key that comes twice; unless the dialect says otherwise.
    public static func parse(
        json bytes: [UInt8],
        limits: Limits = .standard,
        dialect: JSONDialect = .exact
    ) throws(PropertyListError) -> PropertyList {
        guard bytes.count <= limits.maximumByteCount else {
            throw PropertyListError.tooMuch("it has \(bytes.count) bytes, more than \(limits.maximumByteCount)")
        }
        var reader = JSONReader(bytes, limits, isExact: dialect == .exact)
        return try reader.document()
    }
}

/// Reads one JSON text.
private struct JSONReader {
    private let bytes: [UInt8]
    private let limits: PropertyList.Limits
    private let isExact: Bool
    private var place = 0
    private var values = 0

    init(_ bytes: [UInt8], _ limits: PropertyList.Limits, isExact: Bool) {
        self.bytes = bytes
        self.limits = limits
        self.isExact = isExact
        // A mark that says UTF-8, as some editors leave it.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
    }

    mutating func document() throws(PropertyListError) -> PropertyList {
        let value = try value(depth: 0)
        skipSpace()
        guard place == bytes.count else { throw fault("something follows the value") }
        return value
    }

    private mutating func value(depth: Int) throws(PropertyListError) -> PropertyList {
        values += 1
        guard values <= limits.maximumValueCount else {
            throw PropertyListError.tooMuch("it has more than \(limits.maximumValueCount) values")
        }
        skipSpace()
        guard place < bytes.count else { throw fault("it ends where a value is due") }
        switch bytes[place] {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try text())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default:
            if take("true") { return .boolean(true) }
            if take("false") { return .boolean(false) }
            if take("null") { throw fault("null is no value of a property list; leave the key out instead") }
            throw fault("no value begins like this")
        }
    }

    private mutating func object(depth: Int) throws(PropertyListError) -> PropertyList {
        guard depth <= limits.maximumDepth else {
            throw PropertyListError.tooMuch("it is nested more than \(limits.maximumDepth) deep")
        }
        place += 1
        var dictionary = PropertyList.Dictionary()
        skipSpace()
        if take("}") { return .dictionary(dictionary) }
        repeat {
            skipSpace()
            guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { throw fault("a key in quotes is due") }
            let start = place
            let key = try text()
            skipSpace()
            guard take(":") else { throw fault("a colon is due after the key “\(key.prefix(80))”") }
            if !isExact, takeNull() {
                skipSpace()
                continue
            }
            let value = try value(depth: depth)
            guard dictionary.insert(value, forNew: key) || !isExact else {
                place = start
                throw fault("the key “\(key.prefix(80))” comes twice in one object")
            }
            skipSpace()
        } while takeComma(before: "}")
        guard take("}") else { throw fault("a comma or a closing brace is due") }
        return isExact ? try marked(dictionary) : .dictionary(dictionary)
    }

    /// What an object stands for.
    private func marked(_ dictionary: PropertyList.Dictionary) throws(PropertyListError) -> PropertyList {
        guard let value = PropertyList(marked: dictionary) else {
            let text = dictionary.values.first?.string ?? ""
            throw fault("“\(text.prefix(80))” is no date in UTC, or no base64")
        }
        return value
    }

    private mutating func array(depth: Int) throws(PropertyListError) -> PropertyList {
        guard depth <= limits.maximumDepth else {
            throw PropertyListError.tooMuch("it is nested more than \(limits.maximumDepth) deep")
        }
        place += 1
        var elements: [PropertyList] = []
        skipSpace()
        if take("]") { return .array([]) }
        repeat {
            elements.append(!isExact && takeNull() ? .dictionary([:]) : try value(depth: depth))
            skipSpace()
        } while takeComma(before: "]")
        guard take("]") else { throw fault("a comma or a closing bracket is due") }
        return .array(elements)
    }

    /// Takes a comma that another element follows; one that none follows is taken too, unless it must not be there.
    private mutating func takeComma(before end: StaticString) -> Bool {
        guard take(",") else { return false }
        guard !isExact else { return true }
        skipSpace()
        let comma = place
        defer { place = comma }
        return !take(end)
    }

    private mutating func takeNull() -> Bool {
        skipSpace()
        guard take("null") else { return false }
        values += 1
        return true
    }

    private mutating func number() throws(PropertyListError) -> PropertyList {
        let start = place
        if bytes[place] == UInt8(ascii: "-") { place += 1 }
        let digits = place
        skipDigits()
        guard place > digits, place == digits + 1 || bytes[digits] != UInt8(ascii: "0") else {
            throw fault("a number has no digits, or begins with a zero too many")
        }
        var isReal = false
        if take(".") {
            isReal = true
            let fraction = place
            skipDigits()
            guard place > fraction else { throw fault("digits are due after a point") }
        }
        if take("e") || take("E") {
            isReal = true
            if !take("+") { _ = take("-") }
            let exponent = place
            skipDigits()
            guard place > exponent else { throw fault("digits are due in an exponent") }
        }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if !isReal {
            if let number = Int64(text) { return .integer(number) }
            if let number = UInt64(text) { return .unsigned(number) }
            if !isExact, let number = Double(text) { return .real(number) }
            throw fault("\(text.prefix(40)) does not fit in 64 bits")
        }
        guard let number = Double(text), number.isFinite || !isExact else {
            throw fault("\(text.prefix(40)) is out of range")
        }
        return .real(number)
    }

    private mutating func text() throws(PropertyListError) -> String {
        place += 1
        var utf8: [UInt8] = []
        while true {
            guard place < bytes.count else { throw fault("a text does not end") }
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: utf8, as: UTF8.self) else { throw fault("a text is no UTF-8") }
                return text
            case UInt8(ascii: "\\"): utf8 += Array(String(try escape()).utf8)
            case 0..<0x20 where isExact: throw fault("a text has a control character; write it as \\u00\([byte].hex)")
            default: utf8.append(byte)
            }
        }
    }

    private mutating func escape() throws(PropertyListError) -> Unicode.Scalar {
        guard place < bytes.count else { throw fault("a text does not end") }
        let letter = bytes[place]
        place += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try hexadecimal()
            if let scalar = Unicode.Scalar(first) { return scalar }
            let behind = place
            if first & 0xFC00 == 0xD800, take("\\u") {
                let second = try hexadecimal()
                if second & 0xFC00 == 0xDC00,
                    let scalar = Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + second & 0x3FF)
                {
                    return scalar
                }
            }
            guard !isExact else { throw fault("half a surrogate pair stands alone") }
            place = behind
            return "\u{FFFD}"
        default: throw fault("“\\\(Character(Unicode.Scalar(letter)))” is no escape")
        }
    }

    private mutating func hexadecimal() throws(PropertyListError) -> UInt32 {
        guard bytes.count - place >= 4,
            bytes[place..<place + 4].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80 }),
            let number = UInt32(String(decoding: bytes[place..<place + 4], as: UTF8.self), radix: 16)
        else { throw fault("four hexadecimal digits are due after \\u") }
        place += 4
        return number
    }

    // MARK: Bytes

    private mutating func skipSpace() {
        while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
    }

    private mutating func skipDigits() {
        while place < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[place]) { place += 1 }
    }

    private mutating func take(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard bytes.count - place >= length,
            bytes[place..<place + length].elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: length))
        else { return false }
        place += length
        return true
    }

    private func fault(_ what: String) -> PropertyListError {
        let line = 1 + bytes[..<min(place, bytes.count)].count { $0 == 0x0A }
        return PropertyListError(
            .malformed,
            "The JSON is wrong at line \(line) (byte \(place)): \(what).",
            remedy: "Check it with `python3 -m json.tool FILE`.",
            offset: place
        )
    }
}

extension PropertyList {
    /// What a dictionary from JSON stands for: a date or data where its only key says so, else itself; `nil` for a date or
    /// data that is none.
    package init?(marked dictionary: Dictionary) {
        guard dictionary.count == 1, let key = dictionary.keys.first, let text = dictionary[key]?.string else {
            self = .dictionary(dictionary)
            return
        }
        switch key {
        case "$date":
            guard let date = PropertyListDate(text) else { return nil }
            self = .date(date)
        case "$data":
            guard let data = Self.data(base64: text) else { return nil }
            self = .data(data)
        default: self = .dictionary(dictionary)
        }
    }

    /// The value with dates and data as JSON is given them.
    package var markedForJSON: PropertyList {
        switch self {
        case .date(let date): return ["$date": .string(date.text)]
        case .data(let bytes):
            var text: [UInt8] = []
            Base64.encode(bytes[...], into: &text)
            return ["$data": .string(String(decoding: text, as: UTF8.self))]
        case .array(let elements): return .array(elements.map(\.markedForJSON))
        case .dictionary(let dictionary):
            var marked = Dictionary()
            for (key, value) in dictionary { marked[key] = value.markedForJSON }
            return .dictionary(marked)
        default: return self
        }
    }

    /// The bytes that base64 stands for, spaces aside; `nil` where a character or a group is not of it.
    package static func data(base64 text: some StringProtocol) -> [UInt8]? {
        let digits = text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let isClean = digits.allSatisfy { digit in
            switch digit {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
                true
            default: false
            }
        }
        return isClean ? Base64.decode(digits[...]) : nil
    }
}
