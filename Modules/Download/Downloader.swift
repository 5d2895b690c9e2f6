/// Fetches files, and goes on after everything that can pass: a broken line, a silent server, a restart of the process.
///
/// What has arrived lies in the state folder, beside a record of what it belongs to. The next download of the same URL to
/// the same destination goes on from there, so long as the server's file is provably the same. Nothing half-written is
/// ever at the destination.
///
/// All transfers share one thread (libcurl's multi interface). Hashing what is on disk and forcing it there is done on
/// threads of their own.
public actor Downloader {
    private let loop: TransferLoop
    private var nextNumber: UInt64 = 0

    /// Makes the state folder where it is missing, and starts the thread.
    public init(_ configuration: DownloadConfiguration) throws(DownloadError) {
        loop = try TransferLoop(configuration)
    }

    deinit {
        loop.send(.close)
    }

    /// Starts a download, held where the request or an earlier process says so.
    ///
    /// What is wrong with the request is told by the handle, like every other failure.
    public func start(_ request: DownloadRequest) -> Download {
        let id = DownloadID(number: nextNumber)
        nextNumber += 1
        let box = EventBox()
        let loop = loop
        if !loop.send(.start(id, request, box)) {
            box.tell(.failed(.cancelled))
        }
        return Download(id: id, box: box) { loop.send(.cancel(id, keepsPartial: true)) }
    }

    /// Stops a download where it is until it is released, also across a restart of the process.
    ///
    /// The connection is kept for a while, then given up. An ID that has ended is ignored, here and in the calls below.
    public func hold(_ id: DownloadID) {
        loop.send(.hold(id))
    }

    /// Lets a held download go on.
    public func release(_ id: DownloadID) {
        loop.send(.release(id))
    }

    /// Holds every download that is running now.
    public func holdAll() {
        loop.send(.holdAll)
    }

    /// Lets every held download go on.
    public func releaseAll() {
        loop.send(.releaseAll)
    }

    /// Ends a download with ``DownloadError/Code/cancelled``; what has arrived is kept for the next one, or removed.
    public func cancel(_ id: DownloadID, keepsPartial: Bool = true) {
        loop.send(.cancel(id, keepsPartial: keepsPartial))
    }

    /// Ends every download with ``DownloadError/Code/cancelled``, keeps what has arrived, and stops the thread.
    ///
    /// Returns when everything is on disk. A download that was held stays held in the next process.
    public func close() async {
        await loop.close()
    }
}
