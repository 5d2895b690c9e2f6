/// Looks for the place of a deflate block near the end of a stream, without unpacking what comes before.
///
/// A stream does not say where its blocks begin. But a block with codes of its own (RFC 1951 §3.2.7) has a header that few
/// other bits look like, and a wrong guess does not unpack to the stream's end. What is found is a guess all the same,
/// which ``Inflater`` proves.
struct BlockSearch {
    private let compressed: UnsafeRawBufferPointer
    private let stream: InflateStream
    private let scratch: UnsafeMutableRawBufferPointer
    /// How many bytes may still be unpacked for guesses: hostile bits may look like many blocks.
    private var budget: Int

    /// Where a block may begin, from the packed stream's start and from the unpacked end.
    struct Found {
        let compressedBit: Int
        let bytesToEnd: Int
    }

    /// More than the packed length of nearly every block, and of every block that any packer makes.
    private static let lookBackBytes = [64 << 10, 512 << 10]

    /// - Parameter scratch: memory to unpack to, of at least 64 KiB.
    init(in compressed: UnsafeRawBufferPointer, _ stream: InflateStream, _ scratch: UnsafeMutableRawBufferPointer) {
        self.compressed = compressed
        self.stream = stream
        self.scratch = scratch
        budget = 0
    }

    /// The last block that begins at least `count` bytes before the unpacked end.
    mutating func block(before count: Int) -> Found? {
        for lookBack in Self.lookBackBytes {
            budget = 8 * count + (16 << 20)
            // What does not shrink takes 5 bytes more for each 16 KiB at most.
            let packed = count + count >> 11 + lookBack
            let start = max(0, compressed.count - packed) * 8
            // Blocks of the end that follow the cut are of no use, but then there may be others before them.
            if let found = walkFirst(from: start)?.last(where: { $0.bytesToEnd >= count }) { return found }
            if start == 0 { break }
        }
        return nil
    }

    /// The blocks from the first one on that is found.
    private mutating func walkFirst(from start: Int) -> [Found]? {
        var start = start
        while let bit = nextHeader(from: start), budget > 0 {
            if let blocks = walk(from: bit) { return blocks }
            start = bit + 1
        }
        return nil
    }

    /// The blocks from a guess on; `nil` where it does not lead to the stream's end.
    private mutating func walk(from bit: Int) -> [Found]? {
        var starts: [(bit: Int, offset: Int)] = []
        guard
            let total = stream.walkBlind(
                compressed,
                from: bit,
                through: scratch,
                limit: &budget,
                boundary: { starts.append(($1, $0)) }
            )
        else { return nil }
        return starts.map { Found(compressedBit: $0.bit, bytesToEnd: total - $0.offset) }
    }

    /// The next place where a header of a block with codes of its own may lie, that is not the last block's.
    private func nextHeader(from start: Int) -> Int? {
        var byte = start >> 3
        var first = start & 7
        // A header takes up to 74 bits before its lengths; words are read at once.
        while byte + 24 <= compressed.count {
            let word = compressed.loadUnaligned(fromByteOffset: byte, as: UInt64.self).littleEndian
            // BFINAL 0, BTYPE 10: a bit for each place where the three stand.
            var places = ~word & ~(word >> 1) & (word >> 2) & (0xFFFF_FFFF << UInt64(first)) & 0xFFFF_FFFF
            while places != 0 {
                let bit = byte * 8 + places.trailingZeroBitCount
                if looksLikeHeader(at: bit) { return bit }
                places &= places - 1
            }
            byte += 4
            first = 0
        }
        return nil
    }

    private func looksLikeHeader(at bit: Int) -> Bool {
        let word = compressed.loadUnaligned(fromByteOffset: bit >> 3, as: UInt64.self).littleEndian >> UInt64(bit & 7)
        // HLIT and HDIST at most 29.
        guard (word >> 3) & 31 <= 29, (word >> 8) & 31 <= 29 else { return false }
        let count = Int((word >> 13) & 15) + 4
        // The code lengths' code must be complete: the sum over all of 2^-length is 1.
        let start = bit + 17
        var lengths = compressed.loadUnaligned(fromByteOffset: start >> 3, as: UInt64.self).littleEndian
        lengths >>= UInt64(start & 7)
        var sum = 0
        for _ in 0..<count {
            let length = Int(lengths & 7)
            sum += length == 0 ? 0 : 128 >> length
            lengths >>= 3
        }
        return sum == 128
    }
}
