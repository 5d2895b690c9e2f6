import Dispatch
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The one thread that uses the database: SQLite waits for disks and for other processes.
final class RecordThread: Sendable {
    typealias Job = @Sendable (RecordCore) -> Void

    /// How often it looks whether another process wrote, and how soon progress is written at most.
    static let lookInterval = DispatchTimeInterval.milliseconds(200)

    private struct Inbox {
        var jobs: [Job] = []
        var progress: [String: StageNote] = [:]
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastWatcher = 0
        var isClosed = false
    }

    private let inbox = Guarded(Inbox())
    private let bell = DispatchSemaphore(value: 0)

    private init() {}

    /// Starts the thread, which makes its core itself.
    static func start(
        _ make: @escaping @Sendable () throws(RecordError) -> RecordCore
    ) async throws(RecordError) -> RecordThread {
        let thread = RecordThread()
        let result: Result<Void, RecordError> = await withCheckedContinuation { continuation in
            let started = startThread {
                do throws(RecordError) {
                    let core = try make()
                    continuation.resume(returning: .success(()))
                    thread.serve(core)
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            if let started {
                pthread_detach(started)
            } else {
                continuation.resume(returning: .failure(RecordError(.file, "The system gives no thread.")))
            }
        }
        try result.get()
        return thread
    }

    /// Does `work` on the thread, after all that was asked before.
    func perform<Value: Sendable>(
        _ work: @escaping @Sendable (RecordCore) throws(RecordError) -> Value
    ) async throws(RecordError) -> Value {
        let result: Result<Value, RecordError> = await withCheckedContinuation { continuation in
            let isTaken = post { core in
                continuation.resume(returning: Result { () throws(RecordError) in try work(core) })
            }
            if !isTaken { continuation.resume(returning: .failure(Self.closed)) }
        }
        return try result.get()
    }

    /// Notes progress, in place of what was noted for that install and is not written yet.
    func note(_ note: StageNote, of id: String) {
        let isFirst = inbox.withLock { inbox in
            inbox.progress.updateValue(note, forKey: id) == nil && inbox.progress.count == 1
        }
        // Wakes it once, so that it begins to look at the time.
        if isFirst { bell.signal() }
    }

    /// Rings when another process wrote.
    func watch() -> AsyncStream<Void> {
        let (rings, ring) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (number, isClosed) = inbox.withLock { inbox in
            inbox.lastWatcher += 1
            inbox.watchers[inbox.lastWatcher] = ring
            return (inbox.lastWatcher, inbox.isClosed)
        }
        // Once nobody listens, it need not look.
        ring.onTermination = { [weak self] _ in
            _ = self?.inbox.withLock { $0.watchers.removeValue(forKey: number) }
        }
        if isClosed { ring.finish() }
        bell.signal()
        return rings
    }

    /// Ends the thread after all that was asked before; its core goes with it.
    func close() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isTaken = post(isLast: true) { core in
                core.close()
                continuation.resume()
            }
            if !isTaken { continuation.resume() }
        }
    }

    /// Ends the thread, and waits for nothing.
    func abandon() {
        _ = post(isLast: true) { $0.close() }
    }

    private static let closed = RecordError(.file, "The record is closed.")

    private func post(isLast: Bool = false, _ job: @escaping Job) -> Bool {
        let isTaken = inbox.withLock { inbox in
            guard !inbox.isClosed else { return false }
            inbox.isClosed = isLast
            inbox.jobs.append(job)
            return true
        }
        if isTaken { bell.signal() }
        return isTaken
    }
}

extension RecordThread {
    private func serve(_ core: RecordCore) {
        var lookedAt = DispatchTime.now()
        while true {
            let (job, isOver, watches) = inbox.withLock { inbox in
                let job = inbox.jobs.isEmpty ? nil : inbox.jobs.removeFirst()
                let watches = !inbox.watchers.isEmpty || !inbox.progress.isEmpty
                return (job, inbox.isClosed && inbox.jobs.isEmpty, watches)
            }
            if let job {
                if isOver { writeProgress(core) }
                job(core)
                if isOver { break }
            } else if watches {
                _ = bell.wait(timeout: lookedAt + Self.lookInterval)
            } else {
                bell.wait()
            }
            if watches, DispatchTime.now() >= lookedAt + Self.lookInterval {
                lookedAt = DispatchTime.now()
                writeProgress(core)
                if core.hasForeignChanges() { ring() }
            }
        }
        let watchers = inbox.withLock { inbox in
            defer { inbox.watchers = [:] }
            return inbox.watchers.values.map(\.self)
        }
        for watcher in watchers { watcher.finish() }
    }

    private func writeProgress(_ core: RecordCore) {
        let notes = inbox.withLock { inbox in
            defer { inbox.progress = [:] }
            return inbox.progress
        }
        if !notes.isEmpty { core.write(notes) }
    }

    private func ring() {
        for watcher in inbox.withLock({ $0.watchers.values.map(\.self) }) { watcher.yield() }
    }
}

/// How far a stage is.
struct StageNote: Sendable {
    var completed: Int64
    var total: Int64?
    var unit: String
}
