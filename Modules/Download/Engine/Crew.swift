/// The downloads of one ``Downloader``: those that run, and those that wait for their turn.
///
/// Belongs to the thread that drives the transfers.
struct Crew {
    /// One that was asked for and has not begun.
    struct Entry {
        let id: DownloadID
        var request: DownloadRequest
        let box: EventBox
        /// Whether it was released before it began: then what an earlier process held counts no more.
        var wasReleased = false
    }

    /// Those that have begun and not ended, the held ones among them.
    var active: [DownloadID: any RunningDownload] = [:]
    /// In the order of their turns.
    private var waiting: [Entry] = []
    private let limit: Int

    /// At most `limit` run at a time.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    var isEmpty: Bool { active.isEmpty && waiting.isEmpty }

    /// Whether it is somebody's turn.
    var hasNext: Bool { waiting.contains { $0.request.startsHeld } || (!waiting.isEmpty && hasRoom) }

    private var hasRoom: Bool { active.values.count { !$0.isHeld && !$0.isOver } < limit }

    /// Queues one behind those of its priority.
    mutating func add(_ entry: Entry) {
        let index = waiting.firstIndex { $0.request.priority < entry.request.priority } ?? waiting.count
        waiting.insert(entry, at: index)
    }

    /// Takes out the one whose turn it is. One that is held does nothing, so it needs no turn.
    mutating func next() -> Entry? {
        if let index = waiting.firstIndex(where: { $0.request.startsHeld }) { return waiting.remove(at: index) }
        return waiting.isEmpty || !hasRoom ? nil : waiting.removeFirst()
    }

    /// Holds one, also while it waits for its turn.
    mutating func hold(_ id: DownloadID) {
        if let index = waiting.firstIndex(where: { $0.id == id }) {
            hold(at: index)
        } else {
            active[id]?.hold()
        }
    }

    /// Lets one go on; one that has not begun is told when it does.
    mutating func release(_ id: DownloadID) {
        if let index = waiting.firstIndex(where: { $0.id == id }) {
            waiting[index].wasReleased = true
        } else {
            active[id]?.release()
        }
    }

    mutating func releaseAll() {
        for index in waiting.indices { waiting[index].wasReleased = true }
        for download in active.values { download.release() }
    }

    private mutating func hold(at index: Int) {
        waiting[index].request.startsHeld = true
        waiting[index].wasReleased = false
    }

    mutating func holdAll() {
        for index in waiting.indices { hold(at: index) }
        for download in active.values { download.hold() }
    }

    mutating func cancel(_ id: DownloadID, keepsPartial: Bool) {
        if let index = waiting.firstIndex(where: { $0.id == id }) {
            waiting.remove(at: index).box.tell(.failed(.cancelled))
        } else {
            active[id]?.cancel(keepsPartial: keepsPartial)
        }
    }

    mutating func cancelAll() {
        for entry in waiting { entry.box.tell(.failed(.cancelled)) }
        waiting = []
        for download in active.values { download.cancel(keepsPartial: true) }
    }

    mutating func removeEnded() {
        for (id, download) in active where download.isOver { active[id] = nil }
    }
}
