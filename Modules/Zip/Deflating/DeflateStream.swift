import CZlib

/// A raw deflate stream being packed by zlib: it can begin in the middle of a byte, and with a window that is not empty.
final class DeflateStream {
    // zlib keeps the stream's address, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    /// zlib counts in 32 bits: what is longer goes in by parts.
    private static let partBytes = 1 << 30

    /// `phase` bits of `sharedByte` come first; `dictionary` are the last bytes, at most 32 KiB, that the reader has.
    init(level: Int, sharedByte: UInt8, phase: Int, dictionary: [UInt8]) throws(ZipError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard ferry_deflateInit2(stream, Int32(min(max(level, 0), 9)), -15, 9) == Z_OK else {
            // `deinit` does not run for an object that was never whole.
            stream.deallocate()
            throw ZipError(.limit, "There is not enough memory left to pack an entry.")
        }
        if phase > 0 {
            deflatePrime(stream, Int32(phase), Int32(sharedByte & (1 << UInt8(phase) - 1)))
        }
        if !dictionary.isEmpty {
            deflateSetDictionary(stream, dictionary, UInt32(dictionary.count))
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Packs the parts one behind the other and ends the stream.
    ///
    /// - Parameter plain: whether the last part is one in which little repeats but zeros, as in a signature: a search for
    ///   more would cost time and find nothing.
    func finish(_ parts: [[UInt8]], lastIsPlain plain: Bool = false) -> [UInt8] {
        let total = parts.reduce(0) { $0 + $1.count }
        // Enough nearly always; the loop below makes more room otherwise.
        var output = [UInt8](repeating: 0, count: total + total >> 8 + 512)
        var written = 0
        for (index, part) in parts.enumerated() {
            if plain, index == parts.count - 1, index > 0 {
                // What came before is packed first, by the old means.
                written += changing(into: &output, from: written)
            }
            part.withUnsafeBytes { bytes in
                var rest = bytes.bindMemory(to: UInt8.self)[...]
                repeat {
                    let piece = UnsafeBufferPointer(rebasing: rest.prefix(Self.partBytes))
                    rest = rest.dropFirst(piece.count)
                    let last = index == parts.count - 1 && rest.isEmpty
                    deflateAll(piece, last: last, into: &output, from: &written)
                } while !rest.isEmpty
            }
        }
        output.removeLast(output.count - written)
        return output
    }

    /// Goes on by looking for runs alone; gives how many bytes that wrote.
    private func changing(into output: inout [UInt8], from start: Int) -> Int {
        output.withUnsafeMutableBufferPointer { buffer in
            let room = min(buffer.count - start, Self.partBytes)
            stream.pointee.next_out = buffer.baseAddress.map { $0 + start }
            stream.pointee.avail_out = UInt32(room)
            // Where there is no room for what waits, all goes on as it was.
            _ = deflateParams(stream, 1, Z_RLE)
            return room - Int(stream.pointee.avail_out)
        }
    }

    private func deflateAll(
        _ input: UnsafeBufferPointer<UInt8>,
        last: Bool,
        into output: inout [UInt8],
        from written: inout Int
    ) {
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        stream.pointee.avail_in = UInt32(input.count)
        while true {
            if output.count == written {
                output.append(contentsOf: repeatElement(0, count: max(4096, output.count / 2)))
            }
            let start = written
            let (result, made) = output.withUnsafeMutableBufferPointer { buffer in
                let room = min(buffer.count - start, Self.partBytes)
                stream.pointee.next_out = buffer.baseAddress.map { $0 + start }
                stream.pointee.avail_out = UInt32(room)
                let result = deflate(stream, last ? Z_FINISH : Z_NO_FLUSH)
                return (result, room - Int(stream.pointee.avail_out))
            }
            written += made
            if last ? result == Z_STREAM_END : stream.pointee.avail_in == 0 && stream.pointee.avail_out > 0 { return }
            guard result == Z_OK || result == Z_BUF_ERROR else {
                preconditionFailure("zlib's deflate answered \(result) to good arguments")
            }
        }
    }
}
