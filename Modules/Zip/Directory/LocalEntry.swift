public import FerryBytes

/// An entry by its own header alone, read before there is a central directory: while an archive is still arriving.
///
/// Nothing of it is certain until ``isSame(as:)`` has held it against the directory.
public struct LocalEntry: Sendable {
    /// The entry; it has no mode, no index, and no more than the header tells.
    public let entry: ZipEntry
    /// Whether ``entry`` has its sizes and CRC-32; otherwise a descriptor behind the data has them.
    public let isSized: Bool
    private let rawName: ArraySlice<UInt8>

    /// What stands at an offset.
    public enum Found: Sendable {
        case entry(LocalEntry)
        /// It has not arrived yet.
        case incomplete
        /// No entry: the directory, or something that is not read here.
        case end
    }

    /// Looks at `offset` in a source of which the first `front` bytes are there.
    public static func read(at offset: Int, in source: some ByteSource, front: Int) throws -> Found {
        guard front - offset >= Format.localBytes else { return .incomplete }
        let header = Fields(try source.bytes(at: offset, count: Format.localBytes)[...])
        guard header.u32(0) == Format.localSignature else { return .end }
        let (nameBytes, extraBytes) = (header.u16(26), header.u16(28))
        let headBytes = Format.localBytes + nameBytes + extraBytes
        guard front - offset >= headBytes else { return .incomplete }
        let whole = Fields(try source.bytes(at: offset, count: headBytes)[...])
        let flags = whole.u16(6)
        let rawName = whole.slice(Format.localBytes, nameBytes)
        let extra = whole.slice(Format.localBytes + nameBytes, extraBytes)
        guard nameBytes <= ZipLimits.standard.nameLength,
            let name = try? EntryName.decode(rawName, flags: flags, host: Format.Host.unix, extra: extra).name,
            let method = try? CentralRecord.method(whole.u16(8), flags: flags, name: name),
            let sizes = sizes(whole, extra)
        else { return .end }
        let isDescribed = flags & Format.Flag.dataDescriptor != 0
        let entry = ZipEntry(
            local: name,
            method,
            crc32: UInt32(whole.u32(14)),
            compressedSize: sizes.compressed,
            uncompressedSize: sizes.uncompressed,
            hasDataDescriptor: isDescribed,
            offset: offset,
            dataOffset: offset + headBytes
        )
        // Zeros stand for what is not known yet, as they do in an empty entry.
        let isSized = !isDescribed || entry.compressedSize > 0
        return .entry(LocalEntry(entry: entry, isSized: isSized, rawName: rawName))
    }

    /// The same with what its data turned out to have.
    public func sized(compressed: Int, uncompressed: Int, crc32: UInt32) -> LocalEntry {
        let sized = ZipEntry(
            local: entry.name,
            entry.method,
            crc32: crc32,
            compressedSize: compressed,
            uncompressedSize: uncompressed,
            hasDataDescriptor: entry.hasDataDescriptor,
            offset: entry.localHeaderOffset,
            dataOffset: entry.dataOffset
        )
        return LocalEntry(entry: sized, isSized: true, rawName: rawName)
    }

    /// Where the next header begins, behind the data and its descriptor; `nil` where it has not arrived or is not found.
    public func next(in source: some ByteSource, front: Int) throws -> Int? {
        let end = entry.dataOffset + entry.compressedSize
        guard entry.hasDataDescriptor else { return end }
        for count in [16, 24, 12, 20] where front - end >= count + 4 {
            let signature = Fields(try source.bytes(at: end + count, count: 4)[...]).u32(0)
            guard signature == Format.localSignature || signature == Format.centralSignature else { continue }
            let crc = Fields(try source.bytes(at: end + (count % 16 == 4 || count == 12 ? 0 : 4), count: 4)[...]).u32(0)
            if crc == Int(entry.crc32) { return end + count }
        }
        return nil
    }

    /// Whether the directory says the same of it.
    public func isSame(as other: ZipEntry) -> Bool {
        entry.localHeaderOffset == other.localHeaderOffset && entry.dataOffset == other.dataOffset
            && entry.method == other.method && entry.crc32 == other.crc32
            && entry.compressedSize == other.compressedSize && entry.uncompressedSize == other.uncompressedSize
            && rawName.elementsEqual(other.rawName)
    }

    private static func sizes(_ header: Fields, _ extra: ArraySlice<UInt8>) -> (compressed: Int, uncompressed: Int)? {
        guard header.u32(18) == Format.sentinel32 || header.u32(22) == Format.sentinel32 else {
            return (header.u32(18), header.u32(22))
        }
        guard let block = try? zip64Extra(in: extra, name: ""), block.count >= 16 else { return nil }
        let fields = Fields(block)
        guard let uncompressed = Int(exactly: fields.u64(0)), let compressed = Int(exactly: fields.u64(8)),
            uncompressed <= ZipLimits.standard.totalBytes, compressed <= 1 << 48
        else { return nil }
        return (compressed, uncompressed)
    }
}

extension ZipEntry {
    /// What a local header tells.
    fileprivate init(
        local name: String,
        _ method: Method,
        crc32: UInt32,
        compressedSize: Int,
        uncompressedSize: Int,
        hasDataDescriptor: Bool,
        offset: Int,
        dataOffset: Int
    ) {
        self.name = name
        isDirectory = name.utf8.last == UInt8(ascii: "/")
        self.method = method
        self.crc32 = crc32
        self.compressedSize = compressedSize
        self.uncompressedSize = uncompressedSize
        unixMode = nil
        modified = .earliest
        self.hasDataDescriptor = hasDataDescriptor
        localHeaderOffset = offset
        self.dataOffset = dataOffset
        extent = offset..<dataOffset + compressedSize
        index = 0
        end = dataOffset + compressedSize
        record = []
        hasForeignSeparators = false
    }
}
