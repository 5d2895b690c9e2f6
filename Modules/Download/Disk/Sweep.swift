import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Removes partial files that are too old, and the oldest of those that take too much room together.
///
/// Never one that is in use: whoever writes a partial file has its lock. What cannot be read or removed is left.
func sweepPartials(in configuration: DownloadConfiguration) {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    var files = partials(in: configuration.stateFolder)
    let limit = Int(configuration.partialAgeLimit.components.seconds)
    files.removeAll { file in
        Int(now.tv_sec) - file.modified > limit && remove(file.path)
    }
    var total = files.reduce(0) { $0 + $1.bytes }
    for file in files.sorted(by: { $0.modified < $1.modified }) where total > configuration.partialBytesLimit {
        if remove(file.path) { total -= file.bytes }
    }
}

private struct Partial {
    var path: String
    /// Seconds since 1970.
    var modified: Int
    /// What it takes on the disk, which is less than its length while it has gaps.
    var bytes: Int64
}

private func partials(in folder: String) -> [Partial] {
    guard let names = try? folderNames(folder) else { return [] }
    return names.compactMap { name in
        guard name.hasSuffix(".part") else { return nil }
        let path = folder + "/" + name
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Partial(path: path, modified: status.modified.tv_sec, bytes: Int64(status.st_blocks) * 512)
    }
}

/// Removes one and its record, unless somebody has it.
private func remove(_ path: String) -> Bool {
    let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
    // The record first: a partial file without one is of no use, a record without a file is no harm either.
    unlink(path + ".json")
    return unlink(path) == 0
}
