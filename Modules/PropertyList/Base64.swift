/// Base 64 with padding, RFC 4648 §4, as `<data>` holds it.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// The bytes that the digits stand for; `nil` where the last group is not whole.
    ///
    /// Whatever is no digit is passed over, as CoreFoundation and plistlib do: hand-made profiles rely on it.
    static func decode(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3)
        var group: UInt32 = 0
        var held = 0
        var padded = 0
        let values = values
        for digit in digits {
            if digit == padding {
                padded += 1
                continue
            }
            let value = values[Int(digit)]
            if value == 0xFF { continue }
            guard padded == 0 else { return nil }
            group = group << 6 | UInt32(value)
            held += 1
            if held == 4 {
                bytes.append(UInt8(truncatingIfNeeded: group >> 16))
                bytes.append(UInt8(truncatingIfNeeded: group >> 8))
                bytes.append(UInt8(truncatingIfNeeded: group))
                group = 0
                held = 0
            }
        }
        switch (held, padded) {
        case (0, 0): break
        case (2, 2): bytes.append(UInt8(truncatingIfNeeded: group >> 4))
        case (3, 1):
            bytes.append(UInt8(truncatingIfNeeded: group >> 10))
            bytes.append(UInt8(truncatingIfNeeded: group >> 2))
        default: return nil
        }
        return bytes
    }

    /// Appends the digits of one line of data.
    static func encode(_ bytes: ArraySlice<UInt8>, into text: inout [UInt8]) {
        let alphabet = alphabet
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let left = bytes.endIndex - index
            let second = left > 1 ? bytes[index + 1] : 0
            let third = left > 2 ? bytes[index + 2] : 0
            text.append(alphabet[Int(bytes[index] >> 2)])
            text.append(alphabet[Int((bytes[index] & 0x03) << 4 | second >> 4)])
            text.append(left > 1 ? alphabet[Int((second & 0x0F) << 2 | third >> 6)] : padding)
            text.append(left > 2 ? alphabet[Int(third & 0x3F)] : padding)
            index += 3
        }
    }
}
