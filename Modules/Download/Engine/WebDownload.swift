import CCurl
import FerryBytes
import FerryWeb

/// A download from the web: takes the steps that its ``DownloadCourse`` asks for.
final class WebDownload: RunningDownload {
    private let id: DownloadID
    private let request: DownloadRequest
    private let box: EventBox
    private let loop: TransferLoop
    private let multi: UnsafeMutableRawPointer
    private let isAbandoned = Flag()

    private var course: DownloadCourse
    private var partial: PartialFile?
    private var connection: Connection?
    private var timer: Task<Void, Never>?
    private var timerSerial = 0
    /// How many bytes there were at the last sync.
    private var syncedBytes: Int64 = 0
    private var meter: ProgressMeter

    init(
        id: DownloadID,
        _ origin: WebAddress,
        _ request: DownloadRequest,
        _ box: EventBox,
        loop: TransferLoop,
        multi: UnsafeMutableRawPointer
    ) {
        let configuration = loop.configuration
        self.id = id
        self.request = request
        self.box = box
        self.loop = loop
        self.multi = multi
        meter = ProgressMeter(configuration.clock)
        course = DownloadCourse(
            origin: origin,
            limits: DownloadCourse.Limits(
                expectedLength: request.expectedLength,
                acceptsWebPages: request.acceptsWebPages,
                retries: configuration.retries,
                backOff: configuration.backOff,
                retryAfterLimit: configuration.retryAfterLimit,
                pauseLimit: configuration.pauseLimit,
                maxRedirects: configuration.maxRedirects,
                lengthLimit: configuration.lengthLimit
            ),
            startsHeld: request.startsHeld
        )
    }

    var isOver: Bool { course.phase == .ended }

    func begin() {
        take(course.begin())
    }

    func hold() {
        take(course.hold())
    }

    func release() {
        take(course.release())
    }

    func cancel(keepsPartial: Bool) {
        take(course.cancel(keepsPartial: keepsPartial))
    }

    func timerFired(_ serial: Int) {
        guard serial == timerSerial else { return }
        take(course.timerFired())
    }

    func diskDone(_ result: DiskResult) {
        switch result {
        case .opened(.success(let opened)):
            partial = opened.file
            syncedBytes = opened.found.completedBytes
            take(course.opened(opened.found))
        case .opened(.failure(let error)):
            take(course.openingFailed(error))
        case .sealed(let result):
            take(course.sealed(result))
        case .closed:
            take(course.closed())
        }
    }

    var hasUntoldProgress: Bool { course.phase == .receiving && course.completedBytes != meter.toldBytes }

    func tellProgress() {
        guard hasUntoldProgress else { return }
        meter.told(course.completedBytes)
        box.tell(.progress(completedBytes: course.completedBytes, totalBytes: course.totalBytes))
    }

    func drives(_ handle: UnsafeMutableRawPointer) -> Bool { connection?.handle == handle }

    func connectionEnded(_ code: CURLcode) {
        guard let ended = connection else { return }
        let ending = ended.ending(code, course.request.address)
        drop()
        take(course.connectionEnded(ending, glimpse: ended.glimpse, random: loop.configuration.random()))
    }
}

extension WebDownload: ConnectionReceiver {
    func connection(answered answer: Answer) -> Bool {
        let (steps, receives) = course.answered(answer)
        take(steps)
        guard receives, course.refusal == nil else { return false }
        guard let partial, let total = course.totalBytes else { return true }
        do throws(DownloadError) {
            try checkRoom(
                for: total,
                there: course.completedBytes,
                spare: loop.configuration.spareBytes,
                partial: partial.path,
                destination: request.destination
            )
            return true
        } catch {
            course.writingFailed(error, completedBytes: partial.length)
            return false
        }
    }

    func connection(received bytes: UnsafeRawBufferPointer) -> Bool {
        guard let partial, course.accepts(bytes.count) else { return false }
        do throws(DownloadError) {
            try partial.append(bytes)
        } catch {
            course.writingFailed(error, completedBytes: partial.length)
            return false
        }
        if meter.tells(course.completedBytes, of: course.totalBytes) {
            box.tell(.progress(completedBytes: course.completedBytes, totalBytes: course.totalBytes))
        }
        if course.completedBytes - syncedBytes >= loop.configuration.syncInterval {
            sync()
        }
        return true
    }
}

extension WebDownload {
    private func take(_ steps: [DownloadCourse.Step]) {
        for step in steps {
            guard take(step) else { return }
        }
    }

    /// Takes one step; `false` where it failed and the steps after it make no sense any more.
    private func take(_ step: DownloadCourse.Step) -> Bool {
        switch step {
        case .open: open()
        case .abandonOpening: isAbandoned.raise()
        case .connect(let request): connect(request)
        case .pause: pause(CURLPAUSE_RECV)
        case .unpause: pause(CURLPAUSE_CONT)
        case .drop: drop()
        case .startTimer(let duration): startTimer(duration)
        case .stopTimer: stopTimer()
        case .startOver(let version):
            syncedBytes = 0
            return onDisk { partial throws(DownloadError) in try partial.startOver(version) }
        case .record(let version):
            return onDisk { partial throws(DownloadError) in try partial.record(version) }
        case .saveHeld(let isHeld):
            // On a full disk it is held all the same; only the next process would not know.
            try? partial?.record(isHeld: isHeld)
            sync()
        case .sync: sync()
        case .seal: seal()
        case .close(let keepsPartial): close(keepsPartial)
        case .tell(.started(let totalBytes, let resumedFrom)):
            meter.told(resumedFrom)
            box.tell(.started(totalBytes: totalBytes, resumedFrom: resumedFrom))
        case .tell(.restarted(let reason)):
            meter.told(0)
            box.tell(.restarted(reason: reason))
        case .tell(let event):
            tellProgress()
            box.tell(event)
        }
        return true
    }

    /// Does what takes moments right here; when it fails, the download does.
    private func onDisk(_ work: (PartialFile) throws(DownloadError) -> Void) -> Bool {
        guard let partial else { return false }
        do throws(DownloadError) {
            try work(partial)
            return true
        } catch {
            course.writingFailed(error, completedBytes: partial.length)
            // Within a callback of libcurl the connection ends by itself; outside of it nothing else would notice.
            if connection == nil {
                take(course.cancel(keepsPartial: true, error: error))
            }
            return false
        }
    }

    private func open() {
        let (id, request, loop, isAbandoned, url) = (id, request, loop, isAbandoned, course.origin.url)
        BackgroundThread.run {
            let result = Result { () throws(DownloadError) in
                try checkDestination(request.destination)
                let (file, found) = try PartialFile.claim(
                    in: loop.configuration.stateFolder,
                    url: url,
                    destination: request.destination,
                    expectedLength: request.expectedLength,
                    named: request.partialName
                ) { isAbandoned.value }
                return OpenedPartial(file: file, found: found)
            }
            loop.send(.disk(id, .opened(result)))
        }
    }

    private func seal() {
        guard let partial else { return }
        let (id, request, loop, source) = (id, request, loop, course.origin.shown)
        BackgroundThread.run {
            let result = Result { () throws(DownloadError) in
                try partial.seal(
                    as: request.destination,
                    expectedLength: request.expectedLength,
                    sha256: request.sha256,
                    source: source
                )
            }
            loop.send(.disk(id, .sealed(result)))
        }
    }

    private func close(_ keepsPartial: Bool) {
        guard let partial else { return }
        let (id, loop) = (id, loop)
        BackgroundThread.run {
            partial.letGo(keeping: keepsPartial)
            loop.send(.disk(id, .closed))
        }
    }

    /// Forces to the disk what is there, beside the transfer.
    private func sync() {
        guard let partial else { return }
        syncedBytes = course.completedBytes
        BackgroundThread.run {
            // What it could not force there is not recorded either; if the disk is broken, writing will say so.
            try? partial.sync()
        }
    }

    private func connect(_ next: DownloadCourse.Request) {
        let configuration = loop.configuration
        guard
            let connection = Connection(
                next,
                headers: request.headers,
                credentials: course.origin,
                configuration,
                receiver: self
            ), curl_multi_add_handle(multi, connection.handle) == CURLM_OK
        else {
            let error = DownloadError(
                .connection,
                "libcurl cannot start a request.",
                remedy: "Check this machine's memory."
            )
            take(course.cancel(keepsPartial: true, error: error))
            return
        }
        self.connection = connection
    }

    private func pause(_ what: Int32) {
        guard let connection else { return }
        // Going on hands over what was held back, and that can fail, which nothing else would tell us.
        let code = curl_easy_pause(connection.handle, what)
        if code != CURLE_OK { connectionEnded(code) }
    }

    private func drop() {
        guard let connection else { return }
        curl_multi_remove_handle(multi, connection.handle)
        self.connection = nil
    }

    /// The timer's task is ours: the next timer, and the end, cancel it.
    private func startTimer(_ duration: Duration) {
        stopTimer()
        let (id, loop, serial) = (id, loop, timerSerial)
        timer = Task.detached {
            guard (try? await loop.configuration.clock.sleep(for: duration)) != nil else { return }
            loop.send(.timer(id, serial: serial))
        }
    }

    private func stopTimer() {
        timer?.cancel()
        timer = nil
        timerSerial += 1
    }
}
