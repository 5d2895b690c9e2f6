public import FerryBytes

/// What an archive holds: its central directory, held against every local header.
///
/// An archive that readers could take in two ways, or that would write outside its folder, does not come to be one of
/// these. Two reads find the directory; local headers that lie close together are read at once.
public struct ZipDirectory: Sendable {
    /// All entries, in the order of the central directory.
    public let entries: [ZipEntry]
    /// The archive's own comment, as it is stored.
    public let comment: [UInt8]

    /// The central directory's own bytes: what tells two archives apart but for what they hold.
    package let bytes: ArraySlice<UInt8>

    let tree: PathTree

    /// Reads and checks the directory of the archive in `source`.
    public init(_ source: some ByteSource, limits: ZipLimits = .standard) throws(ZipError) {
        let end = try EndRecord(in: source)
        comment = end.comment
        guard end.entryCount <= limits.entryCount else {
            throw ZipError(.limit, "The archive has \(end.entryCount) entries, more than \(limits.entryCount).")
        }
        guard end.directory.count <= limits.directoryBytes else {
            throw ZipError(
                .limit,
                "The central directory has \(end.directory.count) bytes, more than \(limits.directoryBytes)."
            )
        }
        guard end.entryCount <= end.directory.count / Format.centralBytes else {
            throw ZipError(
                .malformed,
                "\(end.entryCount) entries do not fit into a central directory of \(end.directory.count) bytes."
            )
        }
        bytes = try Self.directoryBytes(end, source)
        let records = try Self.records(bytes, count: end.entryCount, limits: limits)
        var headers = LocalHeaders(source: source, records: records, directoryOffset: end.directory.lowerBound)
        let places = try headers.places()

        var entries: [ZipEntry] = []
        entries.reserveCapacity(records.count)
        var tree = PathTree(entryCount: records.count)
        for (index, record) in records.enumerated() {
            let entry = ZipEntry(record, place: places[index], index: index)
            entries.append(entry)
            try tree.insert(entry, of: entries)
        }
        self.entries = entries
        self.tree = tree
    }

    /// The entry of exactly this name; a folder's ends in `/`.
    public func entry(named name: String) -> ZipEntry? {
        guard let index = tree.index(of: name), entries[index].name == name else { return nil }
        return entries[index]
    }

    private static func directoryBytes(
        _ end: EndRecord,
        _ source: some ByteSource
    ) throws(ZipError) -> ArraySlice<UInt8> {
        if end.directory.lowerBound >= end.tailOffset {
            return Fields(end.tail).slice(end.directory.lowerBound - end.tailOffset, end.directory.count)
        }
        do {
            return try source.bytes(at: end.directory.lowerBound, count: end.directory.count)[...]
        } catch {
            throw .reading(error)
        }
    }

    private static func records(
        _ directory: ArraySlice<UInt8>,
        count: Int,
        limits: ZipLimits
    ) throws(ZipError) -> [CentralRecord] {
        var records: [CentralRecord] = []
        records.reserveCapacity(count)
        var rest = directory
        var total = 0
        while records.count < count {
            let record = try CentralRecord(at: rest, index: records.count, limits: limits)
            rest = rest.dropFirst(record.bytes.count)
            let (sum, overflow) = total.addingReportingOverflow(record.uncompressedSize)
            guard !overflow, sum <= limits.totalBytes else {
                throw ZipError(
                    .limit,
                    entry: record.name,
                    "With this entry the archive unpacks to more than \(limits.totalBytes) bytes."
                )
            }
            total = sum
            records.append(record)
        }
        guard rest.isEmpty else {
            throw ZipError(
                .malformed,
                "The central directory has \(rest.count) bytes more than its \(count) entries take."
            )
        }
        return records
    }
}

extension ZipEntry {
    init(_ record: CentralRecord, place: LocalPlace, index: Int) {
        name = record.name
        isDirectory = record.isDirectory
        method = record.method
        crc32 = record.crc32
        compressedSize = record.compressedSize
        uncompressedSize = record.uncompressedSize
        unixMode = record.unixMode
        modified = record.modified
        hasDataDescriptor = place.hasDataDescriptor
        localHeaderOffset = record.localHeaderOffset
        dataOffset = place.dataOffset
        extent = record.localHeaderOffset..<place.next
        self.index = index
        end = place.end
        self.record = record.bytes
        hasForeignSeparators = record.hasForeignSeparators
    }
}
