import CZlib
public import FerryBytes

/// An entry that is unpacked as its bytes arrive, without anybody knowing how many there will be.
public final class EntryStream {
    private let stream = InflateStream()
    private let buffer = ReusedMemory()
    /// How many packed bytes were taken.
    public private(set) var compressedSize = 0
    /// How many bytes they gave.
    public private(set) var uncompressedSize = 0
    /// The CRC-32 of those.
    public private(set) var crc32: UInt32 = 0

    private static let pieceBytes = 256 << 10

    /// Nothing has arrived.
    public init() {}

    /// Takes what has arrived; `true` when the deflate stream has ended.
    ///
    /// - Parameter dataOffset: where the entry's data begin in `source`.
    /// - Parameter front: how many bytes of `source` are there.
    /// - Parameter chunk: gets what comes out.
    public func advance(
        from dataOffset: Int,
        in source: some ByteSource,
        front: Int,
        chunk: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        while dataOffset + compressedSize < front {
            let count = min(Self.pieceBytes, front - dataOffset - compressedSize)
            let piece = try source.bytes(at: dataOffset + compressedSize, count: count)
            let rest = try piece.withUnsafeBytes { input in
                try stream.inflateUpToEnd(input, through: buffer.bytes(Self.pieceBytes)) { bytes in
                    uncompressedSize += bytes.count
                    crc32 = FerryZip.crc32(of: bytes, after: crc32)
                    guard uncompressedSize <= ZipLimits.standard.totalBytes else { throw InflateStream.Fault.goesOn }
                    try chunk(bytes)
                }
            }
            compressedSize += count - (rest ?? 0)
            if rest != nil { return true }
        }
        return false
    }
}

extension InflateStream {
    /// Unpacks what `input` holds; gives how many bytes follow the stream's end, `nil` where it has none.
    fileprivate func inflateUpToEnd(
        _ input: UnsafeRawBufferPointer,
        through buffer: UnsafeMutableRawBufferPointer,
        chunk: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int? {
        do {
            return try inflatePart(input, through: buffer, chunk: chunk) ? 0 : nil
        } catch Fault.goesOn where stream.pointee.avail_in > 0 {
            return Int(stream.pointee.avail_in)
        }
    }
}
