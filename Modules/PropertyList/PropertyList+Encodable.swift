extension PropertyList: Encodable {
    /// Encodes the value for formats such as JSON, where data becomes base64 and a date its XML form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .unsigned(let number): try container.encode(number)
        case .real(let number): try container.encode(number)
        case .boolean(let flag): try container.encode(flag)
        case .date(let date): try container.encode(date.text)
        case .data(let bytes):
            var text: [UInt8] = []
            Base64.encode(bytes[...], into: &text)
            try container.encode(String(decoding: text, as: UTF8.self))
        case .array(let items): try container.encode(items)
        case .dictionary(let dictionary): try dictionary.encode(to: encoder)
        case .uid(let number): try container.encode(["CF$UID": number])
        }
    }
}

extension PropertyList.Dictionary: Encodable {
    private struct JSONKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            nil
        }
    }

    /// Encodes the pairs in their order.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: JSONKey.self)
        for (key, value) in self {
            try container.encode(value, forKey: JSONKey(stringValue: key))
        }
    }
}
