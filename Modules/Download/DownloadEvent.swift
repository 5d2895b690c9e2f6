/// What a download tells while it runs.
///
/// Progress is state: only its latest is kept for a slow reader. All others are facts, each of which arrives, in order.
public enum DownloadEvent: Sendable, Equatable {
    /// Bytes begin to come. `totalBytes` is `nil` where the server does not say; `resumedFrom` were there before.
    case started(totalBytes: Int64?, resumedFrom: Int64)
    /// How many bytes of the file are there.
    case progress(completedBytes: Int64, totalBytes: Int64?)
    /// It waits for ``Downloader/release(_:)``.
    case held
    /// It goes on.
    case released
    /// Something failed that can pass. The next attempt (the `attempt`-th in a row without new bytes) begins `after`.
    case retrying(attempt: Int, after: Duration, reason: String)
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
