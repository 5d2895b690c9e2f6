/// A place where one deflate block ends and the next begins.
public struct BlockBoundary: Sendable, Hashable {
    /// How many unpacked bytes come before it.
    public let uncompressedOffset: Int
    /// How many bits of the packed stream come before it; a byte's lowest bit is its first.
    public let compressedBit: Int
    /// The packed byte that the boundary falls into: the bits below ``phase`` belong to the block before.
    ///
    /// Zero where the boundary lies between two bytes.
    public let sharedByte: UInt8

    /// How many bits of ``sharedByte`` belong to the block before.
    public var phase: Int { compressedBit & 7 }
}
