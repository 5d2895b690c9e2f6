import FerryBytes

/// What both headers of an entry to be written say.
struct EntryHeader {
    var madeBy: Int
    /// The version of the format that a reader must know, at least.
    var needs = 20
    var flags: Int
    var method: UInt16
    var modified: DOSDateTime
    var crc32: UInt32
    var compressedSize: Int
    var uncompressedSize: Int
    var name: [UInt8]
    /// Without a zip64 block: that one is made anew.
    var centralExtra: [UInt8] = []
    var localExtra: [UInt8] = []
    var comment: [UInt8] = []
    var internalAttributes = 0
    var externalAttributes: UInt32

    /// For an entry that is new.
    init(name: String, mode: UInt16, _ encoded: EncodedEntry, modified: DOSDateTime) throws(ZipError) {
        try EntryName.check(name)
        guard name.utf8.count <= 0xFFFF else {
            throw ZipError(.limit, entry: name, "The name has more bytes than the format holds.")
        }
        madeBy = Format.Host.unix << 8 | 30
        flags = name.utf8.allSatisfy { $0 < 128 } ? 0 : Format.Flag.utf8
        method = encoded.method.rawValue
        self.modified = modified
        crc32 = encoded.crc32
        compressedSize = encoded.compressedSize
        uncompressedSize = encoded.uncompressedSize
        self.name = Array(name.utf8)
        externalAttributes = 0
        setMode(mode)
    }

    /// For an entry that there was, as its directory record has it.
    init(_ entry: ZipEntry) {
        let record = Fields(entry.record)
        let nameBytes = record.u16(28)
        let extraBytes = record.u16(30)
        madeBy = record.u16(4)
        needs = record.u16(6)
        flags = record.u16(8)
        method = entry.method.rawValue
        modified = entry.modified
        crc32 = entry.crc32
        compressedSize = entry.compressedSize
        uncompressedSize = entry.uncompressedSize
        name = entry.rawName
        centralExtra = Self.kept(record.slice(Format.centralBytes + nameBytes, extraBytes), entry)
        comment = Array(record.slice(Format.centralBytes + nameBytes + extraBytes, record.u16(32)))
        internalAttributes = record.u16(36)
        externalAttributes = UInt32(record.u32(38))
        if entry.hasForeignSeparators {
            name = Array(entry.name.utf8)
            if !name.allSatisfy({ $0 < 128 }) {
                flags |= Format.Flag.utf8
            }
        }
    }

    /// Gives an old entry other contents, and the local header that goes with them.
    mutating func replaceContents(_ encoded: EncodedEntry, localExtra old: [UInt8], of entry: ZipEntry) {
        needs = max(needs, 20)
        flags &= ~(Format.Flag.dataDescriptor | Format.Flag.deflateEffort)
        method = encoded.method.rawValue
        crc32 = encoded.crc32
        compressedSize = encoded.compressedSize
        uncompressedSize = encoded.uncompressedSize
        localExtra = Self.kept(old[...], entry)
    }

    /// Sets kind and permissions; whoever made the entry, its attributes are Unix ones then.
    mutating func setMode(_ mode: UInt16) {
        madeBy = Format.Host.unix << 8 | madeBy & 0xFF
        externalAttributes = UInt32(mode) << 16 | externalAttributes & 0xFFEF
        if mode & Format.Kind.mask == Format.Kind.folder || name.last == UInt8(ascii: "/") {
            externalAttributes |= 0x10
        }
    }

    /// The local header; `zip64` also where the sizes would fit without.
    func local(zip64: Bool) -> [UInt8] {
        let large = zip64 || compressedSize >= Format.sentinel32 || uncompressedSize >= Format.sentinel32
        var extra: [UInt8] = []
        if large {
            extra.append(UInt16(Format.Extra.zip64), .little)
            extra.append(UInt16(16), .little)
            extra.append(UInt64(uncompressedSize), .little)
            extra.append(UInt64(compressedSize), .little)
        }
        extra += localExtra
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Format.localBytes + name.count + extra.count)
        bytes.append(UInt32(Format.localSignature), .little)
        bytes.append(UInt16(large ? max(needs, 45) : needs), .little)
        appendCommon(to: &bytes, compressed: large ? nil : compressedSize, uncompressed: large ? nil : uncompressedSize)
        bytes.append(UInt16(extra.count), .little)
        return bytes + name + extra
    }

    /// The record for the central directory.
    func central(offset: Int, zip64: Bool) -> [UInt8] {
        var moved: [UInt8] = []
        func short(_ value: Int) -> Int? {
            guard zip64 || value >= Format.sentinel32 else { return value }
            moved.append(UInt64(value), .little)
            return nil
        }
        let uncompressed = short(uncompressedSize)
        let compressed = short(compressedSize)
        let place = short(offset)
        var extra: [UInt8] = []
        if !moved.isEmpty {
            extra.append(UInt16(Format.Extra.zip64), .little)
            extra.append(UInt16(moved.count), .little)
            extra += moved
        }
        extra += centralExtra
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Format.centralBytes + name.count + extra.count + comment.count)
        bytes.append(UInt32(Format.centralSignature), .little)
        bytes.append(UInt16(madeBy), .little)
        bytes.append(UInt16(moved.isEmpty ? needs : max(needs, 45)), .little)
        appendCommon(to: &bytes, compressed: compressed, uncompressed: uncompressed)
        bytes.append(UInt16(extra.count), .little)
        bytes.append(UInt16(comment.count), .little)
        bytes.append(UInt16(0), .little)
        bytes.append(UInt16(internalAttributes), .little)
        bytes.append(externalAttributes, .little)
        bytes.append(UInt32(place ?? Format.sentinel32), .little)
        return bytes + name + extra + comment
    }

    /// The record of an entry that is copied whole: byte for byte the old one, but for its place and what is asked.
    static func central(copying entry: ZipEntry, mode: UInt16?, offset: Int, zip64: Bool) -> [UInt8] {
        let old = Fields(entry.record)
        let extra = old.slice(Format.centralBytes + old.u16(28), old.u16(30))
        let wasLarge = ExtraBlocks(extra).contains { $0.identifier == Format.Extra.zip64 }
        if zip64 || wasLarge || offset >= Format.sentinel32 {
            var header = EntryHeader(entry)
            if let mode {
                header.setMode(mode)
            }
            return header.central(offset: offset, zip64: zip64)
        }
        var record = Array(entry.record)
        record.store(UInt32(offset), at: 42, .little)
        if let mode {
            var header = EntryHeader(entry)
            header.setMode(mode)
            record.store(UInt16(header.madeBy), at: 4, .little)
            record.store(header.externalAttributes, at: 38, .little)
        }
        return record
    }

    /// From the flags to the name's length: the fields that both headers have in this order.
    private func appendCommon(to bytes: inout [UInt8], compressed: Int?, uncompressed: Int?) {
        bytes.append(UInt16(flags), .little)
        bytes.append(method, .little)
        bytes.append(modified.time, .little)
        bytes.append(modified.date, .little)
        bytes.append(crc32, .little)
        bytes.append(UInt32(compressed ?? Format.sentinel32), .little)
        bytes.append(UInt32(uncompressed ?? Format.sentinel32), .little)
        bytes.append(UInt16(name.count), .little)
    }

    /// The extra fields that hold on: not the zip64 numbers, nor a second name where the first one is changed.
    private static func kept(_ extra: ArraySlice<UInt8>, _ entry: ZipEntry) -> [UInt8] {
        var kept: [UInt8] = []
        for block in ExtraBlocks(extra) where block.identifier != Format.Extra.zip64 {
            if block.identifier == Format.Extra.unicodePath, entry.hasForeignSeparators { continue }
            kept += block.whole
        }
        return kept
    }
}
