extension Array where Element == UInt8 {
    /// Appends an integer's bytes in the given order.
    @inlinable
    public mutating func append<Value: FixedWidthInteger>(_ value: Value, _ order: ByteOrder) {
        Swift.withUnsafeBytes(of: order == .little ? value.littleEndian : value.bigEndian) { append(contentsOf: $0) }
    }

    /// Writes an integer's bytes over those at `offset`; the place must exist, for it is ours.
    @inlinable
    public mutating func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int, _ order: ByteOrder) {
        Swift.withUnsafeBytes(of: order == .little ? value.littleEndian : value.bigEndian) { source in
            for (index, byte) in source.enumerated() {
                self[offset + index] = byte
            }
        }
    }

    /// Appends zeros until the count is a multiple of `alignment`.
    @inlinable
    public mutating func pad(to alignment: Int) {
        let excess = count % alignment
        if excess != 0 {
            append(contentsOf: repeatElement(0, count: alignment - excess))
        }
    }
}

extension Sequence where Element == UInt8 {
    /// Two lower-case hexadecimal digits a byte, with nothing between.
    public var hex: String {
        var text = ""
        for byte in self {
            let digits = String(byte, radix: 16)
            text += digits.count == 1 ? "0" + digits : digits
        }
        return text
    }
}

extension Array where Element == UInt8 {
    /// The bytes that hexadecimal digits of either case stand for; `nil` for anything else or an odd count.
    public init?(hex text: String) {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.nibble(digits[index]), let low = Self.nibble(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        self = bytes
    }

    private static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// `value` rounded up to a multiple of `alignment`; `nil` where that does not fit in an `Int`.
public func roundedUp(_ value: Int, to alignment: Int) -> Int? {
    let excess = value % alignment
    guard excess != 0 else { return value }
    let (sum, overflow) = value.addingReportingOverflow(alignment - excess)
    return overflow ? nil : sum
}
