/// Base64 (RFC 4648 §4).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The text for `bytes`, with padding.
    static func encode(_ bytes: [UInt8]) -> String {
        let digits = digits(bytes, alphabet)
        return String(decoding: digits, as: UTF8.self) + String(repeating: "=", count: (4 - digits.count % 4) % 4)
    }

    fileprivate static func digits(_ bytes: [UInt8], _ alphabet: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var word: UInt32 = 0
            for (index, byte) in group.enumerated() { word |= UInt32(byte) << UInt32(16 - 8 * index) }
            for index in 0...group.count { text.append(alphabet[Int(word >> UInt32(18 - 6 * index)) & 63]) }
        }
        return text
    }
}

/// Base64 with the alphabet for URLs and without padding (RFC 4648 §5).
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The text for `bytes`.
    static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.digits(bytes, alphabet), as: UTF8.self)
    }
}
