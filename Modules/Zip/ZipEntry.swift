/// One file, folder or symbolic link of an archive, as both of its headers describe it.
public struct ZipEntry: Sendable, Hashable {
    /// How an entry's bytes are packed.
    public enum Method: UInt16, Sendable, Hashable {
        /// As they are.
        case stored = 0
        /// With deflate (RFC 1951).
        case deflated = 8
    }

    /// The path within the archive, parts parted by `/`; a folder's ends in one.
    ///
    /// Neither trimmed nor normalised. UTF-8 where that is declared or valid, else code page 437; an archive made on
    /// Windows with `\` between the parts has `/` here.
    public let name: String
    /// Whether it is a folder.
    public let isDirectory: Bool
    /// How the bytes are packed.
    public let method: Method
    /// The CRC-32 of the unpacked bytes.
    public let crc32: UInt32
    /// How many bytes it takes in the archive, headers not counted.
    public let compressedSize: Int
    /// How many bytes it unpacks to.
    public let uncompressedSize: Int
    /// Kind and permissions of the file; `nil` where the archive was not made on Unix or macOS, or says nothing.
    public let unixMode: UInt16?
    /// When it was changed, in its maker's time zone.
    public let modified: DOSDateTime
    /// Whether the local header leaves sizes and CRC to a descriptor behind the data.
    public let hasDataDescriptor: Bool
    /// Where its local header begins.
    public let localHeaderOffset: Int
    /// Where its packed bytes begin.
    public let dataOffset: Int
    /// From the local header to the next entry's, or to the central directory.
    public let extent: Range<Int>
    /// Its place in the central directory, from 0.
    public let index: Int

    /// Where its own bytes end, a data descriptor included; before the end of ``extent`` where a gap follows.
    let end: Int
    /// Its record in the central directory, whole; shares the directory's bytes.
    let record: ArraySlice<UInt8>
    /// Whether ``name`` has slashes where the stored name has backslashes.
    let hasForeignSeparators: Bool

    /// The name as it is stored.
    public var rawName: [UInt8] {
        let fields = Fields(record)
        return Array(fields.slice(Format.centralBytes, fields.u16(28)))
    }

    /// Whether it is a symbolic link; its bytes are then the target.
    public var isSymbolicLink: Bool {
        unixMode.map { $0 & Format.Kind.mask == Format.Kind.link } ?? false
    }

    /// Where its packed bytes lie in the archive.
    public var dataRange: Range<Int> {
        dataOffset..<dataOffset + compressedSize
    }

    /// Hashes what tells entries of one archive apart.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(index)
        hasher.combine(localHeaderOffset)
    }
}
