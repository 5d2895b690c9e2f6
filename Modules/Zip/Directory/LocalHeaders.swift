import FerryBytes

/// What was found out about an entry's own place in the file.
struct LocalPlace {
    var dataOffset = 0
    /// Behind the data, or behind its descriptor.
    var end = 0
    /// Where the next entry or the directory begins.
    var next = 0
    var hasDataDescriptor = false
}

/// Reads the local headers in the order in which they lie, and holds each against its record in the directory.
///
/// Headers that lie close together are read by one call, as are a descriptor and the header behind it.
struct LocalHeaders<Source: ByteSource> {
    private let source: Source
    private let records: [CentralRecord]
    private let directoryOffset: Int
    /// Indices of `records` by offset.
    private let order: [Int]
    private var window: [UInt8] = []
    private var windowOffset = 0

    /// A call reads at most this many bytes …
    private static var windowBytes: Int { 256 << 10 }
    /// … and bridges gaps up to this wide; a wider one costs more to read than another call.
    private static var bridgeBytes: Int { 8 << 10 }
    /// Room for a local extra field that is longer than the central one.
    private static var slackBytes: Int { 64 }

    init(source: Source, records: [CentralRecord], directoryOffset: Int) {
        self.source = source
        self.records = records
        self.directoryOffset = directoryOffset
        var order = Array(records.indices)
        let sorted = zip(records, records.dropFirst()).allSatisfy { $0.localHeaderOffset <= $1.localHeaderOffset }
        if !sorted {
            order.sort { records[$0].localHeaderOffset < records[$1].localHeaderOffset }
        }
        self.order = order
    }

    /// The place of each record, in the records' order.
    mutating func places() throws(ZipError) -> [LocalPlace] {
        var places = [LocalPlace](repeating: LocalPlace(), count: records.count)
        for turn in order.indices {
            let index = order[turn]
            let record = records[index]
            var next = directoryOffset
            if turn + 1 < order.count {
                next = min(next, records[order[turn + 1]].localHeaderOffset)
            }
            places[index] = try place(of: record, turn: turn, next: next)
        }
        return places
    }

    private mutating func place(of record: CentralRecord, turn: Int, next: Int) throws(ZipError) -> LocalPlace {
        let start = record.localHeaderOffset
        guard start <= directoryOffset - Format.localBytes else {
            throw ZipError(
                .malformed,
                entry: record.name,
                "The entry is said to begin at offset \(start), past all entries."
            )
        }
        // It may take all up to the directory here; that it ends before the next one is checked below.
        let header = Fields(try bytes(at: start, count: Format.localBytes, turn: turn))
        guard header.u32(0) == Format.localSignature else {
            throw ZipError(
                .malformed,
                entry: record.name,
                "There is no entry at offset \(start), where it should begin."
            )
        }
        let nameBytes = header.u16(26)
        let extraBytes = header.u16(28)
        let headBytes = Format.localBytes + nameBytes + extraBytes
        let (dataEnd, overflow) = (start + headBytes).addingReportingOverflow(record.compressedSize)
        guard !overflow, dataEnd <= next else {
            throw overlap(record, turn: turn, end: overflow ? .max : dataEnd)
        }
        let whole = Fields(try bytes(at: start, count: headBytes, turn: turn))
        guard whole.slice(Format.localBytes, nameBytes).elementsEqual(record.rawName) else {
            throw ZipError(.malformed, entry: record.name, "The entry has another name in its own header.")
        }
        let sizes = try check(whole, extra: whole.slice(Format.localBytes + nameBytes, extraBytes), against: record)
        var place = LocalPlace(dataOffset: start + headBytes, end: dataEnd, next: next, hasDataDescriptor: false)
        if whole.u16(6) & Format.Flag.dataDescriptor != 0 {
            let count = try descriptorBytes(of: record, at: dataEnd, next: next, turn: turn)
            guard count > 0 || sizes == .agree else {
                throw ZipError(.malformed, entry: record.name, "The data descriptor disagrees with the directory.")
            }
            place.end += count
            place.hasDataDescriptor = count > 0
        } else if sizes != .agree {
            throw ZipError(
                .malformed,
                entry: record.name,
                "The sizes or the CRC in the entry's own header disagree with the directory."
            )
        }
        return place
    }

    private enum Sizes {
        case agree
        case differ
    }

    private func check(
        _ header: Fields,
        extra: ArraySlice<UInt8>,
        against record: CentralRecord
    ) throws(ZipError) -> Sizes {
        let method = try CentralRecord.method(header.u16(8), flags: header.u16(6), name: record.name)
        guard method == record.method else {
            throw ZipError(.malformed, entry: record.name, "The entry is packed in another way in its own header.")
        }
        var compressed = UInt64(header.u32(18))
        var uncompressed = UInt64(header.u32(22))
        if header.u32(18) == Format.sentinel32 || header.u32(22) == Format.sentinel32 {
            guard let block = try zip64Extra(in: extra, name: record.name), block.count >= 16 else { return .differ }
            uncompressed = Fields(block).u64(0)
            compressed = Fields(block).u64(8)
        }
        return compressed == UInt64(record.compressedSize) && uncompressed == UInt64(record.uncompressedSize)
            && header.u32(14) == Int(record.crc32) ? .agree : .differ
    }

    /// How long the descriptor at `offset` is: a signature or none, the CRC, two sizes of 4 or 8 bytes (APPNOTE
    /// §4.3.9). Zero where none of these forms holds the directory's numbers.
    private mutating func descriptorBytes(
        of record: CentralRecord,
        at offset: Int,
        next: Int,
        turn: Int
    ) throws(ZipError) -> Int {
        let there = Fields(try bytes(at: offset, count: min(24, next - offset), turn: turn + 1))
        for (signature, wide) in [(4, false), (4, true), (0, false), (0, true)] {
            let count = signature + (wide ? 20 : 12)
            guard there.bytes.count >= count else { continue }
            if signature == 4, there.u32(0) != Format.descriptorSignature { continue }
            guard there.u32(signature) == Int(record.crc32) else { continue }
            let sizes =
                wide
                ? (there.u64(signature + 4), there.u64(signature + 12))
                : (UInt64(there.u32(signature + 4)), UInt64(there.u32(signature + 8)))
            if sizes == (UInt64(record.compressedSize), UInt64(record.uncompressedSize)) { return count }
        }
        return 0
    }

    private func overlap(_ record: CentralRecord, turn: Int, end: Int) -> ZipError {
        if turn + 1 < order.count, records[order[turn + 1]].localHeaderOffset < directoryOffset {
            let other = records[order[turn + 1]]
            return ZipError(
                .overlap,
                entry: record.name,
                "The entry reaches from offset \(record.localHeaderOffset) to \(end), into "
                    + "\(ZipError.shown(other.name)) at \(other.localHeaderOffset)."
            )
        }
        return ZipError(
            .overlap,
            entry: record.name,
            "The entry reaches from offset \(record.localHeaderOffset) to \(end), into the central directory at "
                + "\(directoryOffset)."
        )
    }

    /// Bytes before the directory, out of the window; `turn` is the next entry whose header a new window should hold.
    private mutating func bytes(at offset: Int, count: Int, turn: Int) throws(ZipError) -> ArraySlice<UInt8> {
        let end = offset + count
        if offset < windowOffset || end > windowOffset + window.count {
            var reach = end
            var turn = turn
            while turn < order.count {
                let record = records[order[turn]]
                let start = record.localHeaderOffset
                guard start - reach <= Self.bridgeBytes, start - offset <= Self.windowBytes else { break }
                reach = max(
                    reach,
                    start + Format.localBytes + record.rawName.count + record.extra.count + Self.slackBytes
                )
                turn += 1
            }
            reach = max(end, min(reach, directoryOffset))
            do {
                window = try source.bytes(at: offset, count: reach - offset)
            } catch {
                throw .reading(error)
            }
            windowOffset = offset
        }
        return window[(offset - windowOffset)..<(end - windowOffset)]
    }
}
