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
    private static let pieceBytes = 1 << 20

    /// What a file can be known by again; `nil` where it cannot be read.
    static func describe(_ path: String) async -> RecordedFile? {
        await withCheckedContinuation { continuation in
            let thread = startThread {
                continuation.resume(returning: try? read(path))
            }
            guard let thread else {
                continuation.resume(returning: nil)
                return
            }
            pthread_detach(thread)
        }
    }

    /// Whether a file is there still, every byte of it.
    static func isThere(_ file: RecordedFile) async -> Bool {
        var status = stat()
        guard stat(file.path, &status) == 0, Int64(status.st_size) == file.byteCount else { return false }
        guard let found = await describe(file.path) else { return false }
        return found.byteCount == file.byteCount && found.sha256 == file.sha256
    }

    private static func read(_ path: String) throws -> RecordedFile {
        let source = try FileSource(path: path)
        let digester = Digester(.sha256)
        var buffer = [UInt8](repeating: 0, count: min(pieceBytes, max(1, source.count)))
        var offset = 0
        while offset < source.count {
            let count = min(buffer.count, source.count - offset)
            try buffer.withUnsafeMutableBytes { bytes in
                let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
                try source.read(at: offset, into: piece)
                digester.update(UnsafeRawBufferPointer(piece))
            }
            offset += count
        }
        return RecordedFile(path: path, byteCount: Int64(source.count), sha256: digester.finish())
    }
}
