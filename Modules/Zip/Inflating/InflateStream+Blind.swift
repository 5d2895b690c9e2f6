import CZlib

extension InflateStream {
    /// What stands for the bytes before a guessed block.
    private static let blank = [UInt8](repeating: 0, count: 32 << 10)

    /// Unpacks from the middle of a stream to its end, where nobody knows what came before: lengths come out right, the
    /// bytes do not. Tells where each block but the last begins, the first one too.
    ///
    /// - Parameter bit: where a block may begin, from the start of `compressed`.
    /// - Parameter scratch: where to unpack to, again and again.
    /// - Parameter limit: how many bytes may be unpacked; less by those that were.
    /// - Returns: how many bytes it unpacks to; `nil` where that is not the beginning of a block, or too much.
    func walkBlind(
        _ compressed: UnsafeRawBufferPointer,
        from bit: Int,
        through scratch: UnsafeMutableRawBufferPointer,
        limit: inout Int,
        boundary: (_ offset: Int, _ compressedBit: Int) -> Void
    ) -> Int? {
        reset()
        var start = bit >> 3
        guard start < compressed.count, compressed.count - start <= Self.partBytes else { return nil }
        if bit & 7 > 0 {
            prime(bits: 8 - bit & 7, compressed[start] >> UInt8(bit & 7))
            start += 1
        }
        let input = compressed.bindMemory(to: UInt8.self).dropFirst(start)
        stream.pointee.next_in = UnsafeMutablePointer(mutating: UnsafeBufferPointer(rebasing: input).baseAddress)
        stream.pointee.avail_in = UInt32(input.count)
        boundary(0, bit)
        limit -= 64
        var total = 0
        // Most guesses end here. What stands for the bytes before costs more than that.
        stream.pointee.next_out = scratch.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = 1
        guard inflate(stream, Z_TREES) == Z_OK, stream.pointee.avail_out == 1 else { return nil }
        set(Self.blank)
        while true {
            stream.pointee.next_out = scratch.bindMemory(to: UInt8.self).baseAddress
            stream.pointee.avail_out = UInt32(min(scratch.count, Self.partBytes))
            let room = Int(stream.pointee.avail_out)
            let result = inflate(stream, Z_BLOCK)
            let made = room - Int(stream.pointee.avail_out)
            total += made
            limit -= made + 64
            let state = stream.pointee.data_type
            if result == Z_STREAM_END { return stream.pointee.avail_in == 0 ? total : nil }
            guard result == Z_OK, limit > 0, stream.pointee.avail_in > 0 || made > 0 || state & 63 > 0 else {
                return nil
            }
            if state & 128 != 0, state & 64 == 0 {
                boundary(total, (start + Int(stream.pointee.total_in)) * 8 - Int(state & 63))
            }
        }
    }
}
