import CDeflate
import CZlib

/// The start of an entry, packed in pieces that may be made at the same time, to which the end is added later.
///
/// For entries where ``DeflateSplice`` finds no boundary to use.
public struct DeflatePrefix: Sendable {
    /// A piece of an entry, packed so that another one may follow.
    public struct Chunk: Sendable {
        /// Deflate blocks, none of them the last, that end with a byte.
        let packed: [UInt8]
        /// How many bytes it unpacks to.
        public let uncompressedSize: Int
        /// The CRC-32 of the unpacked bytes.
        public let crc32: UInt32
    }

    /// How many bytes a chunk should have: large enough that the lost window between two does not show in the size.
    public static let chunkBytes = 1 << 20

    private let chunks: [Chunk]
    private let level: Int

    /// Joins chunks, in order.
    ///
    /// `level` is that of the end.
    public init(chunks: [Chunk], level: Int = 6) {
        self.chunks = chunks
        self.level = level
    }

    /// Packs one piece; `level` is 1 to 12.
    public static func encodeChunk(_ bytes: UnsafeRawBufferPointer, level: Int = 6) -> Chunk {
        Chunk(packed: openEnded(bytes, level: level), uncompressedSize: bytes.count, crc32: FerryZip.crc32(of: bytes))
    }

    /// Adds the end of the entry; it may be empty.
    public func finish(tail: [UInt8]) -> EncodedEntry {
        var crc: UInt32 = 0
        var size = 0
        for chunk in chunks {
            crc = UInt32(crc32_combine(UInt(crc), UInt(chunk.crc32), chunk.uncompressedSize))
            size += chunk.uncompressedSize
        }
        let end = tail.withUnsafeBytes { Deflate.compress($0, level: level) }
        guard let end else { preconditionFailure("libdeflate needs more room than it said") }
        return EncodedEntry(
            method: .deflated,
            crc32: tail.withUnsafeBytes { FerryZip.crc32(of: $0, after: crc) },
            uncompressedSize: size + tail.count,
            pieces: chunks.map { .bytes($0.packed) } + [.bytes(end)]
        )
    }

    /// A deflate stream whose last block is not marked as the last, and that ends with a byte.
    static func openEnded(_ bytes: UnsafeRawBufferPointer, level: Int) -> [UInt8] {
        guard var packed = Deflate.compress(bytes, level: level) else {
            preconditionFailure("libdeflate needs more room than it said")
        }
        // libdeflate does not tell where its last block begins: zlib does, reading it.
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        defer { scratch.deallocate() }
        let walked = packed.withUnsafeBytes { packed in
            try? InflateStream().walk(packed, into: scratch) { _, _ in }
        }
        guard let (lastBlock, end) = walked else { preconditionFailure("zlib cannot read what libdeflate wrote") }
        packed[lastBlock >> 3] &= ~(1 << UInt8(lastBlock & 7))
        // An empty stored block: three zero bits, zeros up to the next byte, its length 0 and the complement of that.
        let free = (8 - end & 7) & 7
        if free < 3 {
            packed.append(0)
        }
        packed.append(contentsOf: [0, 0, 0xFF, 0xFF])
        return packed
    }
}
