import CCurl
import FerryBytes

/// The one thread that drives all transfers, and the way in to it.
///
/// Commands are queued under a lock and the thread is woken; everything else belongs to the thread alone.
final class TransferLoop: Sendable {
    /// What the thread is asked to do.
    enum Command: Sendable {
        case start(DownloadID, DownloadRequest, EventBox)
        case hold(DownloadID)
        case release(DownloadID)
        case holdAll
        case releaseAll
        case cancel(DownloadID, keepsPartial: Bool)
        /// A timer has run out; an older one than the download's own is ignored.
        case timer(DownloadID, serial: Int)
        /// Work on the disk is done.
        case disk(DownloadID, DiskResult)
        /// End everything, then the thread.
        case close
    }

    private struct Inbox {
        var commands: [Command] = []
        /// The multi handle, as a number because a pointer is not Sendable; `nil` once the thread has ended.
        var multi: UInt?
        var isClosing = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    let configuration: DownloadConfiguration
    private let inbox: Guarded<Inbox>

    /// Makes the state folder and starts the thread.
    init(_ configuration: DownloadConfiguration) throws(DownloadError) {
        try makeFolder(configuration.stateFolder)
        guard Self.isReady, let multi = curl_multi_init() else {
            throw DownloadError(.connection, "libcurl cannot be started.", remedy: "Check this machine's memory.")
        }
        self.configuration = configuration
        inbox = Guarded(Inbox(multi: UInt(bitPattern: multi)))
        BackgroundThread.run { self.run() }
    }

    /// Hands the thread a command; `false` when it has ended or is about to.
    @discardableResult
    func send(_ command: Command) -> Bool {
        inbox.withLock { inbox in
            guard let multi = inbox.multi else { return false }
            switch command {
            case .start where inbox.isClosing: return false
            case .close: inbox.isClosing = true
            default: break
            }
            inbox.commands.append(command)
            curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: multi))
            return true
        }
    }

    /// Ends everything and waits until the thread has ended.
    func close() async {
        send(.close)
        await withCheckedContinuation { continuation in
            let isOver = inbox.withLock { inbox in
                if inbox.multi != nil { inbox.waiters.append(continuation) }
                return inbox.multi == nil
            }
            if isOver { continuation.resume() }
        }
    }

    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}

extension TransferLoop {
    /// The life of the thread.
    private func run() {
        guard let multi = UnsafeMutableRawPointer(bitPattern: inbox.withLock { $0.multi } ?? 0) else { return }
        var active: [DownloadID: any RunningDownload] = [:]
        var isClosing = false
        while true {
            for command in inbox.withLock({ inbox in
                defer { inbox.commands = [] }
                return inbox.commands
            }) {
                if case .close = command { isClosing = true }
                follow(command, multi, &active)
            }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            reportEnded(multi, active)
            for (id, download) in active where download.isOver {
                active[id] = nil
            }
            if isClosing, active.isEmpty { break }
            // Commands wake it; libcurl shortens the wait where it has a timer of its own.
            var ready: Int32 = 0
            let isTelling = active.values.contains { $0.hasUntoldProgress }
            curl_multi_poll(multi, nil, 0, isTelling ? 100 : 1000, &ready)
            if isTelling, ready == 0 {
                for download in active.values { download.tellProgress() }
            }
        }
        let waiters = inbox.withLock { inbox in
            inbox.multi = nil
            defer { inbox.waiters = [] }
            return inbox.waiters
        }
        curl_multi_cleanup(multi)
        for waiter in waiters { waiter.resume() }
    }

    private func follow(
        _ command: Command,
        _ multi: UnsafeMutableRawPointer,
        _ active: inout [DownloadID: any RunningDownload]
    ) {
        switch command {
        case .start(let id, let request, let box):
            do throws(DownloadError) {
                let download = try download(id, request, box, multi)
                active[id] = download
                download.begin()
            } catch {
                box.tell(.failed(error))
            }
        case .hold(let id): active[id]?.hold()
        case .release(let id): active[id]?.release()
        case .holdAll: for download in active.values { download.hold() }
        case .releaseAll: for download in active.values { download.release() }
        case .cancel(let id, let keepsPartial): active[id]?.cancel(keepsPartial: keepsPartial)
        case .timer(let id, let serial): active[id]?.timerFired(serial)
        case .disk(let id, let result): active[id]?.diskDone(result)
        case .close: for download in active.values { download.cancel(keepsPartial: true) }
        }
    }

    private func download(
        _ id: DownloadID,
        _ request: DownloadRequest,
        _ box: EventBox,
        _ multi: UnsafeMutableRawPointer
    ) throws(DownloadError) -> any RunningDownload {
        let request = try request.checked()
        switch try DownloadSource(request.url) {
        case .web(let origin): return WebDownload(id: id, origin, request, box, loop: self, multi: multi)
        case .file(let path): return LocalDownload(id: id, path: path, request, box, loop: self)
        }
    }

    private func reportEnded(_ multi: UnsafeMutableRawPointer, _ active: [DownloadID: any RunningDownload]) {
        var left: Int32 = 0
        var ended: [(handle: UnsafeMutableRawPointer, code: CURLcode)] = []
        // Collected first: a message is gone once its handle is removed.
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            ended.append((handle, ferry_message_result(message)))
        }
        for (handle, code) in ended {
            active.values.first { $0.drives(handle) }?.connectionEnded(code)
        }
    }
}
