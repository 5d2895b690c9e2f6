import CKernel
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A hidden folder in which an app is unpacked, gone with the last reference unless it was put in place.
///
/// It is locked while its process lives, so that others can tell what a killed one left.
final class WorkFolder {
    private static let prefix = ".ferry-"
    private static let asidePrefix = ".ferry-aside-"

    let path: String
    private let lock: Int32

    /// Makes a new one in `folder`.
    init(in folder: String) throws(FileFailure) {
        // Whoever sweeps meanwhile sees by this lock that a folder without one may be about to get it.
        let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if parent >= 0 { close(parent) } }
        // A sweep has it for an instant. Somebody else's may last, and keeps sweeps from taking what is young.
        var tries = 50
        while parent >= 0, tries > 0, flock(parent, LOCK_SH | LOCK_NB) != 0 {
            tries -= 1
            usleep(1_000)
        }
        path = folder + "/" + Self.prefix + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        guard mkdir(path, 0o700) == 0 else { throw FileFailure("write to", folder, errorNumber: errno) }
        lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else {
            let number = errno
            rmdir(path)
            throw FileFailure("open", path, errorNumber: number)
        }
        // A sweep may hold the lock for an instant, to see that the folder is young: so this waits.
        while flock(lock, LOCK_EX) != 0, errno == EINTR {}
        // Until here the mode says that the folder is about to be locked; later only the lock counts.
        chmod(path, 0o755)
    }

    deinit {
        Self.remove(path)
        close(lock)
    }

    /// Syncs everything, and puts the folder at `place`; says whether one was there before, which goes then.
    func put(at place: String) throws(FileFailure) -> Bool {
        #if os(Linux)
        guard syncfs(lock) == 0 else { throw FileFailure("write", path, errorNumber: errno) }
        #else
        sync()
        #endif
        defer { NewFile.syncFolder(of: place) }
        // Another process may put its own there, or take it away, between a look and a rename: then look again.
        for _ in 0..<3 {
            var status = stat()
            if lstat(place, &status) == 0 {
                if try exchange(with: place) { return true }
            } else if rename(path, place) == 0 {
                return false
            } else if errno != EEXIST, errno != ENOTEMPTY {
                throw FileFailure("create", place, errorNumber: errno)
            }
        }
        throw FileFailure("replace", place, errorNumber: EBUSY)
    }

    /// Puts the folder in the place of the old one, which is at ``path`` then and goes with this object; `false` where
    /// the old one is gone meanwhile.
    private func exchange(with place: String) throws(FileFailure) -> Bool {
        #if os(Linux)
        if renameat2(AT_FDCWD, path, AT_FDCWD, place, ferry_rename_exchange) == 0 { return true }
        if errno == ENOENT { return false }
        guard errno == EINVAL || errno == ENOSYS else { throw FileFailure("replace", place, errorNumber: errno) }
        #endif
        // Without an exchange there is an instant without either. The old one stands aside under a name that says where
        // it belongs: after a kill in this instant the next install puts it back.
        let parent = String(
            decoding: place.utf8.prefix(place.utf8.count - (place.pathParts.last ?? "").utf8.count),
            as: UTF8.self
        )
        let aside = parent + Self.asidePrefix + (place.pathParts.last ?? "")
        guard rename(place, aside) == 0 else {
            if errno == ENOENT { return false }
            throw FileFailure("replace", place, errorNumber: errno)
        }
        guard rename(path, place) == 0 else {
            let number = errno
            rename(aside, place)
            throw FileFailure("replace", place, errorNumber: number)
        }
        Self.remove(aside)
        return true
    }

    /// Removes what killed processes left in `folder`.
    static func sweep(in folder: String) {
        let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if parent >= 0 { close(parent) } }
        // Then nobody is between making a folder and locking it. Where it cannot be had, the mode and the age tell.
        let isAlone = parent >= 0 && flock(parent, LOCK_EX | LOCK_NB) == 0
        var dead: [(path: String, descriptor: Int32)] = []
        for name in names(in: folder) where name.hasPrefix(prefix) {
            let path = folder + "/" + name
            if name.hasPrefix(asidePrefix) {
                // Fails where there is a new version, and then the old one may go.
                if rename(path, folder + "/" + name.dropping(asidePrefix)) != 0 { remove(path) }
                continue
            }
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                var status = stat()
                // Mode 0700 is a folder that its process is about to lock.
                let isYoung =
                    !isAlone && fstat(descriptor, &status) == 0 && status.st_mode & 0o777 == 0o700
                    && time(nil) - time_t(status.st_mtim.tv_sec) < 60
                if !isYoung {
                    dead.append((path, descriptor))
                    continue
                }
            }
            close(descriptor)
        }
        // Others may make theirs while these are removed, which takes its time.
        if isAlone { flock(parent, LOCK_UN) }
        for folder in dead {
            remove(folder.path)
            close(folder.descriptor)
        }
    }

    private static func names(in folder: String) -> [String] { (try? folderNames(folder)) ?? [] }

    /// Removes a file, or a folder with all in it; follows no link.
    private static func remove(_ path: String) {
        if unlink(path) == 0 || errno == ENOENT { return }
        for name in names(in: path) {
            remove(path + "/" + name)
        }
        rmdir(path)
    }
}
