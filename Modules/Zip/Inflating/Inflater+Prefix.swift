public import FerryBytes

extension Inflater {
    /// The first `count` unpacked bytes of an entry, or all where it has fewer.
    ///
    /// Only that much is read and unpacked, so neither CRC nor size is checked: this is for a look at what an entry is.
    public func prefix(of entry: ZipEntry, count: Int, in source: some ByteSource) throws(ZipError) -> [UInt8] {
        let wanted = min(count, entry.uncompressedSize)
        guard wanted > 0 else { return [] }
        do {
            if entry.method == .stored {
                return try source.bytes(at: entry.dataOffset, count: min(wanted, entry.compressedSize))
            }
            return try beginning(of: entry, count: wanted, in: source)
        } catch {
            throw .reading(error, entry: entry.name)
        }
    }

    private func beginning(of entry: ZipEntry, count: Int, in source: some ByteSource) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(count, Self.prefixPieceBytes))
        let output = UnsafeMutableRawBufferPointer.allocate(
            byteCount: min(max(count, 64), Self.prefixPieceBytes),
            alignment: 16
        )
        defer { output.deallocate() }
        stream.reset()
        var done = 0
        // A deflate block's tables take up to 300 bytes before the first byte comes out.
        var step = min(entry.compressedSize, count + 1024, Self.prefixPieceBytes)
        while bytes.count < count, done < entry.compressedSize {
            let piece = try source.bytes(at: entry.dataOffset + done, count: min(step, entry.compressedSize - done))
            done += piece.count
            do {
                let ended = try piece.withUnsafeBytes { input in
                    try stream.inflatePart(input, through: output) { chunk in
                        bytes.append(contentsOf: chunk.prefix(count - bytes.count))
                        if bytes.count >= count { throw Enough() }
                    }
                }
                if ended { break }
            } catch is Enough {
                break
            } catch is InflateStream.Fault {
                throw ZipError(.malformed, entry: entry.name, "The packed bytes are damaged near their start.")
            }
            step = 64 << 10
        }
        return bytes
    }

    /// What is made room for at a time, whatever size is asked for or claimed.
    private static let prefixPieceBytes = 256 << 10

    private struct Enough: Error {}
}
