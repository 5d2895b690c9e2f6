import CZlib

/// A raw deflate stream being unpacked by zlib, in pieces and with a look at its blocks.
///
/// Slower than ``Inflater``'s libdeflate, which wants whole entries in memory and tells nothing of blocks.
final class InflateStream {
    /// What can be wrong with a stream.
    enum Fault: Error {
        case corrupt
        case endsEarly
        case goesOn
    }

    // zlib keeps the stream's address, so it must not move.
    let stream: UnsafeMutablePointer<z_stream>
    /// zlib counts in 32 bits: what is longer goes in by parts.
    static let partBytes = 1 << 30

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard ferry_inflateInit2(stream, -15) == Z_OK else {
            preconditionFailure("zlib has no memory for a window of 32 KiB")
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Begins a new stream.
    func reset() {
        inflateReset(stream)
    }

    /// Unpacks a whole stream into exactly `output`, and tells where each block begins, the first one too.
    ///
    /// Returns the place of the last block's header and of the stream's end, in bits.
    @discardableResult
    func walk(
        _ compressed: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        boundary: (_ uncompressedOffset: Int, _ compressedBit: Int) -> Void
    ) throws(Fault) -> (lastBlock: Int, end: Int) {
        reset()
        return try walkOn(compressed, into: output, boundary: boundary)
    }

    /// Puts bits before the input, the lowest of them first.
    func prime(bits count: Int, _ value: UInt8) {
        inflatePrime(stream, Int32(count), Int32(value))
    }

    /// Gives what came before, at most 32 KiB of it.
    func set(_ dictionary: [UInt8]) {
        guard !dictionary.isEmpty else { return }
        inflateSetDictionary(stream, dictionary, UInt32(dictionary.count))
    }

    /// The same as ``walk(_:into:boundary:)``, from where the stream is.
    @discardableResult
    func walkOn(
        _ compressed: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        boundary: (_ uncompressedOffset: Int, _ compressedBit: Int) -> Void = { _, _ in }
    ) throws(Fault) -> (lastBlock: Int, end: Int) {
        var input = compressed.bindMemory(to: UInt8.self)[...]
        var room = output.bindMemory(to: UInt8.self)[...]
        // zlib wants a place to write to even where nothing is written.
        var nowhere: UInt8 = 0
        return try withUnsafeMutablePointer(to: &nowhere) { nowhere throws(Fault) in
            stream.pointee.next_out = nowhere
            stream.pointee.avail_in = 0
            stream.pointee.avail_out = 0
            var last = 0
            var end = 0
            boundary(0, 0)
            while true {
                if stream.pointee.avail_in == 0, !input.isEmpty {
                    let part = input.prefix(Self.partBytes)
                    stream.pointee.next_in = UnsafeMutablePointer(
                        mutating: UnsafeBufferPointer(rebasing: part).baseAddress
                    )
                    stream.pointee.avail_in = UInt32(part.count)
                    input = input.dropFirst(part.count)
                }
                if stream.pointee.avail_out == 0, !room.isEmpty {
                    let part = room.prefix(Self.partBytes)
                    stream.pointee.next_out = UnsafeMutableBufferPointer(rebasing: part).baseAddress
                    stream.pointee.avail_out = UInt32(part.count)
                    room = room.dropFirst(part.count)
                }
                let result = inflate(stream, Z_BLOCK)
                // data_type: the unused bits of the last byte read, + 64 in the last block, + 128 between blocks.
                let state = stream.pointee.data_type
                let bit = Int(stream.pointee.total_in) * 8 - Int(state & 63)
                if state & 128 != 0, state & 64 == 0 {
                    boundary(Int(stream.pointee.total_out), bit)
                    last = bit
                } else if state & 128 != 0, result == Z_OK {
                    end = bit
                }
                switch result {
                case Z_OK: continue
                case Z_STREAM_END:
                    guard stream.pointee.avail_in == 0, input.isEmpty else { throw .goesOn }
                    guard stream.pointee.avail_out == 0, room.isEmpty else { throw .endsEarly }
                    return (last, end)
                case Z_BUF_ERROR:
                    throw stream.pointee.avail_in == 0 && input.isEmpty ? .endsEarly : .goesOn
                default:
                    throw .corrupt
                }
            }
        }
    }

    /// Unpacks what `input` holds, calling `chunk` whenever `buffer` is full or the input used up.
    ///
    /// Returns whether the stream ended; bytes behind its end are a fault.
    func inflatePart(
        _ input: UnsafeRawBufferPointer,
        through buffer: UnsafeMutableRawBufferPointer,
        chunk: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        precondition(input.count <= Self.partBytes && buffer.count <= Self.partBytes)
        let bytes = input.bindMemory(to: UInt8.self)
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
        stream.pointee.avail_in = UInt32(bytes.count)
        repeat {
            stream.pointee.next_out = buffer.bindMemory(to: UInt8.self).baseAddress
            stream.pointee.avail_out = UInt32(buffer.count)
            let result = inflate(stream, Z_NO_FLUSH)
            guard result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR else { throw Fault.corrupt }
            let made = buffer.count - Int(stream.pointee.avail_out)
            if made > 0 {
                try chunk(UnsafeRawBufferPointer(rebasing: buffer[..<made]))
            }
            if result == Z_STREAM_END {
                guard stream.pointee.avail_in == 0 else { throw Fault.goesOn }
                return true
            }
        } while stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0
        return false
    }
}
