#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Small files, read and written as a whole.
package enum WholeFile {
    /// The bytes of a regular file; more than `limit` are `EFBIG`.
    package static func read(_ path: String, limit: Int) throws(FileFailure) -> [UInt8] {
        let source = try FileSource(path: path)
        guard source.count <= limit else { throw FileFailure("read", path, errorNumber: EFBIG) }
        do {
            return try source.bytes(at: 0, count: source.count)
        } catch let error as FileFailure {
            throw error
        } catch {
            throw FileFailure("read", path, errorNumber: EIO)
        }
    }

    /// Writes a file, which appears, synced, when it is whole; only its owner may read it, unless `permissions` says
    /// otherwise.
    package static func write(
        _ bytes: [UInt8],
        to path: String,
        permissions: UInt32 = 0o600
    ) throws(FileFailure) {
        let file = try NewFile(path: path, permissions: permissions)
        try file.write(bytes)
        try file.commit()
    }
}

/// Makes a folder, and those above it, where they are missing; by default for this user alone.
package func makeFolders(_ path: String, permissions: UInt32 = 0o700) throws(FileFailure) {
    var made = path.utf8.first == UInt8(ascii: "/") ? "" : "."
    for part in path.pathParts {
        made += "/" + part
        guard mkdir(made, mode_t(permissions)) != 0, errno != EEXIST else { continue }
        throw FileFailure("create", made, errorNumber: errno)
    }
}
