public import FerryBytes

/// Writes an archive: the items in their order, then the directory.
///
/// `descriptor` is an open, empty file; it is neither synced nor closed. Entries that follow each other in the source too
/// are copied by one call, with their local headers and data descriptors. `source` may be `nil` if all items are new.
/// `progress` is told how many bytes are written, at the latest after every 16 MiB; what it throws ends the writing and
/// comes out as it is. Everything else that is thrown is a ``ZipError``; the file is then of no use.
///
/// - Parameter copied: what ``copyEntries(_:from:to:path:progress:)`` wrote to the file before. It stays where it is; the
///   directory has all items in their order.
public func writeArchive(
    _ items: [OutputItem],
    from source: FileSource?,
    to descriptor: Int32,
    path: String,
    comment: [UInt8] = [],
    after copied: CopiedEntries = CopiedEntries(),
    progress: (Int) throws -> Void = { _ in }
) throws {
    try withoutActuallyEscaping(progress) { progress in
        let sink = FileSink(source: source, descriptor: descriptor, path: path, progress: progress)
        var writer = ArchiveWriter(sink: sink, source: source, after: copied)
        try writer.write(items, comment: comment)
    }
}

/// Entries that were copied to a new archive before anything else of it is known.
public struct CopiedEntries: Sendable {
    /// Where each one's local header lies, by the entry's index.
    fileprivate(set) var offsets: [Int: Int] = [:]
    /// How many bytes they take.
    public fileprivate(set) var end = 0

    /// None.
    public init() {}

    /// Whether it is there.
    public func contains(_ entry: ZipEntry) -> Bool { offsets[entry.index] != nil }
}

/// Begins an archive with entries that stay as they are, for ``writeArchive(_:from:to:path:comment:after:progress:)``.
///
/// - Parameter entries: of `source`, in the order in which they lie. Those that cannot be copied raw are left out.
/// - Parameter descriptor: an open, empty file.
public func copyEntries(
    _ entries: [ZipEntry],
    from source: FileSource,
    to descriptor: Int32,
    path: String,
    progress: (Int) throws -> Void = { _ in }
) throws -> CopiedEntries {
    try withoutActuallyEscaping(progress) { progress in
        let sink = FileSink(source: source, descriptor: descriptor, path: path, progress: progress)
        var writer = ArchiveWriter(sink: sink, source: source)
        return try writer.copyAhead(entries)
    }
}

/// Makes an archive in memory.
package func archiveBytes(
    _ items: [OutputItem],
    from source: some ByteSource = MemorySource([]),
    comment: [UInt8] = []
) throws -> [UInt8] {
    var writer = ArchiveWriter(sink: MemorySink(source: source), source: source)
    try writer.write(items, comment: comment)
    return writer.sink.bytes
}

/// Lays out an archive into a sink.
struct ArchiveWriter<Sink: ArchiveSink> {
    private(set) var sink: Sink
    private let source: (any ByteSource)?
    /// Whether zip64 fields are written where none are needed: for tests, as files past 4 GiB are slow.
    private let alwaysZip64: Bool
    private var offset = 0
    private var directory: [UInt8] = []
    private var names: Set<[UInt8]> = []
    /// The range of the source that is to be copied before anything else is written.
    private var run = 0..<0

    /// What is in the file already.
    private let copied: CopiedEntries

    init(
        sink: Sink,
        source: (any ByteSource)?,
        alwaysZip64: Bool = false,
        after copied: CopiedEntries = CopiedEntries()
    ) {
        self.copied = copied
        offset = copied.end
        self.sink = sink
        self.source = source
        self.alwaysZip64 = alwaysZip64
    }

    mutating func write(_ items: [OutputItem], comment: [UInt8]) throws {
        guard comment.count <= 0xFFFF else {
            throw ZipError(.limit, "The archive's comment has \(comment.count) bytes, more than the format holds.")
        }
        names.reserveCapacity(items.count)
        for item in items {
            switch item {
            case .copy(let entry, let mode) where entry.hasForeignSeparators:
                let same = EncodedEntry(
                    method: entry.method,
                    crc32: entry.crc32,
                    uncompressedSize: entry.uncompressedSize,
                    pieces: [.original(entry.dataRange)]
                )
                try replace(entry, same, mode: mode)
            case .copy(let entry, let mode):
                try claim(entry.rawName, entry.name)
                let place = copied.offsets[entry.index]
                directory += EntryHeader.central(
                    copying: entry,
                    mode: mode,
                    offset: place ?? offset,
                    zip64: alwaysZip64
                )
                if place == nil { try copy(entry.localHeaderOffset..<entry.end) }
            case .replace(let entry, let encoded, let mode):
                try replace(entry, encoded, mode: mode)
            case .new(let name, let mode, let encoded, let modified):
                let header = try EntryHeader(name: name, mode: mode, encoded, modified: modified)
                try write(header, encoded, name: name)
            }
        }
        try flushRun()
        try sink.write(directory)
        try sink.write(end(entryCount: items.count, comment: comment))
        try sink.finish()
    }

    /// Copies entries before anything else.
    mutating func copyAhead(_ entries: [ZipEntry]) throws -> CopiedEntries {
        var copied = CopiedEntries()
        copied.offsets.reserveCapacity(entries.count)
        for entry in entries where !entry.hasForeignSeparators {
            copied.offsets[entry.index] = offset
            try copy(entry.localHeaderOffset..<entry.end)
        }
        try flushRun()
        try sink.finish()
        copied.end = offset
        return copied
    }

    private mutating func replace(_ entry: ZipEntry, _ encoded: EncodedEntry, mode: UInt16?) throws {
        guard let source else { preconditionFailure("an entry to replace, but no archive that it is in") }
        var header = EntryHeader(entry)
        let extraOffset = entry.localHeaderOffset + Format.localBytes + entry.rawName.count
        let extra: [UInt8]
        do {
            extra = try source.bytes(at: extraOffset, count: entry.dataOffset - extraOffset)
        } catch {
            throw ZipError.reading(error, entry: entry.name)
        }
        header.replaceContents(encoded, localExtra: extra, of: entry)
        if let mode {
            header.setMode(mode)
        }
        try write(header, encoded, name: entry.name)
    }

    private mutating func write(_ header: EntryHeader, _ encoded: EncodedEntry, name: String) throws {
        try claim(header.name, name)
        directory += header.central(offset: offset, zip64: alwaysZip64)
        try flushRun()
        let local = header.local(zip64: alwaysZip64)
        try sink.write(local)
        offset += local.count
        for piece in encoded.pieces {
            switch piece {
            case .bytes(let bytes):
                try flushRun()
                try sink.write(bytes)
                offset += bytes.count
            case .original(let range):
                try copy(range)
            }
        }
    }

    private mutating func claim(_ rawName: [UInt8], _ name: String) throws {
        guard names.insert(rawName).inserted else {
            throw ZipError(.duplicateName, entry: name, "The archive to be written has this name twice.")
        }
    }

    private mutating func copy(_ range: Range<Int>) throws {
        if run.upperBound != range.lowerBound {
            try flushRun()
            run = range.lowerBound..<range.lowerBound
        }
        run = run.lowerBound..<range.upperBound
        offset += range.count
    }

    private mutating func flushRun() throws {
        guard !run.isEmpty else { return }
        try sink.copy(run)
        run = 0..<0
    }

    private func end(entryCount: Int, comment: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        if alwaysZip64 || entryCount >= Format.sentinel16 || directory.count >= Format.sentinel32
            || offset >= Format.sentinel32
        {
            bytes.append(UInt32(Format.endZip64Signature), .little)
            bytes.append(UInt64(Format.endZip64Bytes - 12), .little)
            bytes.append(UInt16(Format.Host.unix << 8 | 45), .little)
            bytes.append(UInt16(45), .little)
            bytes.append(UInt32(0), .little)
            bytes.append(UInt32(0), .little)
            bytes.append(UInt64(entryCount), .little)
            bytes.append(UInt64(entryCount), .little)
            bytes.append(UInt64(directory.count), .little)
            bytes.append(UInt64(offset), .little)

            bytes.append(UInt32(Format.locatorSignature), .little)
            bytes.append(UInt32(0), .little)
            bytes.append(UInt64(offset + directory.count), .little)
            bytes.append(UInt32(1), .little)
        }
        bytes.append(UInt32(Format.endSignature), .little)
        bytes.append(UInt32(0), .little)
        let count = UInt16(min(entryCount, Format.sentinel16))
        bytes.append(count, .little)
        bytes.append(count, .little)
        bytes.append(UInt32(min(directory.count, Format.sentinel32)), .little)
        bytes.append(UInt32(min(offset, Format.sentinel32)), .little)
        bytes.append(UInt16(comment.count), .little)
        return bytes + comment
    }
}
