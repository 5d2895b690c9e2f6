import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads the first `length` bytes of an open file, a piece at a time; stops early, without an error, when abandoned.
func hashFile(
    _ descriptor: Int32,
    _ path: String,
    length: Int64,
    isAbandoned: () -> Bool,
    _ use: (UnsafeRawBufferPointer) throws(DownloadError) -> Void
) throws(DownloadError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: PartialFile.chunkLength, alignment: 4096)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while offset < length, !isAbandoned() {
        let wanted = Int(min(Int64(buffer.count), length - offset))
        let count = pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
        if count < 0 {
            if errno == EINTR { continue }
            throw DownloadError("read", path, errno)
        }
        guard count > 0 else {
            throw DownloadError(
                .file,
                "\(path): the file became shorter while it was read: \(length) bytes were there, now \(offset) are.",
                remedy: "Start again when nobody else writes to it."
            )
        }
        try use(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        offset += Int64(count)
    }
}

/// Compares a whole file with what was expected of it; `source` is what a message calls it.
func check(
    length: Int64,
    digest: [UInt8],
    expectedLength: Int64?,
    sha256: [UInt8]?,
    source: String
) throws(DownloadError) {
    if let expectedLength, expectedLength != length {
        throw DownloadError(
            .lengthMismatch,
            "\(source): \(expectedLength) bytes were expected, but the file has \(length).",
            remedy: "The file is another one; check where the expected length comes from."
        )
    }
    if let sha256, sha256 != digest {
        throw DownloadError(
            .checksumMismatch,
            "\(source): the SHA-256 \(sha256.hex) was expected, but the file has \(digest.hex).",
            remedy: "Do not use this file. Check where the checksum comes from, then download again."
        )
    }
}

/// Copies an open file to `destination`: written to `beside` in the same folder, forced to the disk, renamed.
func copyFile(
    from descriptor: Int32,
    length: Int64,
    to destination: String,
    beside: String,
    isAbandoned: () -> Bool = { false },
    _ seen: (UnsafeRawBufferPointer) -> Void = { _ in }
) throws(DownloadError) {
    let copy = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard copy >= 0 else { throw DownloadError("create", beside, errno) }
    var isDone = false
    defer {
        close(copy)
        if !isDone { unlink(beside) }
    }
    var offset: Int64 = 0
    try hashFile(descriptor, destination, length: length, isAbandoned: isAbandoned) { bytes throws(DownloadError) in
        let (written, failure) = writeAll(bytes, to: copy, at: offset)
        if let failure { throw DownloadError("write", beside, failure) }
        offset += Int64(written)
        seen(bytes)
    }
    guard offset == length else { throw .cancelled }
    guard fsync(copy) == 0 else { throw DownloadError("sync", beside, errno) }
    guard rename(beside, destination) == 0 else {
        throw DownloadError("put the finished file here", destination, errno)
    }
    isDone = true
}

/// Forces to the disk that a file of this name is in its folder.
func syncFolder(of path: String) throws(DownloadError) {
    let folder = parent(of: path)
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw DownloadError("open", folder, errno) }
    defer { close(descriptor) }
    // Some file systems cannot sync a folder and say so; they have nothing to lose by it.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw DownloadError("sync", folder, errno) }
}

/// The folder that a path's last name is in.
func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// Makes a folder and those above it where they are missing; new ones are for the owner alone.
func makeFolder(_ path: String) throws(DownloadError) {
    var status = stat()
    if stat(path, &status) == 0 {
        guard status.st_mode & S_IFMT == S_IFDIR else { throw DownloadError("use as a folder", path, ENOTDIR) }
        return
    }
    let above = parent(of: path)
    if above != path, above != "." { try makeFolder(above) }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw DownloadError("create", path, errno) }
}

/// Refuses a destination where no file can be made, before anything is fetched.
func checkDestination(_ path: String) throws(DownloadError) {
    let folder = parent(of: path)
    var status = stat()
    guard !path.isEmpty, !path.utf8.contains(0), stat(folder, &status) == 0 else {
        throw DownloadError("find the folder for the file", path, errno == 0 ? EINVAL : errno)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw DownloadError("use as a folder", folder, ENOTDIR) }
    guard access(folder, W_OK | X_OK) == 0 else { throw DownloadError("write into", folder, errno) }
    if path.hasSuffix("/") { throw DownloadError("replace", path, EISDIR) }
    do throws(FileFailure) {
        try NewFile.checkPlace(path)
    } catch {
        throw DownloadError(error)
    }
}

/// Refuses a file for which there is no room; what is `there` already has its room.
func checkRoom(for total: Int64, there: Int64, spare: Int64, partial: String, destination: String) throws(DownloadError)
{
    var places = [(path: partial, needed: total - there)]
    var one = stat()
    var other = stat()
    if stat(partial, &one) == 0, stat(parent(of: destination), &other) == 0, one.st_dev != other.st_dev {
        places.append((parent(of: destination), total))
    }
    for (path, needed) in places {
        guard needed > 0, let free = freeBytes(at: path), free - spare < needed else { continue }
        throw DownloadError(
            .diskFull,
            "\(path): the file needs \(needed) more bytes, but only \(free) are free on its disk"
                + (spare > 0 ? ", \(spare) of which are to stay free." : "."),
            remedy: "Make room on the disk and start the download again; it goes on where it stopped."
        )
    }
}

/// How many bytes are free on the disk of this path; `nil` where it does not say.
func freeBytes(at path: String) -> Int64? {
    var room = statvfs()
    guard statvfs(path, &room) == 0 else { return nil }
    let (bytes, overflow) = UInt64(room.f_bavail).multipliedReportingOverflow(by: UInt64(room.f_frsize))
    return overflow ? .max : Int64(clamping: bytes)
}

/// The path from the root on, so that the same place has the same name whatever the working folder is later.
func absolutePath(_ path: String) throws(DownloadError) -> String {
    if path.hasPrefix("/") { return path }
    guard let folder = getcwd(nil, 0) else { throw DownloadError("find the working folder of", path, errno) }
    defer { free(folder) }
    return String(cString: folder) + "/" + path
}
