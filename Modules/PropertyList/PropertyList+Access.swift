extension PropertyList {
    /// The text, if it is text.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The integer, if it is one that fits in 64 bits with a sign.
    public var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The real, if it is one; an integer is none.
    public var real: Double? {
        if case .real(let value) = self { value } else { nil }
    }

    /// The boolean, if it is one; 0 and 1 are none.
    public var bool: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The date, if it is one.
    public var date: PropertyListDate? {
        if case .date(let value) = self { value } else { nil }
    }

    /// The bytes, if it is data.
    public var data: [UInt8]? {
        if case .data(let value) = self { value } else { nil }
    }

    /// The elements, if it is an array.
    public var array: [PropertyList]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The dictionary, if it is one.
    public var dictionary: Dictionary? {
        if case .dictionary(let value) = self { value } else { nil }
    }

    /// The texts of an array that holds nothing else.
    public var strings: [String]? {
        guard let array else { return nil }
        let texts = array.compactMap(\.string)
        return texts.count == array.count ? texts : nil
    }

    /// The value under a key; `nil` also where this is no dictionary.
    public subscript(key: String) -> PropertyList? {
        dictionary?[key]
    }

    /// The value at the end of a path of keys.
    public subscript(path path: String...) -> PropertyList? {
        path.reduce(self) { value, key in value?[key] }
    }

    /// What kind of value it is, in a reader's words: `a string`.
    public var kindName: String {
        switch self {
        case .string: "a string"
        case .integer, .unsigned: "an integer"
        case .real: "a real"
        case .boolean: "a boolean"
        case .date: "a date"
        case .data: "data"
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .uid: "a UID"
        }
    }
}

extension PropertyList: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }

    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }

    /// A real.
    public init(floatLiteral value: Double) { self = .real(value) }

    /// A boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }

    /// An array.
    public init(arrayLiteral elements: PropertyList...) { self = .array(elements) }

    /// A dictionary with its keys in the order written; of a repeated key the last value stays.
    public init(dictionaryLiteral elements: (String, PropertyList)...) {
        var dictionary = Dictionary()
        for (key, value) in elements { dictionary[key] = value }
        self = .dictionary(dictionary)
    }
}
