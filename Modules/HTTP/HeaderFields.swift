/// The header fields of a request or a response, in their order; names are looked up in any case.
package struct HeaderFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// One field.
    package struct Field: Sendable, Hashable {
        /// The name, as it was sent or will be.
        package var name: String
        /// The value.
        package var value: String
    }

    /// All of them.
    package private(set) var fields: [Field] = []

    /// The fields of a literal.
    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The value of the first field of that name. Setting takes the place of all of them; `nil` removes them.
    package subscript(name: String) -> String? {
        get { fields.first { $0.name.isSameToken(as: name) }?.value }
        set {
            fields.removeAll { $0.name.isSameToken(as: name) }
            if let newValue { append(name, newValue) }
        }
    }

    /// The values of all fields of that name.
    package func all(_ name: String) -> [String] {
        fields.filter { $0.name.isSameToken(as: name) }.map(\.value)
    }

    /// Adds a field, also beside others of its name.
    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }
}

extension String {
    /// Whether two tokens of HTTP are one, whatever their case.
    package func isSameToken(as other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { $0 == $1 || ($0 ^ $1 == 0x20 && (0x61...0x7a).contains($0 | 0x20)) }
    }
}
