/// A download that was started: what it tells, and how it ends.
public struct Download: Sendable {
    /// Its name within its ``Downloader``.
    public let id: DownloadID
    /// What it tells, for one reader; ends after `.finished` or `.failed`.
    ///
    /// A reader that stops early, or none at all, does not slow the download.
    public let events: AsyncStream<DownloadEvent>

    private let box: EventBox
    private let cancel: @Sendable () -> Void

    init(id: DownloadID, box: EventBox, cancel: @escaping @Sendable () -> Void) {
        self.id = id
        self.box = box
        self.cancel = cancel
        events = AsyncStream { await box.next() }
    }

    /// Waits for the end and gives the file. Any number of tasks may wait, whether ``events`` is read or not.
    ///
    /// When a waiting task is cancelled, the download is cancelled; what has arrived is kept.
    public var file: DownloadedFile {
        get async throws(DownloadError) {
            let outcome = await withTaskCancellationHandler {
                await box.outcome()
            } onCancel: {
                cancel()
            }
            return try outcome.get()
        }
    }
}
