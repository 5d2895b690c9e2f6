import FerryBytes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What is written beside a partial file: `NAME.part.json`.
package struct PartialRecord: Codable, Equatable {
    /// The form of this record; older ones are read, too, newer ones are not.
    static let currentForm = 3
    /// The most that a record can have; more is not ours.
    static let lengthLimit = 64 << 10

    var form = currentForm
    /// The URL.
    var url: Mark
    var destination: String
    /// The address that the version is of; `nil` for ``url`` itself.
    var source: Mark?
    var version = FileVersion()
    /// Which bytes are on the disk even if the machine loses its power: they were forced there before this was written.
    var ranges: [Range<Int64>] = []
    /// Whether the partial file has gaps, so that its length says nothing.
    var isSpread = false
    /// Which run of the machine wrote this. Within the same one, what a killed process wrote is in the page cache or on
    /// the disk, so the length of a partial file without gaps counts; after another boot only ``ranges`` do.
    var bootID: String
    var isHeld = false

    /// Reads a record; `nil` where there is none, throws where it is damaged.
    package static func read(_ path: String) throws -> PartialRecord? {
        let source: FileSource
        do {
            source = try FileSource(path: path)
        } catch  where error.errorNumber == ENOENT {
            return nil
        }
        guard source.count <= lengthLimit else {
            throw OutOfBounds(offset: 0, needed: source.count, available: lengthLimit)
        }
        let record = try JSONDecoder().decode(
            PartialRecord.self,
            from: Data(try source.bytes(at: 0, count: source.count))
        )
        return record
    }

    /// Replaces the record at `path` as a whole. `durably` also against a loss of power.
    package func write(to path: String, durably: Bool) throws(DownloadError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else {
            preconditionFailure("a record of text and numbers is always JSON")
        }
        let beside = path + ".new"
        let descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw DownloadError("create", beside, errno) }
        var isDone = false
        defer {
            close(descriptor)
            if !isDone { unlink(beside) }
        }
        let (_, failure) = data.withUnsafeBytes { writeAll($0, to: descriptor, at: 0) }
        if let failure { throw DownloadError("write", beside, failure) }
        if durably, fsync(descriptor) != 0 { throw DownloadError("sync", beside, errno) }
        guard rename(beside, path) == 0 else { throw DownloadError("rename", beside, errno) }
        isDone = true
    }

    /// What a URL is known again by.
    package struct Mark: Equatable {
        /// The URL; a query, which may hold a token, is replaced by its hash.
        package let text: String

        /// Takes a URL without a name and password.
        package init(url: String) {
            guard let end = url.utf8.firstIndex(of: UInt8(ascii: "?")) else {
                text = url
                return
            }
            let hash = SHA256()
            Array(url[end...].utf8).withUnsafeBytes { hash.add($0) }
            text = url[..<end] + "?sha256:" + hash.digest().hex
        }

        init(written text: String) {
            self.text = text
        }

        /// Whether it is the same address, perhaps with another query.
        func isSame(as other: Mark, withAnyQuery: Bool) -> Bool {
            self == other || (withAnyQuery && bare == other.bare)
        }

        private var bare: Substring { text.prefix { $0 != "?" } }
    }

    /// Form 1, of downloads by one connection, had `syncedBytes` instead of ranges. Up to form 2, queries were written out.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        form = try container.decode(Int.self, forKey: .form)
        let isWrittenOut = form < 3
        func mark(_ text: String) -> Mark { isWrittenOut ? Mark(url: text) : Mark(written: text) }
        url = mark(try container.decode(String.self, forKey: .url))
        destination = try container.decode(String.self, forKey: .destination)
        source = try container.decodeIfPresent(String.self, forKey: .source).map(mark)
        version = try container.decode(FileVersion.self, forKey: .version)
        bootID = try container.decode(String.self, forKey: .bootID)
        isHeld = try container.decode(Bool.self, forKey: .isHeld)
        if form == 1 {
            let synced = try container.decode(Int64.self, forKey: .syncedBytes)
            // One below zero is kept as what it is: damage.
            ranges = synced == 0 ? [] : [min(0, synced)..<max(0, synced)]
        } else {
            ranges = try container.decode([Range<Int64>].self, forKey: .ranges)
            isSpread = try container.decode(Bool.self, forKey: .isSpread)
        }
        if form == 1 || form == 2 { form = Self.currentForm }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(form, forKey: .form)
        try container.encode(url.text, forKey: .url)
        try container.encode(destination, forKey: .destination)
        try container.encodeIfPresent(source?.text, forKey: .source)
        try container.encode(version, forKey: .version)
        try container.encode(ranges, forKey: .ranges)
        try container.encode(isSpread, forKey: .isSpread)
        try container.encode(bootID, forKey: .bootID)
        try container.encode(isHeld, forKey: .isHeld)
    }

    private enum CodingKeys: String, CodingKey {
        case form, url, destination, source, version, ranges, isSpread, bootID, isHeld, syncedBytes
    }

    /// A new record of this machine's present run.
    package init(url: String, destination: String, bootID: String) {
        self.url = Mark(url: url)
        self.destination = destination
        self.bootID = bootID
    }

    /// Names this run of the machine.
    static let thisBoot: String = {
        guard let source = try? PseudoFile.contents("/proc/sys/kernel/random/boot_id") else { return "" }
        return source.trimmed
    }()
}

/// Writes all bytes, and says how many were written and the error number that ended it, if any.
func writeAll(
    _ bytes: UnsafeRawBufferPointer,
    to descriptor: Int32,
    at offset: Int64
) -> (written: Int, failure: Int32?) {
    var done = 0
    while done < bytes.count, let base = bytes.baseAddress {
        let count = pwrite(descriptor, base + done, bytes.count - done, off_t(offset) + off_t(done))
        if count < 0 {
            if errno == EINTR { continue }
            return (done, errno)
        }
        done += count
    }
    return (done, nil)
}

/// A file of the kernel's, whose length is said to be zero.
private enum PseudoFile {
    static func contents(_ path: String) throws(DownloadError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DownloadError("open", path, errno) }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { throw DownloadError("read", path, errno) }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}
