import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The bytes of a file that is not whole yet, the record beside them, and the lock that keeps others away.
///
/// The lock is on the `.part` file itself, which is never replaced: the record is, each time it is written. A process
/// that dies loses it. Every method may be called from any thread.
final class PartialFile: Sendable {
    private struct State {
        let hash = SHA256()
        var length: Int64 = 0
        var record: PartialRecord
        /// Which run of bytes this is: a sync that began before the file was cut says nothing of what came after.
        var era = 0
        var isClosed = false
    }

    /// How many bytes are read and hashed at a time.
    static let chunkLength = 1 << 20

    let path: String
    let recordPath: String
    private let folder: String
    private let descriptor: Int32
    private let state: Guarded<State>

    /// Takes over an open and locked file.
    private init(path: String, folder: String, descriptor: Int32, record: PartialRecord) {
        self.path = path
        self.folder = folder
        self.descriptor = descriptor
        recordPath = path + ".json"
        state = Guarded(State(record: record))
    }

    deinit {
        close(descriptor)
    }

    /// How many bytes are there.
    var length: Int64 { state.withLock { $0.length } }

    /// Adds bytes at the end.
    ///
    /// When it throws, as many as could be written are there, and ``length`` counts them.
    func append(_ bytes: UnsafeRawBufferPointer) throws(DownloadError) {
        let failure = state.withLock { state in
            let (written, failure) = writeAll(bytes, to: descriptor, at: state.length)
            state.hash.add(UnsafeRawBufferPointer(rebasing: bytes.prefix(written)))
            state.length += Int64(written)
            return failure
        }
        if let failure { throw DownloadError("write", path, failure) }
    }

    /// Cuts the file to nothing and records which version comes now.
    func startOver(_ version: FileVersion) throws(DownloadError) {
        try state.withLock { state throws(DownloadError) in
            // In this order: bytes of the old version must never lie beside the validator of the new one.
            guard ftruncate(descriptor, 0) == 0 else { throw DownloadError("shorten", path, errno) }
            state.era += 1
            state.length = 0
            state.hash.restart()
            state.record.syncedBytes = 0
            state.record.version = version
            try state.record.write(to: recordPath, durably: false)
        }
    }

    /// Records the version; the bytes stay.
    func record(_ version: FileVersion) throws(DownloadError) {
        try state.withLock { state throws(DownloadError) in
            state.record.version = version
            try state.record.write(to: recordPath, durably: false)
        }
    }

    /// Records whether it is held.
    func record(isHeld: Bool) throws(DownloadError) {
        try state.withLock { state throws(DownloadError) in
            state.record.isHeld = isHeld
            try state.record.write(to: recordPath, durably: false)
        }
    }

    /// Forces what is there to the disk, then records how much that is.
    func sync() throws(DownloadError) {
        let (length, era) = state.withLock { ($0.length, $0.era) }
        guard fdatasync(descriptor) == 0 else { throw DownloadError("sync", path, errno) }
        try state.withLock { state throws(DownloadError) in
            guard !state.isClosed, state.era == era else { return }
            state.record.syncedBytes = max(state.record.syncedBytes, length)
            try state.record.write(to: recordPath, durably: true)
        }
    }

    /// Lets go of the file, and removes it where it is not wanted or of no use to a later download.
    func letGo(keeping: Bool) {
        let (isUseful, isHeld) = state.withLock { state in
            (state.length > 0 && state.record.version.validator != nil, state.record.isHeld)
        }
        let keeps = keeping && (isUseful || isHeld)
        if keeps {
            // What could not be forced to the disk is recorded as such, and fetched again after a loss of power.
            try? sync()
        }
        state.withLock { state in
            state.isClosed = true
            if !keeps {
                unlink(recordPath)
                unlink(path)
            }
            flock(descriptor, LOCK_UN)
        }
    }

    /// Checks the whole file and moves it to `destination`; then there is no partial file any more.
    func seal(
        as destination: String,
        expectedLength: Int64?,
        sha256 expected: [UInt8]?,
        source: String
    ) throws(DownloadError) -> DownloadedFile {
        let (length, digest) = state.withLock { ($0.length, $0.hash.digest()) }
        try check(length: length, digest: digest, expectedLength: expectedLength, sha256: expected, source: source)
        guard fsync(descriptor) == 0 else { throw DownloadError("sync", path, errno) }
        if rename(path, destination) != 0 {
            guard errno == EXDEV else { throw DownloadError("put the finished file here", destination, errno) }
            try copyFile(
                from: descriptor,
                length: length,
                to: destination,
                beside: destination + "." + path.dropFirst(folder.utf8.count + 1)
            )
            unlink(path)
        }
        state.withLock { state in
            // Under the lock, or a sync that is still under way would write the record again.
            state.isClosed = true
            unlink(recordPath)
            flock(descriptor, LOCK_UN)
        }
        // The file is whole and at its place. A folder that cannot be synced risks its name in a loss of power only.
        try? syncFolder(of: destination)
        try? syncFolder(of: path)
        return DownloadedFile(path: destination, length: length, sha256: digest, isOriginal: false)
    }
}

extension PartialFile {
    /// Opens or makes the partial file of this URL and destination, and says how much of it is good.
    ///
    /// Throws ``DownloadError/Code/partialBusy`` where somebody else has it.
    static func claim(
        in folder: String,
        url: String,
        destination: String,
        expectedLength: Int64?,
        named wanted: String? = nil,
        isAbandoned: () -> Bool
    ) throws(DownloadError) -> (PartialFile, DownloadCourse.Found) {
        let path = folder + "/" + (wanted ?? name(url: url, destination: destination)) + ".part"
        let descriptor = try openLocked(path)
        let fresh = PartialRecord(url: url, destination: destination, bootID: PartialRecord.thisBoot)
        let file = PartialFile(path: path, folder: folder, descriptor: descriptor, record: fresh)
        let found = try file.find(fresh, expectedLength: expectedLength, isAbandoned: isAbandoned)
        return (file, found)
    }

    /// The name is ours alone: nothing that a server says is in it.
    static func name(url: String, destination: String) -> String {
        let hash = SHA256()
        for text in [url, "\0", destination] {
            Array(text.utf8).withUnsafeBytes { hash.add($0) }
        }
        return hash.digest().prefix(16).hex
    }

    private static func openLocked(_ path: String) throws(DownloadError) -> Int32 {
        // Whoever had the lock may have moved the file to its destination between our open and our lock.
        for _ in 0..<16 {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
            guard descriptor >= 0 else { throw DownloadError("open", path, errno) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let number = errno
                close(descriptor)
                if number == EWOULDBLOCK { break }
                throw DownloadError("lock", path, number)
            }
            var ours = stat()
            var there = stat()
            if fstat(descriptor, &ours) == 0, lstat(path, &there) == 0, ours.st_ino == there.st_ino,
                ours.st_dev == there.st_dev
            {
                guard ours.st_mode & S_IFMT == S_IFREG else {
                    close(descriptor)
                    throw DownloadError("write", path, EINVAL)
                }
                return descriptor
            }
            close(descriptor)
        }
        throw DownloadError(
            .partialBusy,
            "\(path): another download is writing this file.",
            remedy: "The same URL is being fetched to the same place; wait for that download, or stop it."
        )
    }

    /// Compares record and file, cuts off what is not certain, and hashes the rest.
    private func find(
        _ fresh: PartialRecord,
        expectedLength: Int64?,
        isAbandoned: () -> Bool
    ) throws(DownloadError) -> DownloadCourse.Found {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw DownloadError("examine", path, errno) }
        let size = Int64(status.st_size)
        var found = DownloadCourse.Found()
        var record = fresh
        switch Result(catching: { try PartialRecord.read(recordPath) }) {
        case .failure:
            found.uselessBecause = "The record of the partial file is damaged."
        case .success(nil):
            found.uselessBecause = size > 0 ? "The partial file has no record." : nil
        case .success(let old?):
            let isOurs = old.form == fresh.form && old.url == fresh.url && old.destination == fresh.destination
            let isSound = old.syncedBytes >= 0 && old.version.totalBytes ?? 0 >= 0
            guard isOurs, isSound else {
                found.uselessBecause = "The record of the partial file is damaged."
                break
            }
            found.wasHeld = old.isHeld
            record.isHeld = old.isHeld
            let isSameBoot = !fresh.bootID.isEmpty && old.bootID == fresh.bootID
            let good = isSameBoot ? size : min(size, old.syncedBytes)
            guard good > 0 else { break }
            let total = old.version.totalBytes
            if old.version.validator == nil {
                found.uselessBecause = "Nothing can show that the file on the server is still the same."
            } else if let total, let expectedLength, total != expectedLength {
                found.uselessBecause = "The partial file is of \(total) bytes, but \(expectedLength) are expected."
            } else if good > total ?? expectedLength ?? .max {
                found.uselessBecause = "The partial file is longer than the whole."
            } else {
                record.version = old.version
                record.syncedBytes = min(old.syncedBytes, good)
                found.version = old.version
                found.completedBytes = good
            }
        }
        if size > found.completedBytes, ftruncate(descriptor, off_t(found.completedBytes)) != 0 {
            throw DownloadError("shorten", path, errno)
        }
        let length = found.completedBytes
        try state.withLock { state throws(DownloadError) in
            state.record = record
            state.length = length
            try hashFile(descriptor, path, length: length, isAbandoned: isAbandoned) { state.hash.add($0) }
        }
        return found
    }
}
