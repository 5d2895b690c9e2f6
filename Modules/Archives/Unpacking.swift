import CArchive
import FerryBytes

/// Unpacks archives in memory by libarchive.
enum Unpacking {
    /// A container that is read.
    enum Container {
        /// `tar` in any dialect, plain or packed by gzip, bzip2, xz, lzma or zstd.
        case tar
        /// `zip`.
        case zip
    }

    /// The files in `bytes`, in their order; folders and what a Mac leaves behind are left out.
    ///
    /// - Parameter isWanted: whether a path's content is read at all; the others are passed over unpacked, but counted.
    static func files(
        in bytes: ArraySlice<UInt8>,
        as container: Container,
        limits: ArchiveLimits,
        isWanted: (String) -> Bool = { _ in true }
    ) throws(ArchiveError) -> [PackedFile] {
        // The reader looks at the bytes for as long as it lives, so it lives and ends in here.
        let result = bytes.withUnsafeBytes { buffer -> Result<[PackedFile], ArchiveError> in
            guard let reader = archive_read_new() else {
                return .failure(ArchiveError(.readFailed, "There is no memory for reading an archive."))
            }
            defer { archive_read_free(reader) }
            do {
                return .success(try files(reader, buffer, container, limits, isWanted))
            } catch let error as ArchiveError {
                return .failure(error)
            } catch {
                return .failure(.reading(error))
            }
        }
        return try result.get()
    }

    private static func files(
        _ reader: OpaquePointer,
        _ bytes: UnsafeRawBufferPointer,
        _ container: Container,
        _ limits: ArchiveLimits,
        _ isWanted: (String) -> Bool
    ) throws -> [PackedFile] {
        switch container {
        case .tar:
            archive_read_support_format_tar(reader)
            archive_read_support_filter_gzip(reader)
            archive_read_support_filter_bzip2(reader)
            archive_read_support_filter_xz(reader)
            archive_read_support_filter_lzma(reader)
            archive_read_support_filter_zstd(reader)
        case .zip: archive_read_support_format_zip_seekable(reader)
        }
        guard archive_read_open_memory(reader, bytes.baseAddress, bytes.count) == ARCHIVE_OK else {
            throw failure(reader, .notAnArchive)
        }
        var collection = FileCollection(limits)
        var entry: OpaquePointer?
        while true {
            let status = archive_read_next_header(reader, &entry)
            if status == ARCHIVE_EOF { return collection.files }
            // A warning is about names in other alphabets, which are looked at below.
            guard status == ARCHIVE_OK || status == ARCHIVE_WARN, let entry else { throw failure(reader, .malformed) }
            try take(entry, reader, into: &collection, isWanted)
        }
    }

    private static func take(
        _ entry: OpaquePointer,
        _ reader: OpaquePointer,
        into collection: inout FileCollection,
        _ isWanted: (String) -> Bool
    ) throws {
        let name = try text(archive_entry_pathname(entry), archive_entry_pathname_utf8(entry), "name")
        guard let path = try collection.place(name) else { return }
        let isJunk = PackedFile.isJunk(path.pathParts)
        if archive_entry_hardlink(entry) != nil || archive_entry_hardlink_utf8(entry) != nil {
            let target = try text(archive_entry_hardlink(entry), archive_entry_hardlink_utf8(entry), "link")
            guard let original = try collection.place(target) else {
                throw ArchiveError(.badName, "\(path.printable): the hard link leads to the root.")
            }
            if isJunk || !isWanted(path) { return }
            guard let bytes = collection.bytes(at: original) else {
                throw ArchiveError(
                    .malformed,
                    "\(path.printable) is a hard link to \(original.printable), which does not lie before it."
                )
            }
            return try collection.add(path, bytes, mode: UInt16(truncatingIfNeeded: archive_entry_mode(entry)))
        }
        let mode = archive_entry_mode(entry)
        switch archive_entry_filetype(entry) {
        case 0o040000: try collection.addFolder(path)
        case 0o120000:
            let target = try text(archive_entry_symlink(entry), archive_entry_symlink_utf8(entry), "link")
            if !isJunk, isWanted(path) { try collection.addLink(path, to: target) }
        case 0o100000:
            let bytes = try content(of: entry, reader, path, room: collection.room) { collection.tooLarge(path) }
            guard !isJunk, isWanted(path) else { return collection.pass(over: bytes.count) }
            try collection.add(path, bytes, mode: UInt16(truncatingIfNeeded: mode))
        default:
            throw ArchiveError(.unsupported, "\(path.printable) is neither a file nor a folder nor a link.")
        }
    }

    /// Reads a file's bytes, at most `room`: also where the header lies about how many there are.
    private static func content(
        of entry: OpaquePointer,
        _ reader: OpaquePointer,
        _ path: String,
        room: Int,
        tooLarge: () -> ArchiveError
    ) throws -> [UInt8] {
        let claimed = archive_entry_size_is_set(entry) != 0 ? Int(archive_entry_size(entry)) : 0
        guard claimed >= 0, claimed <= room else { throw tooLarge() }
        guard archive_entry_is_encrypted(entry) == 0 else {
            throw ArchiveError(.unsupported, "\(path.printable) is encrypted.")
        }
        var bytes: [UInt8] = []
        // Whole megabytes are believed only once they are there.
        bytes.reserveCapacity(min(claimed, 1 << 20))
        var isAtEnd = false
        while !isAtEnd {
            let chunk = try [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
                let got = archive_read_data(reader, buffer.baseAddress, buffer.count)
                guard got >= 0 else { throw failure(reader, .malformed).inside(path) }
                count = got
            }
            guard chunk.count <= room - bytes.count else { throw tooLarge() }
            bytes += chunk
            isAtEnd = chunk.isEmpty
        }
        return bytes
    }

    /// A name as it is written, which must be UTF-8; where libarchive knows its alphabet, as it says it in UTF-8.
    private static func text(
        _ raw: UnsafePointer<CChar>?,
        _ converted: UnsafePointer<CChar>?,
        _ what: String
    ) throws(ArchiveError) -> String {
        for pointer in [converted, raw] {
            if let pointer, let text = String(validatingCString: pointer) { return text }
        }
        throw ArchiveError(.badName, "A \(what) is not written in UTF-8.")
    }

    private static func failure(_ reader: OpaquePointer, _ code: ArchiveError.Code) -> ArchiveError {
        let words = archive_error_string(reader).map { String(cString: $0).printable } ?? "no reason is given"
        return ArchiveError(code, "It cannot be unpacked: \(words).")
    }
}
