import FerryBytes
import FerryCodeSignature
import FerryRecord

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Files by their length and SHA-256, read on a thread of their own.
enum FileCheck {
    /// What a file can be known by again; `nil` where it cannot be read.
    static func describe(_ path: String) async -> RecordedFile? {
        try? await onOwnThread(orElse: CancellationError()) {
            let source = try FileSource(path: path)
            let digest = try HashAlgorithm.sha256.digest(of: source)
            return RecordedFile(path: path, byteCount: Int64(source.count), sha256: digest)
        }
    }

    /// Whether a file is there still, every byte of it.
    static func isThere(_ file: RecordedFile) async -> Bool {
        var status = stat()
        guard stat(file.path, &status) == 0, Int64(status.st_size) == file.byteCount else { return false }
        guard let found = await describe(file.path) else { return false }
        return found.byteCount == file.byteCount && found.sha256 == file.sha256
    }
}
