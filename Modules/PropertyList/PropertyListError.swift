public import FerryBytes

/// Why bytes are no property list that can be read.
public struct PropertyListError: ExplainedError, Hashable {
    /// What kind of fault it is.
    public enum Code: Sendable, Hashable {
        /// Something else: a web page, text, nothing at all.
        case notAPropertyList
        /// A property list of a form that is not read: old-style ASCII, an unknown version or text encoding.
        case unsupportedFormat
        /// It breaks the rules of its form, or ends too early.
        case malformed
        /// It asks for more than the limits allow.
        case tooMuch
    }

    /// What kind of fault it is.
    public let code: Code
    /// What is wrong, with line or offset; it has no path, for whoever has one puts it before.
    public let message: String
    /// What to do about it.
    public let remedy: String?
    /// The byte at which it was noticed; `nil` where no single one is to blame.
    public let offset: Int?

    init(_ code: Code, _ message: String, remedy: String? = nil, offset: Int? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.offset = offset
    }

    static func tooMuch(_ what: String) -> PropertyListError {
        PropertyListError(
            .tooMuch,
            "The property list is refused: \(what).",
            remedy: "No real app needs as much; get the file from its author again."
        )
    }

    /// A fault of XML text: the line counts from 1, the offset from 0.
    static func malformed(_ what: String, line: Int, offset: Int) -> PropertyListError {
        PropertyListError(
            .malformed,
            "The XML property list is damaged at line \(line) (byte \(offset)): \(what).",
            remedy: "Get the file again, or check it with `plutil -lint`.",
            offset: offset
        )
    }

    /// A fault of binary bytes.
    static func malformed(_ what: String, at offset: Int) -> PropertyListError {
        PropertyListError(
            .malformed,
            "The binary property list is damaged at byte \(offset): \(what).",
            remedy: "Get the file again, or check it with `plutil -lint`.",
            offset: offset
        )
    }

    /// Names what the bytes begin with instead, so that a saved web page is known at once.
    static func notAPropertyList(_ bytes: some Collection<UInt8>) -> PropertyListError {
        guard !bytes.isEmpty else {
            return PropertyListError(
                .notAPropertyList,
                "It is no property list: it is empty.",
                remedy: "Get the file again."
            )
        }
        var beginning = ""
        for byte in bytes.prefix(40) {
            guard byte >= 0x20, byte < 0x7F else { break }
            beginning.unicodeScalars.append(Unicode.Scalar(byte))
            if byte == UInt8(ascii: ">") { break }
        }
        if beginning.isEmpty {
            beginning = "the bytes " + bytes.prefix(8).hex
        }
        return PropertyListError(
            .notAPropertyList,
            "It is no property list: it begins with \(beginning).",
            remedy: beginning.hasPrefix("<")
                ? "It looks like a web page or another kind of XML; get the file again from where it comes."
                : "Get the file again from where it comes.",
            offset: 0
        )
    }
}
