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
        /// The bytes that were written.
        var present = ByteMap()
        var record: PartialRecord
        /// Which run of bytes this is: what was seen before the file was cut says nothing of what came after.
        var era = 0
        /// How far the front was when a thread was last sent to hash.
        var hashAskedBytes: Int64 = 0
        var isClosed = false
    }

    /// How many bytes of a local file are read and hashed at a time.
    static let chunkLength = 1 << 20

    let path: String
    let recordPath: String
    private let folder: String
    private let descriptor: Int32
    private let state: Guarded<State>
    private let hash = FrontHash()

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

    /// The bytes that are there.
    var present: ByteMap { state.withLock { $0.present } }

    /// Writes bytes to their place.
    ///
    /// When it throws, as many as could be written are there, and ``present`` has them.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DownloadError) {
        let (written, failure) = writeAll(bytes, to: descriptor, at: offset)
        let isBehind = state.withLock { state in
            state.present.insert(offset..<offset + Int64(written))
            let front = state.present.front
            guard front - state.hashAskedBytes >= FrontHash.stride else { return false }
            state.hashAskedBytes = front
            return true
        }
        if isBehind { hashBeside() }
        if let failure { throw DownloadError("write", path, failure) }
    }

    /// Hashes what is there without a gap, on a thread of its own.
    private func hashBeside() {
        hash.catchUpBeside {
            // What cannot be read now cannot be read at the end either, and there it is told.
            _ = try? self.hash.catchUp(self.descriptor, self.path) { self.front }
        }
    }

    /// Where the front is, in which era; `nil` once nobody wants to know.
    private var front: (bytes: Int64, era: Int)? {
        state.withLock { $0.isClosed ? nil : ($0.present.front, $0.era) }
    }

    /// Cuts the file to nothing and records which version comes now, from which source.
    func startOver(_ version: FileVersion, from source: String) throws(DownloadError) {
        try state.withLock { state throws(DownloadError) in
            // In this order: bytes of the old version must never lie beside the validator of the new one.
            guard ftruncate(descriptor, 0) == 0 else { throw DownloadError("shorten", path, errno) }
            state.era += 1
            state.present = ByteMap()
            state.hashAskedBytes = 0
            state.record.ranges = []
            state.record.isSpread = false
            state.record.version = version
            state.record.source = PartialRecord.Mark(url: source)
            try state.record.write(to: recordPath, durably: false)
        }
    }

    /// Records the version; the bytes stay.
    func record(_ version: FileVersion, from source: String) throws(DownloadError) {
        try state.withLock { state throws(DownloadError) in
            state.record.version = version
            state.record.source = PartialRecord.Mark(url: source)
            try state.record.write(to: recordPath, durably: false)
        }
    }

    /// Gives the file its whole length, for bytes that come in any order: they take room as they come.
    func spread(totalBytes: Int64) throws(DownloadError) {
        try state.withLock { state throws(DownloadError) in
            // In this order: from here on the length says nothing of what is there.
            state.record.isSpread = true
            try state.record.write(to: recordPath, durably: false)
            guard ftruncate(descriptor, off_t(totalBytes)) == 0 else { throw DownloadError("lengthen", path, errno) }
        }
    }

    /// Records whether it is held.
    func record(isHeld: Bool) throws(DownloadError) {
        try state.withLock { state throws(DownloadError) in
            state.record.isHeld = isHeld
            try state.record.write(to: recordPath, durably: false)
        }
    }

    /// Forces what is there to the disk, then records which bytes that are.
    func sync() throws(DownloadError) {
        let (present, era) = state.withLock { ($0.present, $0.era) }
        guard fdatasync(descriptor) == 0 else { throw DownloadError("sync", path, errno) }
        try state.withLock { state throws(DownloadError) in
            guard !state.isClosed, state.era == era else { return }
            var certain = ByteMap(sorted: state.record.ranges) ?? ByteMap()
            for range in present.ranges { certain.insert(range) }
            state.record.ranges = certain.ranges
            try state.record.write(to: recordPath, durably: true)
        }
    }

    /// Lets go of the file, and removes it where it is not wanted or of no use to a later download.
    func letGo(keeping: Bool) {
        let (isUseful, isHeld) = state.withLock { state in
            (!state.present.isEmpty && state.record.version.validator != nil, state.record.isHeld)
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
        guard let digest = try hash.catchUp(descriptor, path, front: { front }) else { throw .cancelled }
        let length = state.withLock { $0.present.front }
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
    /// Opens or makes the partial file of the first of these URLs and this destination, and says how much of it is good.
    ///
    /// Throws ``DownloadError/Code/partialBusy`` where somebody else has it.
    static func claim(
        in folder: String,
        sources: [String],
        destination: String,
        expectedLength: Int64?,
        named wanted: String? = nil
    ) throws(DownloadError) -> (PartialFile, DownloadCourse.Found) {
        let url = sources.first ?? ""
        let path = folder + "/" + (wanted ?? name(url: url, destination: destination)) + ".part"
        let descriptor = try openLocked(path)
        let marks = sources.map { PartialRecord.Mark(url: $0) }
        let fresh = PartialRecord(url: url, destination: destination, bootID: PartialRecord.thisBoot)
        let file = PartialFile(path: path, folder: folder, descriptor: descriptor, record: fresh)
        return (file, try file.find(fresh, marks, isNamed: wanted != nil, expectedLength: expectedLength))
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
        for attempt in 0..<16 {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
            guard descriptor >= 0 else { throw DownloadError("open", path, errno) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let number = errno
                close(descriptor)
                if number == EWOULDBLOCK {
                    // Whoever sweeps old files has it for a moment only.
                    guard attempt < 3 else { break }
                    usleep(10_000)
                    continue
                }
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

    /// Compares record and file, and cuts off what is not certain.
    ///
    /// One who gives the file a name says which download it is. Then another query is the same address: that of a signed URL
    /// changes whenever it is asked for anew, and the validator shows whether the file is still the same.
    private func find(
        _ fresh: PartialRecord,
        _ sources: [PartialRecord.Mark],
        isNamed: Bool,
        expectedLength: Int64?
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
            let isSameURL = old.url.isSame(as: fresh.url, withAnyQuery: isNamed)
            let isOurs = old.form == fresh.form && isSameURL && old.destination == fresh.destination
            guard isOurs, old.version.totalBytes ?? 0 >= 0, let certain = ByteMap(sorted: old.ranges) else {
                found.uselessBecause = "The record of the partial file is damaged."
                break
            }
            found.wasHeld = old.isHeld
            record.isHeld = old.isHeld
            let isSameBoot = !fresh.bootID.isEmpty && old.bootID == fresh.bootID
            let good = isSameBoot && !old.isSpread ? ByteMap(front: size) : certain.below(size)
            guard !good.isEmpty else { break }
            let source = sources.firstIndex { $0.isSame(as: old.source ?? old.url, withAnyQuery: isNamed) }
            found.uselessBecause =
                source == nil
                ? "The partial file came from an address that is not asked now."
                : Self.flaw(of: old, good, expectedLength)
            guard found.uselessBecause == nil else { break }
            record.version = old.version
            record.source = source.map { sources[$0] }
            record.ranges = certain.below(good.end).ranges
            found.version = old.version
            found.source = source ?? 0
            found.present = good
        }
        if size > found.present.end, ftruncate(descriptor, off_t(found.present.end)) != 0 {
            throw DownloadError("shorten", path, errno)
        }
        record.isSpread = found.present.front < found.present.end
        let (present, kept) = (found.present, record)
        state.withLock { state in
            state.record = kept
            state.present = present
        }
        if present.front >= FrontHash.stride { hashBeside() }
        return found
    }

    /// Why the bytes of this record cannot be gone on with; `nil` where they can.
    private static func flaw(
        of old: PartialRecord,
        _ good: ByteMap,
        _ expectedLength: Int64?
    ) -> String? {
        let total = old.version.totalBytes
        if old.version.validator == nil {
            return "Nothing can show that the file on the server is still the same."
        }
        if let total, let expectedLength, total != expectedLength {
            return "The partial file is of \(total) bytes, but \(expectedLength) are expected."
        }
        return good.end > total ?? expectedLength ?? .max ? "The partial file is longer than the whole." : nil
    }
}
