import CKernel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file that comes to be at once or not at all: written without a name, synced, then put in place.
///
/// On Linux the file has no name until ``commit()`` (`O_TMPFILE`), so even a kill leaves nothing behind; elsewhere, and
/// on file systems that cannot do that, it is a hidden file beside the target that goes with the last reference.
public final class NewFile: Sendable {
    /// Where the file will be.
    public let path: String
    /// The open file, for reading and writing; owned by this object.
    public let descriptor: Int32
    /// The hidden file's path; `nil` while the file has no name.
    private let hidden: String?

    /// Opens a new file for `path`, whose folder must exist; throws ``FileFailure``.
    ///
    /// What cannot be replaced is refused now, not only when all the work is done.
    public init(path: String, permissions: UInt32 = 0o644) throws(FileFailure) {
        self.path = path
        try Self.checkPlace(path)
        let folder = Self.folder(of: path)
        #if os(Linux)
        let unnamed = open(folder, ferry_O_TMPFILE | O_RDWR | O_CLOEXEC, mode_t(permissions))
        if unnamed >= 0 {
            descriptor = unnamed
            hidden = nil
            return
        }
        guard errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL else {
            throw FileFailure("create", path, errorNumber: errno)
        }
        #endif
        let name = Self.hiddenPath(beside: path)
        let opened = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(permissions))
        guard opened >= 0 else { throw FileFailure("create", path, errorNumber: errno) }
        descriptor = opened
        hidden = name
    }

    deinit {
        if let hidden {
            // After a commit the name is gone already, and this finds nothing.
            unlink(hidden)
        }
        close(descriptor)
    }

    /// Appends bytes; throws ``FileFailure``.
    public func write(_ bytes: [UInt8]) throws(FileFailure) {
        var done = 0
        while done < bytes.count {
            let wrote = bytes[done...].withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if wrote < 0 {
                if errno == EINTR { continue }
                throw FileFailure("write", path, errorNumber: errno)
            }
            done += wrote
        }
    }

    /// Syncs the file and puts it in place of whatever is at ``path``; throws ``FileFailure``, and then nothing changed.
    ///
    /// - Parameter syncs: whether it is to outlive a machine that stops; not worth its time for what can be had again.
    public func commit(syncs: Bool = true) throws(FileFailure) {
        guard !syncs || fsync(descriptor) == 0 else { throw FileFailure("write", path, errorNumber: errno) }
        let name = hidden ?? Self.hiddenPath(beside: path)
        if hidden == nil {
            guard linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 else {
                throw FileFailure("create", path, errorNumber: errno)
            }
        }
        guard rename(name, path) == 0 else {
            let number = errno
            unlink(name)
            throw FileFailure("replace", path, errorNumber: number)
        }
        if syncs { Self.syncFolder(of: path) }
    }

    /// Refuses a place with anything but a regular file in it: a folder, or a device, pipe or socket, which a rename
    /// would do away with for everybody (`-o /dev/null`, as root).
    public static func checkPlace(_ path: String) throws(FileFailure) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        if status.st_mode & S_IFMT == S_IFDIR {
            throw FileFailure("replace", path, errorNumber: EISDIR)
        }
        // Among the devices there are links too, such as /dev/stdout.
        guard status.st_mode & S_IFMT == S_IFREG, folder(of: path) != "/dev" else {
            throw FileFailure("replace what is no regular file", path, errorNumber: EOPNOTSUPP)
        }
    }

    /// Makes a rename in the folder of `path` last; file systems that cannot are left alone.
    public static func syncFolder(of path: String) {
        let opened = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { return }
        fsync(opened)
        close(opened)
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func hiddenPath(beside path: String) -> String {
        let name = path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]
        let random = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        // A file name may have 255 bytes.
        return folder(of: path) + "/." + String(decoding: name.utf8.prefix(200), as: UTF8.self) + ".\(random).new"
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
