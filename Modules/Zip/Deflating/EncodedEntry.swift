/// An entry's bytes as they go into an archive, packed, and what the headers say about them.
public struct EncodedEntry: Sendable, Hashable {
    /// A stretch of packed bytes.
    public enum Piece: Sendable, Hashable {
        /// Bytes in memory.
        case bytes([UInt8])
        /// Bytes of the archive that is being rewritten, from its start; copied as they lie.
        case original(Range<Int>)

        /// How many bytes it has.
        public var count: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .original(let range): range.count
            }
        }
    }

    /// How the bytes are packed.
    public let method: ZipEntry.Method
    /// The CRC-32 of the unpacked bytes.
    public let crc32: UInt32
    /// How many bytes it unpacks to.
    public let uncompressedSize: Int
    /// The packed bytes, in order.
    public let pieces: [Piece]

    /// How many packed bytes there are.
    public var compressedSize: Int {
        pieces.reduce(0) { $0 + $1.count }
    }

    /// Joins packed pieces; they must unpack to as many bytes as is said here, with that CRC-32.
    public init(method: ZipEntry.Method, crc32: UInt32, uncompressedSize: Int, pieces: [Piece]) {
        self.method = method
        self.crc32 = crc32
        self.uncompressedSize = uncompressedSize
        self.pieces = pieces.filter { $0.count > 0 }
    }
}
