/// How a ``Downloader`` works: where it keeps partial files, how patient it is, and which clock it waits by.
public struct DownloadConfiguration: Sendable {
    /// Where partial files and their records lie; made when it is missing. Two processes may share it.
    public var stateFolder: String
    /// The `User-Agent` that servers see.
    public var userAgent = "ferry"
    /// How long a connection may take to come about.
    public var connectTimeout: Duration = .seconds(20)
    /// How long a server may send nothing before the connection is given up.
    ///
    /// In whole seconds; libcurl looks at the speed of the last five, so it may take five more.
    public var stallTimeout: Duration = .seconds(30)
    /// How many attempts may fail one after the other without a single new byte.
    public var retries = 5
    /// How long to wait before each new attempt.
    public var backOff = BackOff()
    /// The longest `Retry-After` that is waited for; a server that asks for more is an error.
    public var retryAfterLimit: Duration = .seconds(300)
    /// A file of trusted certificates (PEM); `nil` means the system's.
    public var caFile: String?
    /// The proxy to go through; `nil` means what the environment says (`https_proxy` and its kin), empty means none.
    public var proxy: String?
    /// A file of logins in the form of `.netrc`, by host; empty means `~/.netrc`, `nil` none.
    public var netrcFile: String?
    /// How many connections a download uses, where its request says nothing else.
    public var connections = ConnectionCount.adaptive(limit: ConnectionCount.most)
    /// The least that is worth a connection of its own.
    public var minimumPiece: Int64 = 512 << 10
    /// How many bytes a second all downloads together may bring; `nil` for no limit.
    public var bytesPerSecond: Int64?
    /// How many downloads run at a time; the others wait. One that is held does not count.
    public var parallelDownloads = 16
    /// Whether a full disk holds a download until there is room again, or it is cancelled; otherwise it fails.
    public var holdsOnFullDisk = true
    /// How often to look whether a full disk has room again.
    public var roomInterval: Duration = .seconds(10)
    /// Partial files that nobody touched for this long are removed when a downloader starts.
    public var partialAgeLimit: Duration = .seconds(30 * 86_400)
    /// How much room unfinished files may take; of more, the oldest are removed when a downloader starts.
    public var partialBytesLimit: Int64 = 20 << 30
    /// How long a held download keeps its connection. Servers give up a silent one, so a longer hold goes on by range.
    public var pauseLimit: Duration = .seconds(20)
    /// How many redirects one attempt follows.
    public var maxRedirects = 10
    /// The longest file that is accepted, whatever a server promises.
    public var lengthLimit: Int64 = 64 << 30
    /// After how many new bytes they are forced to the disk and recorded.
    public var syncInterval: Int64 = 32 << 20
    /// What is left free on the disk beyond the file itself.
    public var spareBytes: Int64 = 16 << 20
    /// The clock that retries and holds wait by.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// Gives numbers from 0 up to 1, for the jitter of ``backOff``. Called on a thread of the downloader.
    public var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// The defaults, with partial files in `stateFolder`.
    public init(stateFolder: String) {
        self.stateFolder = stateFolder
    }
}

/// Waits that double from one failure to the next, with jitter, so that many clients do not return at once.
public struct BackOff: Sendable, Hashable {
    /// The longest wait before the first retry.
    public var first: Duration
    /// The longest wait of all.
    public var limit: Duration

    /// Doubles from `first` up to `limit`.
    public init(first: Duration = .seconds(1), limit: Duration = .seconds(30)) {
        self.first = first
        self.limit = limit
    }

    /// The wait before retry `attempt` (from 1): between half of its longest and all of it, as `random` (0 to 1) says.
    public func delay(attempt: Int, random: Double) -> Duration {
        // 2^20 first waits are past every limit that makes sense.
        let longest = min(limit, first * (1 << min(max(0, attempt - 1), 20)))
        return longest * (0.5 + 0.5 * min(max(0, random), 1))
    }
}
