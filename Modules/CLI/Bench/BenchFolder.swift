import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A folder for what a benchmark writes; gone with the last reference, and all that is in it.
///
/// In memory where the system has such a place, so that the disk is not what is measured.
final class BenchFolder: Sendable {
    private let folder: String

    init() throws(FileFailure) {
        let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        folder = base + "/ferry-bench-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        guard mkdir(folder, 0o700) == 0 else { throw FileFailure("create", folder, errorNumber: errno) }
    }

    deinit {
        removeTree(folder)
    }

    /// A file in it.
    func path(_ name: String) -> String { folder + "/" + name }
}

/// Removes a folder of ours with all that is in it.
private func removeTree(_ path: String) {
    for name in (try? folderNames(path)) ?? [] where unlink(path + "/" + name) != 0 {
        removeTree(path + "/" + name)
    }
    rmdir(path)
}
