import CDeflate

/// Packing whole entries in memory, with libdeflate.
public enum Deflate {
    /// Packs bytes; stores them where deflate does not make them fewer.
    ///
    /// `level` is 1 (fast) to 12 (small); 0 stores.
    public static func encode(_ bytes: UnsafeRawBufferPointer, level: Int = 6) -> EncodedEntry {
        let crc = crc32(of: bytes)
        if level > 0, let packed = compress(bytes, level: level, room: bytes.count - 1) {
            return EncodedEntry(
                method: .deflated,
                crc32: crc,
                uncompressedSize: bytes.count,
                pieces: [.bytes(packed)]
            )
        }
        return EncodedEntry(
            method: .stored,
            crc32: crc,
            uncompressedSize: bytes.count,
            pieces: [.bytes([UInt8](bytes))]
        )
    }

    /// Packs bytes; stores them where deflate does not make them fewer.
    public static func encode(_ bytes: [UInt8], level: Int = 6) -> EncodedEntry {
        bytes.withUnsafeBytes { encode($0, level: level) }
    }

    /// A raw deflate stream of at most `room` bytes (by default as many as it takes); `nil` where these do not suffice.
    static func compress(_ bytes: UnsafeRawBufferPointer, level: Int, room: Int? = nil) -> [UInt8]? {
        if let room, room <= 0 { return nil }
        guard let compressor = libdeflate_alloc_compressor(Int32(min(max(level, 1), 12))) else {
            preconditionFailure("libdeflate has no memory for a compressor")
        }
        defer { libdeflate_free_compressor(compressor) }
        let room = room ?? libdeflate_deflate_compress_bound(compressor, bytes.count)
        // An empty buffer has no address, but libdeflate's arguments must not be null.
        var nowhere: UInt8 = 0
        let packed = [UInt8](unsafeUninitializedCapacity: room) { buffer, initialized in
            initialized = withUnsafeBytes(of: &nowhere) { nowhere in
                libdeflate_deflate_compress(
                    compressor,
                    bytes.baseAddress ?? nowhere.baseAddress,
                    bytes.count,
                    buffer.baseAddress,
                    room
                )
            }
        }
        return packed.isEmpty ? nil : packed
    }
}
