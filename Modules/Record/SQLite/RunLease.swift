import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Says that a process lives: a lock on a file of its own (`flock(2)`), which goes with the process however it ends.
///
/// Installs name the file of the process that runs them. Its name is random, so that no later process, whatever its
/// number, is taken for it; and its lock, not its being there, is what counts.
final class RunLease: Sendable {
    let name: String
    private let path: String
    private let descriptor: Int32

    /// Makes and locks a file in `folder`.
    init(in folder: String) throws(RecordError) {
        while true {
            let name = String(UInt64.random(in: 0...UInt64.max), radix: 36)
            let path = folder + "/" + name
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                if errno == EEXIST { continue }
                throw RecordError(FileFailure("create", path, errorNumber: errno))
            }
            // Whoever tidies up may hold it for an instant, and remove it for want of a lock: then another one.
            while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
            var ours = stat()
            var there = stat()
            if fstat(descriptor, &ours) == 0, stat(path, &there) == 0, ours.st_ino == there.st_ino {
                self.name = name
                self.path = path
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
    }

    deinit {
        unlink(path)
        close(descriptor)
    }

    /// Whether the process of that lease lives.
    static func isAlive(_ name: String, in folder: String) -> Bool {
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else { return false }
        let (descriptor, isLocked) = probe(folder + "/" + name)
        if descriptor >= 0 { close(descriptor) }
        return isLocked
    }

    /// Removes the files of processes that have ended.
    static func sweep(_ folder: String) {
        for name in (try? folderNames(folder)) ?? [] {
            let (descriptor, isLocked) = probe(folder + "/" + name)
            guard descriptor >= 0 else { continue }
            // Before it is unlocked, or a process that has just made it would take it for its own.
            if !isLocked { unlink(folder + "/" + name) }
            close(descriptor)
        }
    }

    /// Opens a lease's file and says whether somebody else has it locked; if not, it is ours until it is closed.
    private static func probe(_ path: String) -> (descriptor: Int32, isLocked: Bool) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return (descriptor, false) }
        // Shared, so that two who look do not take each other for the process.
        return (descriptor, flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    }
}
