import FerryBytes

/// The few forms of DER (X.690) that a code signature is written in.
enum DER {
    /// Tag, definite length in its shortest form, content.
    static func element(_ tag: UInt8, _ content: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = [tag]
        if content.count < 0x80 {
            bytes.append(UInt8(content.count))
        } else {
            let length = minimalBytes(UInt64(content.count))
            bytes.append(0x80 | UInt8(length.count))
            bytes += length
        }
        bytes += content
        return bytes
    }

    /// An INTEGER in two's complement with no superfluous byte (X.690 §8.3).
    static func integer(_ value: Int64) -> [UInt8] {
        var content = withUnsafeBytes(of: value.bigEndian) { Array($0) }
        while content.count > 1,
            (content[0] == 0 && content[1] < 0x80) || (content[0] == 0xFF && content[1] >= 0x80)
        {
            content.removeFirst()
        }
        return element(0x02, content)
    }

    private static func minimalBytes(_ value: UInt64) -> [UInt8] {
        let bytes = withUnsafeBytes(of: value.bigEndian) { Array($0) }
        return Array(bytes.drop { $0 == 0 })
    }

    /// Reads elements one after the other.
    struct Reader {
        private var reader: ByteReader

        init(_ bytes: ArraySlice<UInt8>) {
            reader = ByteReader(bytes)
        }

        var isAtEnd: Bool { reader.remaining == 0 }

        /// The next element's tag and content.
        mutating func next() throws -> (tag: UInt8, content: ArraySlice<UInt8>) {
            let tag = try reader.next(UInt8.self, .big)
            let first = try reader.next(UInt8.self, .big)
            guard first >= 0x80 else { return (tag, try reader.next(Int(first))) }
            let digits = try reader.next(Int(first & 0x7F))
            guard digits.count <= 4, let lead = digits.first, lead != 0 else {
                throw CodeSignatureError(.malformed, "a DER length is written in \(digits.count) bytes.")
            }
            return (tag, try reader.next(digits.reduce(0) { $0 << 8 | Int($1) }))
        }
    }
}
