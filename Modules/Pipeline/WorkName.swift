import FerryBytes
import FerryCodeSignature

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A name in the work folder that no other install has, of this process or another, until it is given up.
///
/// The same source gets the same name in the next process, so that its download goes on. A lock on `NAME.lock` (`flock(2)`)
/// keeps it, which ends with the process: after a kill the name is free again.
struct WorkName: Sendable {
    /// The path without an extension.
    let path: String
    private let descriptor: Int32

    /// Claims the first of NAME, NAME-2, NAME-3 and so on that is free.
    init(for source: String, in folder: String) throws(FileFailure) {
        let base = folder + "/" + HashAlgorithm.sha256.digest(Array(source.utf8)).prefix(16).hex
        var path = base
        var number = 1
        while true {
            if let descriptor = try Self.lock(path + ".lock") {
                self.path = path
                self.descriptor = descriptor
                return
            }
            number += 1
            path = base + "-\(number)"
        }
    }

    /// Lets others have it.
    func giveUp() {
        // While it is locked, so that nobody's else is removed.
        removeFile(path + ".lock")
        close(descriptor)
    }

    /// Opens and locks a file; `nil` where somebody else has it.
    private static func lock(_ path: String) throws(FileFailure) -> Int32? {
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw FileFailure("create", path, errorNumber: errno) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let number = errno
                close(descriptor)
                if number == EINTR { continue }
                if number == EWOULDBLOCK { return nil }
                throw FileFailure("lock", path, errorNumber: number)
            }
            // Whoever had it may have removed it between the two calls, and then it is a lock on nothing.
            var ours = stat()
            var there = stat()
            if fstat(descriptor, &ours) == 0, stat(path, &there) == 0, ours.st_ino == there.st_ino {
                return descriptor
            }
            close(descriptor)
        }
    }
}
