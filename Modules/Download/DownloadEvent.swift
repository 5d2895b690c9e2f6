/// What a download tells while it runs.
///
/// Progress and ``front(bytes:)`` are state: only their latest is kept for a slow reader. All others are facts, each of
/// which arrives, in order.
public enum DownloadEvent: Sendable, Equatable {
    /// Bytes begin to come. `totalBytes` is `nil` where the server does not say; `resumedFrom` were there before.
    case started(totalBytes: Int64?, resumedFrom: Int64)
    /// How many bytes of the file are there.
    case progress(completedBytes: Int64, totalBytes: Int64?)
    /// Where the bytes lie until the file is whole, told once, before the first ``front(bytes:)``.
    ///
    /// It may be opened for reading only, by those who want to begin before the end.
    case partial(path: String)
    /// How many bytes are readable from the start of the ``partial(path:)`` without a gap. They stay as they are until
    /// ``restarted(reason:)``, after which none count.
    case front(bytes: Int64)
    /// It waits for ``Downloader/release(_:)``. Where it was not asked to, `reason` says why: the disk is full. Then it
    /// goes on by itself once there is room.
    case held(reason: String?)
    /// It goes on.
    case released
    /// Something failed that can pass. The next attempt (the `attempt`-th in a row without new bytes) begins `after`.
    case retrying(attempt: Int, after: Duration, reason: String)
    /// A source failed for good, for this `reason`; another one is asked.
    case movedOn(to: String, reason: String)
    /// What was there is of no use, so it began at the first byte again.
    case restarted(reason: String)
    /// The last event: the file is whole and at its place.
    case finished(DownloadedFile)
    /// The last event: there will be no file.
    case failed(DownloadError)
}

/// A file that arrived as a whole.
public struct DownloadedFile: Sendable, Equatable {
    /// Where it is.
    public let path: String
    /// How many bytes it has.
    public let length: Int64
    /// Its SHA-256, 32 bytes.
    public let sha256: [UInt8]
    /// Whether it is the caller's own local file, used in place and not to be deleted.
    public let isOriginal: Bool

    /// Describes the file at `path`.
    public init(path: String, length: Int64, sha256: [UInt8], isOriginal: Bool) {
        self.path = path
        self.length = length
        self.sha256 = sha256
        self.isOriginal = isOriginal
    }
}
