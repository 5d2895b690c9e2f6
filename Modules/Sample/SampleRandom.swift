/// Numbers that come out the same for the same seed (SplitMix64), and content made of them.
struct SampleRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// A seed of its own for each thing with a name (FNV-1a).
    init(seed: UInt64, name: String) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        state = seed ^ hash
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// `count` bytes without a pattern.
    mutating func noise(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            withUnsafeBytes(of: next().littleEndian) { bytes.append(contentsOf: $0) }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// `count` bytes that deflate to a little more than a third, as code does: passages that come back, between noise.
    mutating func content(_ count: Int) -> [UInt8] {
        let passages = noise(4096)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 64)
        while bytes.count < count {
            let choice = next()
            if choice & 3 == 0 {
                withUnsafeBytes(of: next().littleEndian) { bytes.append(contentsOf: $0) }
            } else {
                let start = Int(choice >> 8 & 0xFFF)
                bytes.append(contentsOf: passages[start..<min(start + 8 + Int(choice >> 32 & 15), passages.count)])
            }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// A version 4 UUID's bytes (RFC 9562 §5.4).
    mutating func uuid() -> [UInt8] {
        var bytes = noise(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes
    }
}
