import CCurl
import FerryBytes
import FerryWeb

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
    /// How long it has been running, by the configuration's clock.
    let elapsed: @Sendable () -> Duration
    private let inbox: Guarded<Inbox>

    /// Makes the state folder and starts the thread.
    init(_ configuration: DownloadConfiguration) throws(DownloadError) {
        try makeFolder(configuration.stateFolder)
        guard Self.isReady, let multi = curl_multi_init() else {
            throw DownloadError(.connection, "libcurl cannot be started.", remedy: "Check this machine's memory.")
        }
        self.configuration = configuration
        elapsed = ProgressMeter.stopwatch(configuration.clock)
        sweepPartials(in: configuration)
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
        var crew = Crew(limit: configuration.parallelDownloads)
        let throttle = Throttle(bytesPerSecond: configuration.bytesPerSecond)
        var isClosing = false
        while true {
            for command in inbox.withLock({ inbox in
                defer { inbox.commands = [] }
                return inbox.commands
            }) {
                if case .close = command { isClosing = true }
                follow(command, &crew)
            }
            while let next = crew.next() { start(next, &crew, multi, throttle) }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            reportEnded(multi, crew)
            let now = elapsed()
            for download in crew.active.values { download.look(at: now) }
            crew.removeEnded()
            if isClosing, crew.isEmpty { break }
            if crew.hasNext { continue }
            // Commands wake it; libcurl shortens the wait where it has a timer of its own.
            var ready: Int32 = 0
            let isTelling = crew.active.values.contains { $0.hasUntoldProgress }
            let patience = crew.active.values.compactMap { $0.patience(at: now)?.wholeMilliseconds }.min() ?? 1000
            curl_multi_poll(multi, nil, 0, Int32(min(patience, isTelling ? 100 : 1000)), &ready)
            if isTelling, ready == 0 {
                for download in crew.active.values { download.tellProgress() }
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

    private func follow(_ command: Command, _ crew: inout Crew) {
        switch command {
        case .start(let id, let request, let box): crew.add(Crew.Entry(id: id, request: request, box: box))
        case .hold(let id): crew.hold(id)
        case .release(let id): crew.release(id)
        case .holdAll: crew.holdAll()
        case .releaseAll: crew.releaseAll()
        case .cancel(let id, let keepsPartial): crew.cancel(id, keepsPartial: keepsPartial)
        case .timer(let id, let serial): crew.active[id]?.timerFired(serial)
        case .disk(let id, let result): crew.active[id]?.diskDone(result)
        case .close: crew.cancelAll()
        }
    }

    private func start(
        _ entry: Crew.Entry,
        _ crew: inout Crew,
        _ multi: UnsafeMutableRawPointer,
        _ throttle: Throttle
    ) {
        do throws(DownloadError) {
            let download = try download(entry, multi, throttle)
            crew.active[entry.id] = download
            download.begin()
            if entry.wasReleased { download.release() }
        } catch {
            entry.box.tell(.failed(error))
        }
    }

    private func download(
        _ entry: Crew.Entry,
        _ multi: UnsafeMutableRawPointer,
        _ throttle: Throttle
    ) throws(DownloadError) -> any RunningDownload {
        let request = try entry.request.checked()
        switch try DownloadSource(request.url) {
        case .web(let origin):
            var origins = [origin]
            for mirror in request.mirrors {
                guard case .web(let address) = try DownloadSource(mirror) else {
                    throw DownloadError(
                        .unsupportedScheme,
                        "A mirror must have an http: or https: address.",
                        remedy: "Give the local file alone."
                    )
                }
                if !origins.contains(where: { $0.url == address.url }) { origins.append(address) }
            }
            return WebDownload(
                id: entry.id,
                origins,
                request,
                entry.box,
                loop: self,
                multi: multi,
                throttle: Throttle(bytesPerSecond: request.bytesPerSecond, within: throttle)
            )
        case .file(let path):
            return LocalDownload(id: entry.id, path: path, request, entry.box, loop: self)
        }
    }

    private func reportEnded(_ multi: UnsafeMutableRawPointer, _ crew: Crew) {
        var left: Int32 = 0
        var ended: [(handle: UnsafeMutableRawPointer, code: CURLcode)] = []
        // Collected first: a message is gone once its handle is removed.
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            ended.append((handle, ferry_message_result(message)))
        }
        for (handle, code) in ended {
            crew.active.values.first { $0.drives(handle) }?.connectionEnded(handle, code)
        }
    }
}
