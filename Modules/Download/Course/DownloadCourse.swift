import FerryWeb

/// The course of one download from the web: what to do next on an answer, an error, a hold, a release, a cancel.
///
/// No file, connection, clock or task is in here. Each method takes what happened and returns the steps to take, in
/// order; ``WebDownload`` takes them.
struct DownloadCourse {
    /// How far it is.
    enum Phase: Equatable {
        /// The partial file is being opened and read.
        case opening
        /// A request is under way, and nothing of the file has come by it.
        case connecting
        /// The file's bytes are coming, or are due while the connection is paused.
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
        /// Stop the opening where it is.
        case abandonOpening
        case connect(Request)
        case pause
        case unpause
        /// Give up the connection.
        case drop
        /// Call ``timerFired()`` after this time.
        case startTimer(Duration)
        case stopTimer
        /// Cut the partial file to nothing, then record the version that comes.
        case startOver(FileVersion)
        /// Record the version; the bytes stay.
        case record(FileVersion)
        /// Record whether it is held, at once, and force everything to the disk.
        case saveHeld(Bool)
        /// Force what has come to the disk, beside the other work.
        case sync
        /// Check length and SHA-256, and move the file to its place.
        case seal
        /// Close the partial file, and keep or remove it.
        case close(keepsPartial: Bool)
        case tell(DownloadEvent)
    }

    /// A request to a server.
    struct Request: Equatable {
        var address: WebAddress
        /// Whether ``address`` is of the origin that the caller's headers and password are meant for.
        var sendsCredentials = true
        /// The first byte that is wanted; zero asks for the whole file.
        var from: Int64 = 0
        /// What `If-Range` says; given whenever `from` is not zero.
        var validator: String?
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
        case fail(DownloadError, keepsPartial: Bool)
        case retry(DownloadError, after: Duration?)
        case startOver(reason: String)
        case redirect(to: WebAddress)
        case webPage(DownloadError)
        /// A 416 that says that nothing is missing.
        case complete
    }

    let origin: WebAddress
    let limits: Limits
    var phase = Phase.opening
    var isHeld: Bool
    var version = FileVersion()
    /// How many bytes of the file are in the partial file.
    var completedBytes: Int64 = 0
    var request: Request
    var refusal: Refusal?
    var redirects = 0
    /// Failed attempts in a row, none of which brought a new byte.
    var attempts = 0
    /// The most bytes that were ever there: progress is what goes beyond it.
    var highWater: Int64 = 0
    /// Where the body of the answer must end; `nil` where it does not say.
    var bodyEnd: Int64?
    var wasStarted = false
    /// Whether it was released while the partial file was being opened: an earlier process's hold no longer counts.
    var releasedWhileOpening = false
    /// Set when it was cancelled while the partial file was being opened.
    var cancelledWhileOpening: (keepsPartial: Bool, error: DownloadError)?

    /// Begins with the request to open the partial file, which the caller has to follow.
    init(origin: WebAddress, limits: Limits, startsHeld: Bool) {
        self.origin = origin
        self.limits = limits
        isHeld = startsHeld
        request = Request(address: origin)
    }

    /// How many bytes the file should have; `nil` where nobody knows.
    var totalBytes: Int64? { version.totalBytes ?? limits.expectedLength }
}

extension DownloadCourse {
    /// What the configuration and the request say about the course.
    struct Limits: Equatable {
        var expectedLength: Int64?
        var acceptsWebPages = false
        var retries = 5
        var backOff = BackOff()
        var retryAfterLimit: Duration = .seconds(300)
        var pauseLimit: Duration = .seconds(20)
        var maxRedirects = 10
        var lengthLimit: Int64 = .max
    }

    /// What was found on disk.
    struct Found: Equatable {
        var completedBytes: Int64 = 0
        var version = FileVersion()
        var wasHeld = false
        /// Why bytes that were there are of no use; `nil` where there were none, or they are of use.
        var uselessBecause: String?
    }
}
