import FerryBytes

/// What the end of an archive says: where the central directory is, and how many entries it has.
///
/// ```
/// … central directory │ [zip64 end record │ zip64 locator] │ end record │ comment │ end of file
/// ```
/// Source: APPNOTE §4.3.14–4.3.16.
struct EndRecord {
    let entryCount: Int
    let directory: Range<Int>
    let comment: [UInt8]

    /// The end of the file, in which the directory often lies too.
    let tail: ArraySlice<UInt8>
    /// Where ``tail`` begins in the file.
    let tailOffset: Int

    init(in source: some ByteSource) throws(ZipError) {
        let wanted = min(source.count, Format.endBytes + 0xFFFF + Format.locatorBytes + Format.endZip64Bytes)
        let tailOffset = source.count - wanted
        let tail: [UInt8]
        do {
            tail = try source.bytes(at: tailOffset, count: wanted)
        } catch {
            throw .reading(error)
        }
        let place = try Self.find(in: tail, of: source)
        let fields = Fields(tail[place...])
        let count = fields.u16(10)
        let bytes = fields.u32(12)
        let offset = fields.u32(16)
        let disks = [fields.u16(4), fields.u16(6)]
        comment = Array(tail[(place + Format.endBytes)...])
        self.tail = tail[...]
        self.tailOffset = tailOffset

        if let large = try Zip64End(before: place, in: tail, tailOffset: tailOffset, source: source) {
            for (short, long, sentinel) in [
                (count, large.entryCount, Format.sentinel16), (bytes, large.directory.count, Format.sentinel32),
                (offset, large.directory.lowerBound, Format.sentinel32),
            ] where short != sentinel && short != long {
                throw ZipError(.malformed, "The end record and the zip64 end record disagree: \(short) and \(long).")
            }
            guard disks.allSatisfy({ $0 == 0 || $0 == Format.sentinel16 }) else { throw Self.severalDisks }
            entryCount = large.entryCount
            directory = large.directory
            return
        }
        guard disks == [0, 0] else { throw Self.severalDisks }
        guard fields.u16(8) == count else {
            throw ZipError(.malformed, "The end record names two counts of entries: \(fields.u16(8)) and \(count).")
        }
        try Self.checkPlace(offset: offset, bytes: bytes, end: tailOffset + place)
        entryCount = count
        directory = offset..<offset + bytes
    }

    fileprivate static let severalDisks = ZipError(.unsupported, "The archive is one of several parts.")

    /// The directory must end where the end record begins: where it does not, some readers shift all offsets, others
    /// do not, and each sees another archive.
    fileprivate static func checkPlace(offset: Int, bytes: Int, end: Int) throws(ZipError) {
        let (sum, overflow) = offset.addingReportingOverflow(bytes)
        guard !overflow, offset >= 0, bytes >= 0, sum == end else {
            throw ZipError(
                .malformed,
                "The central directory is said to take \(bytes) bytes from offset \(offset), but the end record is at "
                    + "\(end): bytes are missing, or foreign ones were put before the archive or into it."
            )
        }
    }

    /// The place of the end record in the tail.
    ///
    /// It must be the last one there, and its comment must reach to the end of the file: readers that search from the
    /// back, and those that check the comment's length, then find the same.
    private static func find(in tail: [UInt8], of source: some ByteSource) throws(ZipError) -> Int {
        var last: Int?
        var exact: [Int] = []
        if tail.count >= Format.endBytes {
            tail.withUnsafeBytes { bytes in
                for place in stride(from: bytes.count - 4, through: 0, by: -1)
                where bytes[place] == 0x50 && bytes[place + 1] == 0x4B && bytes[place + 2] == 5 && bytes[place + 3] == 6
                {
                    last = last ?? place
                    guard place <= bytes.count - Format.endBytes else { continue }
                    let comment = Int(bytes[place + 20]) | Int(bytes[place + 21]) << 8
                    if place + Format.endBytes + comment == bytes.count {
                        exact.append(place)
                    }
                }
            }
        }
        guard let last else { throw noEnd(of: source) }
        guard let place = exact.first else {
            if last > tail.count - Format.endBytes {
                throw ZipError(.truncated, "The archive ends within its end record.")
            }
            let said = Fields(tail[last...]).u16(20)
            let there = tail.count - last - Format.endBytes
            if said > there {
                throw ZipError(
                    .truncated,
                    "The archive's comment should have \(said) bytes, but only \(there) are there."
                )
            }
            throw ZipError(.malformed, "\(there - said) bytes follow the end of the archive.")
        }
        guard exact.count == 1, place == last else {
            throw ZipError(.malformed, "There are two end records, so that readers would see different archives.")
        }
        return place
    }

    private static func noEnd(of source: some ByteSource) -> ZipError {
        let head = (try? source.bytes(at: 0, count: min(64, source.count))) ?? []
        if head.starts(with: [0x50, 0x4B, 3, 4]) {
            return ZipError(
                .truncated,
                "The archive has no end record: only its first \(source.count) bytes are there."
            )
        }
        if source.count == 0 {
            return ZipError(.notAnArchive, "The file is empty.")
        }
        if let first = head.first(where: { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }),
            first == UInt8(ascii: "<")
        {
            return ZipError(.notAnArchive, "The file is no zip archive but a web page or XML.")
        }
        return ZipError(.notAnArchive, "The file is no zip archive: it has no end record.")
    }
}

/// The zip64 end record, which holds what does not fit into the end record.
private struct Zip64End {
    let entryCount: Int
    let directory: Range<Int>

    /// `nil` where no zip64 locator stands before the end record.
    init?(
        before place: Int,
        in tail: [UInt8],
        tailOffset: Int,
        source: some ByteSource
    ) throws(ZipError) {
        let locatorPlace = place - Format.locatorBytes
        guard locatorPlace >= 0 else { return nil }
        let locator = Fields(tail[locatorPlace...])
        guard locator.u32(0) == Format.locatorSignature else { return nil }
        guard locator.u32(4) == 0, locator.u32(16) <= 1 else { throw EndRecord.severalDisks }
        let locatorOffset = tailOffset + locatorPlace
        guard let offset = Int(exactly: locator.u64(8)), offset <= locatorOffset - Format.endZip64Bytes else {
            throw ZipError(
                .malformed,
                "The zip64 end record is said to be at offset \(locator.u64(8)), where it cannot be."
            )
        }
        let bytes: [UInt8]
        do {
            bytes = try source.bytes(at: offset, count: Format.endZip64Bytes)
        } catch {
            throw .reading(error)
        }
        let fields = Fields(bytes[...])
        guard fields.u32(0) == Format.endZip64Signature else {
            throw ZipError(.malformed, "There is no zip64 end record at offset \(offset), where it should be.")
        }
        guard fields.u64(4) == UInt64(locatorOffset - offset - 12) else {
            throw ZipError(.malformed, "The zip64 end record does not end where its locator begins.")
        }
        guard fields.u32(16) == 0, fields.u32(20) == 0 else { throw EndRecord.severalDisks }
        guard fields.u64(24) == fields.u64(32), let count = Int(exactly: fields.u64(32)),
            let directoryBytes = Int(exactly: fields.u64(40)), let directoryOffset = Int(exactly: fields.u64(48))
        else {
            throw ZipError(.malformed, "The numbers in the zip64 end record contradict each other.")
        }
        try EndRecord.checkPlace(offset: directoryOffset, bytes: directoryBytes, end: offset)
        entryCount = count
        directory = directoryOffset..<directoryOffset + directoryBytes
    }
}
