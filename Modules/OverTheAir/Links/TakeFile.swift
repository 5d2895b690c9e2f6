import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension FileFailure {
    var isMissing: Bool { errorNumber == ENOENT }
}

/// Gives a file a second name, or copies it where that cannot be: another disk, or a file system without such names.
func takeFile(_ path: String, to new: String) throws(FileFailure) {
    if link(path, new) == 0 { return }
    let source = try FileSource(path: path)
    let copy = try NewFile(path: new, permissions: 0o600)
    let step = 1 << 20
    do {
        for start in stride(from: 0, to: source.count, by: step) {
            try copy.write(try source.bytes(at: start, count: min(step, source.count - start)))
        }
    } catch let error as FileFailure {
        throw error
    } catch {
        throw FileFailure("read", path, errorNumber: EIO)
    }
    try copy.commit(syncs: false)
}
