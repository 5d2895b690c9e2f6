import FerryBytes
import FerryZip

/// What one worker reads files with. A file of code is unpacked to the unpacker's own memory, and stays until the next one.
final class CodeReader {
    let inflater = Inflater()
    /// How many unpacked bytes of the last file there are.
    private(set) var count = 0
    private var packedCount = 0

    /// What may be written behind an unpacked file: room for a seam, or up to the next multiple of 16.
    private static let room = Inflater.seamRoom

    /// The unpacked bytes of the last file, then 16 more.
    var content: UnsafeMutableRawBufferPointer {
        inflater.unpackedMemory.bytes(count + Self.room)
    }

    /// Reads and unpacks an entry, with the places of the blocks that a splice at `cut` needs.
    func read(_ entry: ZipEntry, in source: FileSource, cut: Int) throws -> [BlockBoundary] {
        packedCount = entry.compressedSize
        count = entry.uncompressedSize
        let input = inflater.packedMemory.bytes(packedCount)
        do {
            try source.read(at: entry.dataOffset, into: input)
        } catch {
            throw ZipError.reading(error, entry: entry.name)
        }
        return try inflater.inflateKeepingSeams(entry, compressed: input, into: content, cut: cut)
    }

    /// The first block of the last file that refers to nothing before `offset`.
    func block(free offset: Int) -> BlockBoundary? {
        inflater.block(of: UnsafeRawBufferPointer(inflater.packedMemory.bytes(packedCount)), free: offset)
    }

    /// Takes bytes in place of an entry's.
    func take(_ bytes: [UInt8]) {
        count = bytes.count
        content.copyBytes(from: bytes)
    }
}
