/// One record of the central directory, parsed and checked by itself.
///
/// ```
///  0 signature  4 made by  6 needs  8 flags  10 method  12 time  14 date  16 CRC-32  20 packed  24 unpacked
/// 28 name length  30 extra length  32 comment length  34 disk  36 internal  38 external attributes  42 offset
/// 46 name │ extra │ comment
/// ```
/// Source: APPNOTE §4.3.12.
struct CentralRecord {
    let bytes: ArraySlice<UInt8>
    let name: String
    let hasForeignSeparators: Bool
    let rawName: ArraySlice<UInt8>
    let extra: ArraySlice<UInt8>
    let flags: Int
    let method: ZipEntry.Method
    let modified: DOSDateTime
    let crc32: UInt32
    let compressedSize: Int
    let uncompressedSize: Int
    let localHeaderOffset: Int
    let unixMode: UInt16?
    let isDirectory: Bool

    /// Parses the record at the start of `rest`, the part of the directory that is not read yet.
    init(at rest: ArraySlice<UInt8>, index: Int, limits: ZipLimits) throws(ZipError) {
        let whole = Fields(rest)
        guard rest.count >= Format.centralBytes, whole.u32(0) == Format.centralSignature else {
            throw ZipError(.malformed, "The central directory has no record where number \(index + 1) should be.")
        }
        let nameBytes = whole.u16(28)
        let extraBytes = whole.u16(30)
        let count = Format.centralBytes + nameBytes + extraBytes + whole.u16(32)
        guard count <= rest.count else {
            throw ZipError(.malformed, "Record number \(index + 1) of the central directory reaches past its end.")
        }
        let fields = Fields(whole.slice(0, count))
        guard nameBytes <= limits.nameLength else {
            let start = String(decoding: fields.slice(Format.centralBytes, min(nameBytes, 40)), as: UTF8.self)
            throw ZipError(
                .limit,
                entry: start + "…",
                "The name has \(nameBytes) bytes, more than \(limits.nameLength)."
            )
        }
        bytes = fields.bytes
        rawName = fields.slice(Format.centralBytes, nameBytes)
        extra = fields.slice(Format.centralBytes + nameBytes, extraBytes)
        flags = fields.u16(8)
        let host = fields.u16(4) >> 8
        (name, hasForeignSeparators) = try EntryName.decode(rawName, flags: flags, host: host, extra: extra)
        try EntryName.check(name)
        modified = DOSDateTime(date: UInt16(fields.u16(14)), time: UInt16(fields.u16(12)))
        crc32 = UInt32(fields.u32(16))

        let sizes = try Zip64Sizes(fields, extra: extra, name: name)
        compressedSize = sizes.compressed
        uncompressedSize = sizes.uncompressed
        localHeaderOffset = sizes.offset
        method = try Self.method(fields.u16(10), flags: flags, name: name)

        let mode = UInt16(fields.u32(38) >> 16)
        unixMode = mode != 0 && (host == Format.Host.unix || host == Format.Host.darwin) ? mode : nil
        isDirectory = try Self.isDirectory(name, mode: unixMode)
        try checkSizes(limits)
    }

    /// Refuses what is encrypted or packed in a way that is not read here.
    static func method(_ number: Int, flags: Int, name: String) throws(ZipError) -> ZipEntry.Method {
        guard flags & (Format.Flag.encrypted | Format.Flag.strongEncryption | Format.Flag.maskedHeader) == 0 else {
            throw ZipError(.encrypted, entry: name, "The entry is encrypted.")
        }
        guard flags & Format.Flag.patched == 0 else {
            throw ZipError(.unsupported, entry: name, "The entry is a patch to another file.")
        }
        guard let raw = UInt16(exactly: number), let method = ZipEntry.Method(rawValue: raw) else {
            throw ZipError(
                .unsupported,
                entry: name,
                "The entry is packed by method \(number), not stored or deflated."
            )
        }
        return method
    }

    private static func isDirectory(_ name: String, mode: UInt16?) throws(ZipError) -> Bool {
        let slashed = name.utf8.last == UInt8(ascii: "/")
        switch (mode ?? 0) & Format.Kind.mask {
        case 0, Format.Kind.file: return slashed
        case Format.Kind.folder: return true
        case Format.Kind.link:
            guard !slashed else {
                throw ZipError(.malformed, entry: name, "The entry is a symbolic link, but its name is a folder's.")
            }
            return false
        default:
            throw ZipError(.unsupported, entry: name, "The entry is neither a file, nor a folder, nor a symbolic link.")
        }
    }

    private func checkSizes(_ limits: ZipLimits) throws(ZipError) {
        if isDirectory, uncompressedSize != 0 {
            throw ZipError(.malformed, entry: name, "The folder is said to hold \(uncompressedSize) bytes itself.")
        }
        if method == .stored, compressedSize != uncompressedSize {
            throw ZipError(
                .sizeMismatch,
                entry: name,
                "The entry is stored, yet has \(compressedSize) bytes packed and \(uncompressedSize) unpacked."
            )
        }
        guard uncompressedSize <= limits.entryBytes else {
            throw ZipError(
                .limit,
                entry: name,
                "The entry unpacks to \(uncompressedSize) bytes, more than \(limits.entryBytes)."
            )
        }
        let (allowed, overflow) = compressedSize.multipliedReportingOverflow(by: limits.compressionRatio)
        guard uncompressedSize <= limits.ratioFreeBytes || overflow || uncompressedSize <= allowed else {
            throw ZipError(
                .limit,
                entry: name,
                "The entry is said to unpack from \(compressedSize) to \(uncompressedSize) bytes, "
                    + "more than \(limits.compressionRatio) times as many.",
                remedy: ZipError.Code.sizeMismatch.remedy
            )
        }
    }
}

/// The three numbers of a record that may have moved to the zip64 extra field, which holds, in this order, only those
/// whose own field is all ones. Source: APPNOTE §4.5.3.
private struct Zip64Sizes {
    let compressed: Int
    let uncompressed: Int
    let offset: Int

    init(_ fields: Fields, extra: ArraySlice<UInt8>, name: String) throws(ZipError) {
        var rest = try zip64Extra(in: extra, name: name)
        func number(_ short: Int) throws(ZipError) -> Int {
            guard short == Format.sentinel32 else { return short }
            guard let block = rest, block.count >= 8 else {
                throw ZipError(.malformed, entry: name, "The entry lacks its zip64 numbers.")
            }
            rest = block.dropFirst(8)
            guard let value = Int(exactly: Fields(block).u64(0)) else {
                throw ZipError(.malformed, entry: name, "A zip64 number of the entry is past what any file has.")
            }
            return value
        }
        uncompressed = try number(fields.u32(24))
        compressed = try number(fields.u32(20))
        offset = try number(fields.u32(42))
        if fields.u16(34) == Format.sentinel16 {
            guard let block = rest, block.count >= 4, Fields(block).u32(0) == 0 else {
                throw ZipError(.unsupported, entry: name, "The entry is in another part of a divided archive.")
            }
        } else if fields.u16(34) != 0 {
            throw ZipError(.unsupported, entry: name, "The entry is in another part of a divided archive.")
        }
    }
}

/// The content of the zip64 block among extra fields; `nil` where there is none.
func zip64Extra(in extra: ArraySlice<UInt8>, name: String) throws(ZipError) -> ArraySlice<UInt8>? {
    var found: ArraySlice<UInt8>?
    for block in ExtraBlocks(extra) where block.identifier == Format.Extra.zip64 {
        guard found == nil else {
            throw ZipError(.malformed, entry: name, "The entry has two zip64 fields.")
        }
        found = block.content
    }
    return found
}
