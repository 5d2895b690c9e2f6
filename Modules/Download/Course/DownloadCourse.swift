import FerryWeb

/// The course of one download from the web: what to do next on an answer, an error, a hold, a release, a cancel.
///
/// No file, connection, clock or task is in here. Each method takes what happened and returns the steps to take, in
/// order; ``WebDownload`` takes them. A download begins with one connection, lane 0; others join it where the server gives
/// parts of the file and ``LaneGrowth`` says that they help.
struct DownloadCourse {
    /// How far it is.
    enum Phase: Equatable {
        /// The partial file is being opened and read.
        case opening
        /// Requests are under way, and none of them was answered with the file.
        case connecting
        /// The file's bytes are coming, or are due while the connections are paused.
        case receiving
        /// A retry is due when the timer fires.
        case waiting
        /// Held, without a connection.
        case resting
        /// The whole file is there; it is checked and moved to its place.
        case sealing
        /// The partial file is being closed; then this is told.
        case closing(DownloadError)
        case ended
    }

    /// One thing to do.
    enum Step: Equatable {
        case open
        case connect(Request)
        /// Pause every connection.
        case pause
        case unpause
        /// Give up every connection.
        case drop
        /// Give up this one.
        case dropLane(Int)
        /// Call ``timerFired()`` after this time.
        case startTimer(Duration)
        case stopTimer
        /// Cut the partial file to nothing, then record the version that comes.
        case startOver(FileVersion)
        /// Record the version; the bytes stay.
        case record(FileVersion)
        /// From here on the file has gaps: record that, and give it its whole length.
        case spread(totalBytes: Int64)
        /// Record whether it is held, at once, and force everything to the disk.
        case saveHeld(Bool)
        /// Force what has come to the disk, beside the other work.
        case sync
        /// See whether there is room on the disk, and call ``roomChecked(isEnough:)``.
        case checkRoom
        /// Check length and SHA-256, and move the file to its place.
        case seal
        /// Close the partial file, and keep or remove it.
        case close(keepsPartial: Bool)
        case tell(DownloadEvent)
    }

    /// A request to a server.
    struct Request: Equatable {
        /// The lane that it is for.
        var lane = 0
        /// Which of ``DownloadCourse/origins`` it began at.
        var source = 0
        var address: WebAddress
        /// Whether ``address`` is of the origin that the caller's headers and password are meant for.
        var sendsCredentials = true
        /// The first byte that is wanted.
        var from: Int64 = 0
        /// Where to stop, exclusive; `nil` asks for all that follows.
        var end: Int64?
        /// What `If-Range` says; `nil` for a whole file, and for a server of which nothing is known yet.
        var validator: String?

        /// Whether it asks for a part; otherwise for the whole file.
        var isRanged: Bool { from > 0 || end != nil }
    }

    /// How a connection ended.
    enum Ending: Equatable {
        /// The answer came as a whole.
        case complete
        /// It broke, or we broke it after an answer that is of no use.
        case broken(Failure)
    }

    /// What is wrong with a connection.
    struct Failure: Equatable {
        var error: DownloadError
        /// Whether it can pass.
        var canPass: Bool
    }

    /// What an answer led to that is not the file.
    enum Refusal: Equatable {
        /// The source gives no such file; another may. For one connection of several, it is that one's end alone.
        case fail(DownloadError, keepsPartial: Bool)
        /// The download ends, however many connections there are.
        case failWhole(DownloadError, keepsPartial: Bool)
        case noRoom(DownloadError)
        case retry(DownloadError, after: Duration?)
        case startOver(reason: String)
        case redirect(to: WebAddress)
        case webPage(DownloadError)
        /// The server sends the file from its start only.
        case wholeOnly
        /// Its part has come by another connection.
        case notNeeded
        /// A 416 that says that nothing is missing.
        case complete
    }

    /// The URL that the caller gave, and its mirrors.
    let origins: [WebAddress]
    let limits: Limits
    var phase = Phase.opening
    var isHeld: Bool
    /// Why it is held where nobody asked for that: the disk is full.
    var roomReason: String?
    /// What the bytes that are there are of.
    var version = FileVersion()
    /// What each source says of its file; ranges are asked for by it.
    var versions: [Int: FileVersion] = [:]
    /// The bytes of the file that are in the partial file.
    var present = ByteMap()
    var lanes: [Int: Lane] = [:]
    var growth: LaneGrowth
    /// Whether the server has answered with a part; until then, no answer that brings the whole is cut short.
    var hasParts = false
    /// Whether the partial file has its whole length already.
    var isSpread = false
    /// Whether the file was found to be another one while it came by several connections; then one has to do.
    var hadConflict = false
    /// Connections in a row that broke with hardly a byte while others went on.
    var misses = 0
    /// How many of them show that there are too many.
    static let missLimit = 3
    /// The source that is asked.
    var source = 0
    /// How long the file of a source was that is no longer asked: a mirror's must be as long.
    var agreedLength: Int64?
    /// Sources that are of no use.
    var failedSources: Set<Int> = []
    /// Failed attempts in a row, none of which brought a new byte.
    var attempts = 0
    /// The most bytes that were ever there: progress is what goes beyond it.
    var highWater: Int64 = 0
    var wasStarted = false
    /// Whether it was released while the partial file was being opened: an earlier process's hold no longer counts.
    var releasedWhileOpening = false
    /// Set when it was cancelled while the partial file was being opened.
    var cancelledWhileOpening: (keepsPartial: Bool, error: DownloadError)?

    /// Begins with the request to open the partial file, which the caller has to follow.
    init(origin: WebAddress, mirrors: [WebAddress] = [], limits: Limits, startsHeld: Bool) {
        origins = [origin] + mirrors
        self.limits = limits
        isHeld = startsHeld
        growth = LaneGrowth(limits.connections)
    }

    /// The URL that the caller gave.
    var origin: WebAddress { origins[0] }

    /// How many bytes the file should have; `nil` where nobody knows.
    var totalBytes: Int64? { version.totalBytes ?? limits.expectedLength }

    /// How many bytes of the file are there.
    var completedBytes: Int64 { present.count }
}

extension DownloadCourse {
    /// What the configuration and the request say about the course.
    struct Limits: Equatable {
        var expectedLength: Int64?
        /// Whether the whole file will be checked by a SHA-256, so that parts from several servers may be put together.
        var hasChecksum = false
        var acceptsWebPages = false
        var retries = 5
        var backOff = BackOff()
        var retryAfterLimit: Duration = .seconds(300)
        var pauseLimit: Duration = .seconds(20)
        var maxRedirects = 10
        var lengthLimit: Int64 = .max
        var connections = ConnectionCount.fixed(1)
        /// The least that a connection of its own is worth.
        var minimumPiece: Int64 = 1 << 20
        /// Whether a full disk holds the download; otherwise it ends it.
        var holdsOnFullDisk = true
        /// How often to look whether a full disk has room again.
        var roomInterval: Duration = .seconds(10)
    }

    /// What was found on disk.
    struct Found: Equatable {
        var present = ByteMap()
        var version = FileVersion()
        /// Which of the sources the version is of.
        var source = 0
        /// Whether the file has its whole length, with gaps in it.
        var isSpread = false
        var wasHeld = false
        /// Why bytes that were there are of no use; `nil` where there were none, or they are of use.
        var uselessBecause: String?
    }
}
