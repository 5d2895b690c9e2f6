/// The fields of an object from outside: an absent one or `null` is `nil`, one of another type an error that says so.
struct Fields<Key: CodingKey> {
    private let container: KeyedDecodingContainer<Key>

    init(_ decoder: any Decoder) throws {
        guard let container = try? decoder.container(keyedBy: Key.self) else {
            throw IslandStateError.wrongType(decoder.codingPath.text, expected: "an object", found: "something else")
        }
        self.container = container
    }

    func text(_ key: Key) throws -> String? {
        guard isThere(key) else { return nil }
        guard let text = try? container.decode(String.self, forKey: key) else { throw wrong(key, "text") }
        return text
    }

    func flag(_ key: Key) throws -> Bool? {
        guard isThere(key) else { return nil }
        guard let flag = try? container.decode(Bool.self, forKey: key) else { throw wrong(key, "true or false") }
        return flag
    }

    func number(_ key: Key) throws -> Double? {
        guard isThere(key) else { return nil }
        guard let number = try? container.decode(Double.self, forKey: key) else { throw wrong(key, "a number") }
        return number
    }

    /// A whole number, brought into `range`; a fraction is rounded towards zero, what is no number at all is `nil`.
    func integer<Number: FixedWidthInteger>(_ key: Key, in range: ClosedRange<Number>) throws -> Number? {
        guard isThere(key) else { return nil }
        if let exact = try? container.decode(Int64.self, forKey: key) {
            return min(max(Number(clamping: exact), range.lowerBound), range.upperBound)
        }
        guard let number = try? container.decode(Double.self, forKey: key) else { throw wrong(key, "a number") }
        if number.isNaN { return nil }
        if number >= Double(range.upperBound) { return range.upperBound }
        if number <= Double(range.lowerBound) { return range.lowerBound }
        return Number(number)
    }

    func list<Element: Decodable>(_ key: Key) throws -> [Element]? {
        guard isThere(key) else { return nil }
        guard (try? container.nestedUnkeyedContainer(forKey: key)) != nil else { throw wrong(key, "a list") }
        return try container.decode([Element].self, forKey: key)
    }

    func missing(_ key: Key, _ expected: String) -> IslandStateError {
        .wrongType(path(key), expected: expected, found: "nothing")
    }

    private func isThere(_ key: Key) -> Bool {
        container.contains(key) && (try? container.decodeNil(forKey: key)) != true
    }

    private func path(_ key: Key) -> String { (container.codingPath + [key]).text }

    private func wrong(_ key: Key, _ expected: String) -> IslandStateError {
        .wrongType(path(key), expected: expected, found: found(key))
    }

    private func found(_ key: Key) -> String {
        if let text = try? container.decode(String.self, forKey: key) {
            return "the text \"\(text.oneLine.cut(toLetters: 24, bytes: 96))\""
        }
        if let flag = try? container.decode(Bool.self, forKey: key) { return "\(flag)" }
        if let number = try? container.decode(Double.self, forKey: key) { return "the number \(number)" }
        if (try? container.nestedUnkeyedContainer(forKey: key)) != nil { return "a list" }
        if (try? container.nestedContainer(keyedBy: Key.self, forKey: key)) != nil { return "an object" }
        return "something else"
    }
}

extension [any CodingKey] {
    /// `items[2].pct`; empty for the outermost value.
    var text: String {
        reduce("") { path, key in
            if let index = key.intValue { return path + "[\(index)]" }
            return path.isEmpty ? key.stringValue : path + "." + key.stringValue
        }
    }
}
