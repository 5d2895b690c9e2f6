import CCurl
import Synchronization

/// A download that has not ended, as the thread that drives the transfers sees it.
///
/// Belongs to that thread. Work on the disk and timers run elsewhere and come back to it as commands.
protocol RunningDownload: AnyObject {
    /// Whether there is nothing more to do.
    var isOver: Bool { get }
    /// Whether it stands still because it is held, or its disk is full.
    var isHeld: Bool { get }
    func begin()
    func hold()
    func release()
    func cancel(keepsPartial: Bool)
    func timerFired(_ serial: Int)
    func diskDone(_ result: DiskResult)
    /// Whether `handle` is of one of its connections.
    func drives(_ handle: UnsafeMutableRawPointer) -> Bool
    func connectionEnded(_ handle: UnsafeMutableRawPointer, _ code: CURLcode)
    /// Called whenever something may have happened, outside of libcurl's callbacks.
    func look(at now: Duration)
    /// After what time it wants to be looked at even if nothing happens; `nil` for no such time.
    func patience(at now: Duration) -> Duration?
    /// Whether there is progress that was not told, because more was likely to follow at once.
    var hasUntoldProgress: Bool { get }
    func tellProgress()
}

/// How work on the disk ended.
enum DiskResult: Sendable {
    case opened(Result<OpenedPartial, DownloadError>)
    case sealed(Result<DownloadedFile, DownloadError>)
    case closed
}

/// A partial file that was opened, and what was found in it.
struct OpenedPartial: Sendable {
    var file: PartialFile
    var found: DownloadCourse.Found
}

/// Something that one thread says once and others look at.
final class Flag: Sendable {
    private let isRaised = Atomic(false)

    var value: Bool { isRaised.load(ordering: .relaxed) }

    func raise() {
        isRaised.store(true, ordering: .relaxed)
    }
}

/// Decides which progress is worth an event: each 256th of the file, and otherwise ten a second.
///
/// A fast download of any size tells about 256 times, a slow one still moves. What is left is told before the next fact,
/// and when the line falls quiet.
struct ProgressMeter {
    private let elapsed: () -> Duration
    private(set) var toldBytes: Int64 = 0
    private var toldAt: Duration?

    /// Counts time by `clock`.
    init(_ clock: any Clock<Duration>) {
        elapsed = Self.stopwatch(clock)
    }

    /// Whether this progress is to be told; then it counts as told.
    mutating func tells(_ completedBytes: Int64, of totalBytes: Int64?) -> Bool {
        let step = max(64 << 10, (totalBytes ?? 256 << 20) / 256)
        let now = elapsed()
        let isDue = toldAt.map { now - $0 >= .milliseconds(100) } ?? true
        guard isDue || completedBytes - toldBytes >= step || completedBytes < toldBytes else { return false }
        told(completedBytes)
        return true
    }

    /// Counts this progress as told.
    mutating func told(_ completedBytes: Int64) {
        toldBytes = completedBytes
        toldAt = elapsed()
    }

    static func stopwatch<C: Clock>(_ clock: C) -> @Sendable () -> Duration where C.Duration == Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
