import CZlib
public import FerryBytes

/// A place in a packed entry from which the rest can be unpacked alone, with what is known of all before it.
public struct EntrySeam: Sendable, Hashable {
    /// Where it is.
    let boundary: BlockBoundary
    /// The bytes before it that deflate may refer back to, at most 32 KiB.
    let dictionary: [UInt8]
    /// The CRC-32 of all unpacked bytes before it.
    let crc32: UInt32

    /// The unpacked bytes right before it, at most 32 KiB.
    public var before: [UInt8] { dictionary }
    /// How many unpacked bytes come before it.
    public var uncompressedOffset: Int { boundary.uncompressedOffset }
    /// Which packed byte it lies in, or before.
    public var packedOffset: Int { boundary.compressedBit >> 3 }
}

extension Inflater {
    /// Unpacks what follows a seam, and accepts nothing whose size or CRC-32, together with what is known of all before it,
    /// is not what the directory says.
    public func end(of entry: ZipEntry, after seam: EntrySeam, in source: some ByteSource) throws(ZipError) -> [UInt8] {
        let boundary = seam.boundary
        let start = seam.packedOffset
        guard entry.method == .deflated, start <= entry.compressedSize,
            boundary.uncompressedOffset <= entry.uncompressedSize
        else {
            throw ZipError(.sizeMismatch, entry: entry.name, "The entry ends before the place where it was spliced.")
        }
        let count = entry.uncompressedSize - boundary.uncompressedOffset
        do {
            let packed = try source.bytes(at: entry.dataOffset + start, count: entry.compressedSize - start)
            let bytes = try packed.withUnsafeBytes { packed in
                try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                    try stream.unpack(
                        packed,
                        phase: boundary.phase,
                        dictionary: seam.dictionary,
                        into: UnsafeMutableRawBufferPointer(buffer)
                    )
                    initialized = count
                }
            }
            try checkCRC(entry, bytes.withUnsafeBytes { FerryZip.crc32(of: $0, after: seam.crc32) })
            return bytes
        } catch let fault as InflateStream.Fault {
            throw sizeFault(entry, fault)
        } catch {
            throw .reading(error, entry: entry.name)
        }
    }
}

extension InflateStream {
    /// Unpacks the rest of a stream into exactly `output`.
    ///
    /// - Parameter phase: how many bits of the first byte belong to what came before.
    /// - Parameter dictionary: what the stream may refer back to.
    func unpack(
        _ packed: UnsafeRawBufferPointer,
        phase: Int,
        dictionary: [UInt8],
        into output: UnsafeMutableRawBufferPointer
    ) throws(Fault) {
        reset()
        var packed = packed
        if phase > 0 {
            guard let first = packed.first else { throw .endsEarly }
            prime(bits: 8 - phase, first >> UInt8(phase))
            packed = UnsafeRawBufferPointer(rebasing: packed.dropFirst())
        }
        set(dictionary)
        try walkOn(packed, into: output)
    }
}
