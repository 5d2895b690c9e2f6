public import FerryPropertyList

extension PropertyList {
    /// Reads a value as people type it after `--set KEY=`.
    ///
    /// | text | value |
    /// |---|---|
    /// | `true`, `false` | a boolean |
    /// | `12`, `-3` | an integer |
    /// | `1.5`, `1e3` | a real |
    /// | `[…]`, `{…}`, `"…"` | JSON; `{"$date": "…"}` and `{"$data": "…"}` too |
    /// | `date:2026-01-31T00:00:00Z` | a date |
    /// | `data:aGk=` | data, from base64 |
    /// | `string:…`, `integer:…`, `real:…`, `boolean:…` | what it says |
    /// | anything else | a string |
    ///
    /// Booleans and numbers without a prefix stay text where `present`, the value that they replace, is text: versions look like
    /// numbers.
    public init(typed text: String, replacing present: PropertyList? = nil) throws(AppBundleError) {
        func refuse(_ what: String) -> AppBundleError {
            AppBundleError(
                .value,
                text.isEmpty ? "“”" : text,
                "this is \(what).",
                remedy: "Write string: before it for a text, or see docs/recipe.md for the other kinds."
            )
        }
        for (prefix, read) in Self.prefixes {
            guard text.hasPrefix(prefix) else { continue }
            guard let value = read(String(text.dropFirst(prefix.count))) else {
                throw refuse("no value of the kind that “\(prefix)” names")
            }
            self = value
            return
        }
        if let first = text.first, first == "[" || first == "{" || first == "\"" {
            do {
                self = try PropertyList.parse(json: Array(text.utf8))
            } catch {
                throw refuse("no JSON, which it begins like: \(error.message)")
            }
            return
        }
        let plain = PropertyList.string(text)
        if case .string? = present {
            self = plain
            return
        }
        self = Self.boolean(text) ?? Self.integer(text) ?? Self.real(text) ?? plain
    }

    private static let prefixes: [(String, @Sendable (String) -> PropertyList?)] = [
        ("string:", { .string($0) }),
        ("integer:", { integer($0) }),
        ("real:", { real($0) ?? integer($0)?.integer.map { .real(Double($0)) } }),
        ("boolean:", { boolean($0) }),
        ("date:", { PropertyListDate($0).map { .date($0) } }),
        ("data:", { data(base64: $0).map { .data($0) } }),
    ]

    private static func boolean(_ text: String) -> PropertyList? {
        text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : nil
    }

    private static func integer(_ text: String) -> PropertyList? {
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
        // 007 is a name, not seven.
        guard text.utf8.count - digits.count <= 1, let first = digits.first,
            digits.allSatisfy({ (0x30...0x39).contains($0) }), first != 0x30 || digits.count == 1
        else { return nil }
        return Int64(text).map { .integer($0) } ?? UInt64(text).map { .unsigned($0) }
    }

    private static func real(_ text: String) -> PropertyList? {
        guard text.utf8.contains(where: { (0x30...0x39).contains($0) }),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || Array("-+.eE".utf8).contains($0) }),
            text.utf8.contains(UInt8(ascii: ".")) || text.lowercased().contains("e"),
            let number = Double(text), number.isFinite
        else { return nil }
        return .real(number)
    }
}
