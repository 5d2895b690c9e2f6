#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A lock on a file of its own (`flock(2)`), so that processes change what lies beside it one after the other; let go with
/// its last reference, or with the process.
package final class FileLock: Sendable {
    /// The locked file.
    package let descriptor: Int32

    /// Waits for whoever holds it. Makes the file, for this user alone, where it is missing; its folder must exist.
    package init(waitingFor path: String) throws(FileFailure) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure("create", path, errorNumber: errno) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else {
                let number = errno
                close(descriptor)
                throw FileFailure("lock", path, errorNumber: number)
            }
        }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}
