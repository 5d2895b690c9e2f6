import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Writes a small file, which appears when it is whole; only its owner may read it, unless `permissions` says otherwise.
func writeFile(_ bytes: [UInt8], to path: String, permissions: UInt32 = 0o600) throws(FileFailure) {
    let file = try NewFile(path: path, permissions: permissions)
    var done = 0
    while done < bytes.count {
        let wrote = bytes[done...].withUnsafeBytes { write(file.descriptor, $0.baseAddress, $0.count) }
        if wrote < 0 {
            if errno == EINTR { continue }
            throw FileFailure("write", path, errorNumber: errno)
        }
        done += wrote
    }
    try file.commit()
}
