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
    /// The form of this record; another one is not read.
    static let currentForm = 1
    /// The most that a record can have; more is not ours.
    static let lengthLimit = 64 << 10

    var form = currentForm
    /// The URL without a user name and password.
    var url: String
    var destination: String
    var version = FileVersion()
    /// How many bytes are on the disk even if the machine loses its power.
    var syncedBytes: Int64 = 0
    /// Which run of the machine wrote this. Within the same one, what a killed process wrote is in the page cache or on
    /// the disk, so the partial file's own length counts; after another boot only ``syncedBytes`` does.
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
        defer { close(descriptor) }
        let (_, failure) = data.withUnsafeBytes { writeAll($0, to: descriptor, at: 0) }
        if let failure { throw DownloadError("write", beside, failure) }
        if durably, fsync(descriptor) != 0 { throw DownloadError("sync", beside, errno) }
        guard rename(beside, path) == 0 else { throw DownloadError("rename", beside, errno) }
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
