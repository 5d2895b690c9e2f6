import CCurl

/// A local file that is checked, and copied where that was asked for.
final class LocalDownload: RunningDownload {
    private enum Phase {
        case resting
        case reading
        case ended
    }

    private let id: DownloadID
    private let path: String
    private let request: DownloadRequest
    private let box: EventBox
    private let loop: TransferLoop
    private let isAbandoned = Flag()
    private var phase = Phase.resting

    init(id: DownloadID, path: String, _ request: DownloadRequest, _ box: EventBox, loop: TransferLoop) {
        self.id = id
        self.path = path
        self.request = request
        self.box = box
        self.loop = loop
    }

    var isOver: Bool { phase == .ended }

    var isHeld: Bool { phase == .resting }

    func begin() {
        if request.startsHeld {
            box.tell(.held(reason: nil))
        } else {
            read()
        }
    }

    /// Reading a local file takes moments; once it began, it is not held.
    func hold() {}

    func release() {
        guard phase == .resting else { return }
        box.tell(.released)
        read()
    }

    func cancel(keepsPartial: Bool) {
        switch phase {
        case .resting:
            phase = .ended
            box.tell(.failed(.cancelled))
        case .reading:
            isAbandoned.raise()
        case .ended:
            break
        }
    }

    func timerFired(_ serial: Int) {}

    func diskDone(_ result: DiskResult) {
        guard case .sealed(let result) = result else { return }
        phase = .ended
        switch result {
        case .success(let file): box.tell(.finished(file))
        case .failure(let error): box.tell(.failed(error))
        }
    }

    func drives(_ handle: UnsafeMutableRawPointer) -> Bool { false }

    func connectionEnded(_ handle: UnsafeMutableRawPointer, _ code: CURLcode) {}

    func look(at now: Duration) {}

    func patience(at now: Duration) -> Duration? { nil }

    var hasUntoldProgress: Bool { false }

    func tellProgress() {}

    private func read() {
        phase = .reading
        let (id, path, request, box, loop, isAbandoned) = (id, path, request, box, loop, isAbandoned)
        BackgroundThread.run {
            var meter = ProgressMeter(loop.configuration.clock)
            let result = Result { () throws(DownloadError) in
                try LocalFile.take(path, request, isAbandoned: { isAbandoned.value }) { event in
                    if case .progress(let completed, let total) = event, completed != total,
                        !meter.tells(completed, of: total)
                    {
                        return
                    }
                    box.tell(event)
                }
            }
            loop.send(.disk(id, .sealed(result)))
        }
    }
}
