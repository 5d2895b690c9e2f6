/// Bits at the end of a deflate stream, to which blocks that hold nothing are added until the next block may begin at a
/// given place within a byte.
///
/// Deflate blocks follow each other without regard for bytes. A stretch of an old stream can be copied as bytes only if
/// what is put before it ends at the same bit of a byte as what stood there; two kinds of empty blocks reach every bit.
struct BitSeam {
    /// Whole bytes, then one more that holds the bits below ``phase``, unless that is zero.
    private(set) var bytes: [UInt8]
    /// How many bits of the last byte are used; zero for a whole one.
    private(set) var phase = 0

    /// Starts behind whole bytes.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Adds empty blocks until `wanted` bits of the last byte are used.
    ///
    /// A fixed block takes 10 bits, which moves the phase by 2; a dynamic one of 91 bits moves it by 3.
    mutating func advance(to wanted: Int) {
        if (wanted - phase) & 1 == 1 {
            appendEmptyDynamicBlock()
        }
        while phase != wanted {
            // BFINAL 0, BTYPE 01, then the end of the block: seven zeros.
            append(0b010, bits: 3)
            append(0, bits: 7)
        }
    }

    /// Adds the bits of `byte` from ``phase`` up, which completes the last byte.
    mutating func complete(with byte: UInt8) {
        guard phase > 0 else { return }
        bytes[bytes.count - 1] |= byte & (0xFF << UInt8(phase))
        phase = 0
    }

    /// A dynamic block whose codes are as few as the format allows (RFC 1951 §3.2.7): literals 0 and 256, and one
    /// distance, one bit each.
    private mutating func appendEmptyDynamicBlock() {
        append(0b100, bits: 3)  // BFINAL 0, BTYPE 10
        append(0, bits: 5)  // HLIT: 257 literal codes
        append(0, bits: 5)  // HDIST: 1 distance code
        append(14, bits: 4)  // HCLEN: 18 lengths follow, in the order 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1
        for place in 0..<18 {
            append(place == 2 || place == 17 ? 1 : 0, bits: 3)  // "repeat zero" is then 1, "length 1" is 0
        }
        append(0, bits: 1)  // literal 0: length 1
        append(1 | 127 << 1, bits: 8)  // 138 times zero
        append(1 | 106 << 1, bits: 8)  // 117 times zero: up to literal 255
        append(0, bits: 1)  // literal 256: length 1
        append(0, bits: 1)  // distance 0: length 1
        append(1, bits: 1)  // the end of the block
    }

    /// Adds the lowest `count` bits of `value`, the lowest first.
    private mutating func append(_ value: Int, bits count: Int) {
        for bit in 0..<count {
            if phase == 0 {
                bytes.append(0)
            }
            bytes[bytes.count - 1] |= UInt8(value >> bit & 1) << UInt8(phase)
            phase = (phase + 1) & 7
        }
    }
}
