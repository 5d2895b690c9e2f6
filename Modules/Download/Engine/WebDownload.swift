import CCurl
import FerryBytes
import FerryWeb

/// A download from the web: takes the steps that its ``DownloadCourse`` asks for.
final class WebDownload: RunningDownload {
    let id: DownloadID
    let request: DownloadRequest
    let box: EventBox
    let loop: TransferLoop
    private let multi: UnsafeMutableRawPointer
    let throttle: Throttle

    var course: DownloadCourse
    var partial: PartialFile?
    private var connections: [Int: Connection] = [:]
    /// Connections that wait for the throttle.
    private var throttled: Set<Int> = []
    /// The lane in whose callback we are; libcurl then takes no new connection and gives up none.
    private var callingLane: Int?
    private var timer: Task<Void, Never>?
    private var timerSerial = 0
    /// How many bytes there were at the last sync, and when that was.
    var synced: (bytes: Int64, time: Duration) = (0, .zero)
    private var lookedForRoomAt: Duration = .zero
    private var hasToldPartial = false
    private var meter: ProgressMeter

    /// How often what came by several connections is forced to the disk: until then a kill loses it.
    private static let syncPeriod = Duration.seconds(2)
    /// How often the disk is watched.
    private static let roomPeriod = Duration.seconds(1)

    init(
        id: DownloadID,
        _ origins: [WebAddress],
        _ request: DownloadRequest,
        _ box: EventBox,
        loop: TransferLoop,
        multi: UnsafeMutableRawPointer,
        throttle: Throttle
    ) {
        let configuration = loop.configuration
        self.id = id
        self.request = request
        self.box = box
        self.loop = loop
        self.multi = multi
        self.throttle = throttle
        meter = ProgressMeter(configuration.clock)
        course = DownloadCourse(
            origin: origins[0],
            mirrors: Array(origins.dropFirst()),
            limits: DownloadCourse.Limits(request, configuration),
            startsHeld: request.startsHeld
        )
    }

    var isOver: Bool { course.phase == .ended }

    var isHeld: Bool { course.isHeld }

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
            synced.bytes = opened.found.present.count
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
        tellState()
    }

    private func tellState() {
        box.tell(.front(bytes: course.present.front))
        box.tell(.progress(completedBytes: course.completedBytes, totalBytes: course.totalBytes))
    }

    func drives(_ handle: UnsafeMutableRawPointer) -> Bool { connections.values.contains { $0.handle == handle } }

    func connectionEnded(_ handle: UnsafeMutableRawPointer, _ code: CURLcode) {
        guard let (lane, ended) = connections.first(where: { $0.value.handle == handle }) else { return }
        drop(lane)
        let address = course.lanes[lane]?.request.address ?? course.origin
        let ending = ended.ending(code, address)
        take(
            course.connectionEnded(
                ending,
                on: lane,
                glimpse: ended.glimpse,
                random: loop.configuration.random()
            )
        )
    }

    func look(at now: Duration) {
        if !throttled.isEmpty, !course.isHeld, throttle.isOpen(at: now) {
            let lanes = throttled.sorted()
            throttled = []
            for lane in lanes { pause(lane, CURLPAUSE_CONT) }
        }
        take(course.look(at: now))
        guard course.phase == .receiving else { return }
        let isLate = course.isSpread && now - synced.time >= Self.syncPeriod
        let new = course.completedBytes - synced.bytes
        if new >= loop.configuration.syncInterval || (isLate && new > 0) { sync() }
        if now - lookedForRoomAt >= Self.roomPeriod {
            lookedForRoomAt = now
            watchRoom()
        }
    }

    func patience(at now: Duration) -> Duration? {
        throttled.isEmpty || course.isHeld ? nil : throttle.wait(at: now)
    }
}

extension WebDownload: ConnectionReceiver {
    func connection(_ lane: Int, answered answer: Answer) -> Bool {
        callingLane = lane
        defer { callingLane = nil }
        let (steps, receives) = course.answered(answer, on: lane)
        take(steps)
        guard receives, course.lanes[lane]?.refusal == nil else { return false }
        do throws(DownloadError) {
            try checkRoom()
            return true
        } catch {
            course.writingFailed(error, present: course.present, on: lane)
            return false
        }
    }

    func connection(_ lane: Int, received bytes: UnsafeRawBufferPointer) -> Reception {
        let now = loop.elapsed()
        guard throttle.isOpen(at: now) else {
            throttled.insert(lane)
            return .later
        }
        guard let partial, let (count, offset) = course.accepts(bytes.count, on: lane) else { return .end }
        throttle.spend(bytes.count, at: now)
        do throws(DownloadError) {
            try partial.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), at: offset)
        } catch {
            course.writingFailed(error, present: partial.present, on: lane)
            return .end
        }
        if meter.tells(course.completedBytes, of: course.totalBytes) { tellState() }
        return count < bytes.count || course.isSpent(lane) ? .end : .taken
    }
}

extension WebDownload {
    func take(_ steps: [DownloadCourse.Step]) {
        for step in steps {
            guard take(step) else { return }
        }
    }

    /// Takes one step; `false` where it failed and the steps after it make no sense any more.
    private func take(_ step: DownloadCourse.Step) -> Bool {
        switch step {
        case .open: open()
        case .connect(let request): return connect(request)
        case .pause: for lane in connections.keys.sorted() { pause(lane, CURLPAUSE_RECV) }
        case .unpause: for lane in connections.keys.sorted() { pause(lane, CURLPAUSE_CONT) }
        case .drop: for lane in connections.keys.sorted() { drop(lane) }
        case .dropLane(let lane): drop(lane)
        case .startTimer(let duration): startTimer(duration)
        case .stopTimer: stopTimer()
        case .startOver(let version):
            synced.bytes = 0
            let source = course.origins[course.source].url
            return onDisk { partial throws(DownloadError) in try partial.startOver(version, from: source) }
        case .record(let version):
            let source = course.origins[course.source].url
            return onDisk { partial throws(DownloadError) in try partial.record(version, from: source) }
        case .spread(let totalBytes):
            return onDisk { partial throws(DownloadError) in try partial.spread(totalBytes: totalBytes) }
        case .saveHeld(let isHeld):
            // On a full disk it is held all the same; only the next process would not know.
            try? partial?.record(isHeld: isHeld)
            sync()
        case .sync: sync()
        case .checkRoom: take(course.roomChecked(isEnough: hasRoom))
        case .seal: seal()
        case .close(let keepsPartial): close(keepsPartial)
        case .tell(let event): tell(event)
        }
        return true
    }

    private func tell(_ event: DownloadEvent) {
        switch event {
        case .started(_, let resumedFrom):
            meter.told(resumedFrom)
            box.tell(event)
            tellPartial()
        case .restarted:
            meter.told(0)
            box.tell(event)
        case .progress:
            box.tell(.front(bytes: course.present.front))
            box.tell(event)
        default:
            tellProgress()
            box.tell(event)
        }
    }

    private func tellPartial() {
        guard !hasToldPartial, let partial else { return }
        hasToldPartial = true
        box.tell(.partial(path: partial.path))
        box.tell(.front(bytes: course.present.front))
    }

    /// Does what takes moments right here; when it fails, the download does.
    private func onDisk(_ work: (PartialFile) throws(DownloadError) -> Void) -> Bool {
        guard let partial else { return false }
        do throws(DownloadError) {
            try work(partial)
            return true
        } catch {
            if let callingLane {
                // Within a callback of libcurl the connection ends by itself.
                course.writingFailed(error, present: partial.present, on: callingLane)
            } else {
                take(course.diskFailed(error))
            }
            return false
        }
    }

    private func connect(_ next: DownloadCourse.Request) -> Bool {
        let source = course.origins[next.source]
        guard
            let connection = Connection(
                next,
                // The caller's headers are meant for the first URL; a mirror elsewhere gets the harmless ones.
                headers: request.headers,
                sendsHeaders: next.sendsCredentials && source.sharesOrigin(with: course.origin),
                credentials: source,
                loop.configuration,
                bytesPerSecond: throttle.bytesPerSecond,
                receiver: self
            ), curl_multi_add_handle(multi, connection.handle) == CURLM_OK
        else {
            let error = DownloadError(
                .connection,
                "libcurl cannot start a request.",
                remedy: "Check this machine's memory."
            )
            take(course.cancel(keepsPartial: true, error: error))
            return false
        }
        connections[next.lane] = connection
        return true
    }

    private func pause(_ lane: Int, _ what: Int32) {
        guard let connection = connections[lane] else { return }
        // Going on hands over what was held back, and that can fail, which nothing else would tell us.
        let code = curl_easy_pause(connection.handle, what)
        if code != CURLE_OK { connectionEnded(connection.handle, code) }
    }

    private func drop(_ lane: Int) {
        throttled.remove(lane)
        guard let connection = connections.removeValue(forKey: lane) else { return }
        curl_multi_remove_handle(multi, connection.handle)
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
