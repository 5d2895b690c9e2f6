/// A `.strings` file: texts under keys, as an app shows them in one language.
///
/// Two forms are met, and both keep theirs. A property list, binary or XML; or the old style of OpenStep, in UTF-8 or UTF-16:
/// ```
/// /* A comment. */
/// "CFBundleDisplayName" = "Hafen";   // A key, a value; a plain word needs no quotes.
/// ```
/// Of the old style only the value that changes is written anew; every other byte stays.
public struct StringsFile: Sendable {
    /// The largest file that is read.
    public static let maximumByteCount = 16 << 20

    /// Keys and values; of a key that comes twice the last counts, as on a device.
    public private(set) var dictionary: PropertyList.Dictionary

    private enum Form: Sendable {
        case propertyList(PropertyList.Format)
        case text(StringsText)
    }

    private let form: Form
    private let bytes: [UInt8]

    /// Reads a file of either form.
    public init(bytes: [UInt8]) throws(PropertyListError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw PropertyListError.tooMuch("it has \(bytes.count) bytes, more than \(Self.maximumByteCount)")
        }
        self.bytes = bytes
        guard Self.isPropertyList(bytes) else {
            let text = try StringsText(bytes)
            form = .text(text)
            dictionary = [:]
            for entry in text.entries { dictionary[entry.key] = entry.value }
            return
        }
        let (value, format) = try PropertyList.parse(bytes)
        guard case .dictionary(let dictionary) = value else {
            throw PropertyListError(.malformed, "The strings file holds \(value.kindName), not a dictionary.")
        }
        form = .propertyList(format)
        self.dictionary = dictionary
    }

    /// The text under a key.
    public subscript(key: String) -> String? { dictionary[key]?.string }

    /// The file's bytes with one text changed, or added at the end.
    public func setting(_ key: String, to value: String) -> [UInt8] {
        switch form {
        case .propertyList(let format):
            var dictionary = dictionary
            dictionary[key] = .string(value)
            return PropertyList.dictionary(dictionary).encoded(as: format)
        case .text(let text): return text.setting(key, to: value, in: bytes)
        }
    }

    private static func isPropertyList(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: BinaryReader.magic) { return true }
        var start = bytes[...]
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { start = start.dropFirst(3) }
        start = start.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return start.starts(with: Array("<?xml".utf8)) || start.starts(with: Array("<!DOCTYPE".utf8))
            || start.starts(with: Array("<plist".utf8))
    }
}
