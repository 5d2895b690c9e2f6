/// Writes a property list as CoreFoundation does, byte for byte where its form has one.
struct XMLWriter {
    private static let head = Array(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """.utf8
    )
    /// CoreFoundation's columns a line of data, with eight taken off for each tab, but for eight tabs at the most.
    private static let dataColumns = 76
    private static let tabColumns = 8
    private static let mostDataTabs = 8

    private var text: [UInt8] = []

    mutating func document(_ root: PropertyList) -> [UInt8] {
        text = Self.head
        write(root, depth: 0)
        add("</plist>\n")
        return text
    }

    private mutating func write(_ value: PropertyList, depth: Int) {
        indent(depth)
        switch value {
        case .string(let string): element("string", string)
        case .integer(let number): element("integer", String(number))
        case .unsigned(let number): element("integer", String(number))
        case .real(let number): element("real", Self.text(of: number))
        case .boolean(let isTrue): add(isTrue ? "<true/>\n" : "<false/>\n")
        case .date(let date): element("date", date.text)
        case .data(let bytes):
            add("<data>\n")
            lines(of: bytes, depth: min(depth, Self.mostDataTabs))
            indent(depth)
            add("</data>\n")
        case .array(let elements):
            guard !elements.isEmpty else { return add("<array/>\n") }
            add("<array>\n")
            for element in elements { write(element, depth: depth + 1) }
            indent(depth)
            add("</array>\n")
        case .dictionary(let dictionary):
            guard !dictionary.isEmpty else { return add("<dict/>\n") }
            add("<dict>\n")
            for (key, value) in dictionary {
                indent(depth + 1)
                element("key", key)
                write(value, depth: depth + 1)
            }
            indent(depth)
            add("</dict>\n")
        case .uid(let number):
            add("<dict>\n")
            indent(depth + 1)
            element("key", PropertyList.uidKey)
            indent(depth + 1)
            element("integer", String(number))
            indent(depth)
            add("</dict>\n")
        }
    }

    private mutating func lines(of bytes: [UInt8], depth: Int) {
        let step = (Self.dataColumns - Self.tabColumns * depth) / 4 * 3
        for start in stride(from: 0, to: bytes.count, by: step) {
            indent(depth)
            Base64.encode(bytes[start..<min(start + step, bytes.count)], into: &text)
            text.append(UInt8(ascii: "\n"))
        }
    }

    private mutating func element(_ name: String, _ content: String) {
        add("<\(name)>")
        for byte in content.utf8 {
            switch byte {
            case UInt8(ascii: "&"): add("&amp;")
            case UInt8(ascii: "<"): add("&lt;")
            case UInt8(ascii: ">"): add("&gt;")
            // Other readers than Apple's make a line feed of a bare carriage return.
            case UInt8(ascii: "\r"): add("&#13;")
            default: text.append(byte)
            }
        }
        add("</\(name)>\n")
    }

    private mutating func indent(_ depth: Int) {
        text.append(contentsOf: repeatElement(UInt8(ascii: "\t"), count: depth))
    }

    private mutating func add(_ string: String) {
        text.append(contentsOf: string.utf8)
    }

    /// The shortest digits that read back as the same number, with CoreFoundation's words for what has none.
    private static func text(of number: Double) -> String {
        if number.isNaN { return "nan" }
        if number.isInfinite { return number < 0 ? "-infinity" : "+infinity" }
        return number.description
    }
}

extension PropertyList {
    /// The key under which XML holds a ``uid(_:)``.
    static let uidKey = "CF$UID"
}
