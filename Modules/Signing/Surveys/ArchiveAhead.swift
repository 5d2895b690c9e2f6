import FerryBytes
import FerryZip

/// Reads an archive while it is still arriving, so that little is left to do when its last byte is there.
///
/// Entries are unpacked and hashed as soon as they are whole, by the headers before them. Only when the directory has come
/// is it certain what they are: what it does not confirm is read again. So it does no harm where bytes arrive out of order,
/// or a header is wrong; then only time is lost that nobody needed. It goes on until the last reference is gone.
public final class ArchiveAhead: Sendable {
    private let state = AheadState()
    private let signal: AsyncStream<Void>.Continuation

    init(options: SigningOptions, workers: Workers) {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.signal = signal
        // The task must not keep this object, whose end is the task's.
        Task(executorPreference: workers) { [state] in
            let reader = AheadReader(options: options, workers: workers)
            for await _ in signals {
                while let work = state.work() { state.take(await reader.read(work), of: work) }
            }
            state.end()
        }
    }

    deinit {
        signal.finish()
    }

    /// Says how much has arrived: the first `front` bytes of the file at `path` are there and will not change.
    public func advance(path: String, front: Int64) {
        if state.advance(path: path, front: Int(clamping: front)) { signal.yield() }
    }

    /// Says that what had arrived is gone.
    public func restart() {
        state.restart()
    }

    /// What is known of the archive that arrived as `source`.
    func survey(of source: FileSource, _ directory: ZipDirectory) async -> ArchiveSurvey {
        advance(path: source.path, front: Int64(source.count))
        let entries = await state.entries(of: AheadState.name(of: source))
        var survey = ArchiveSurvey()
        for entry in directory.entries {
            guard let known = entries[entry.localHeaderOffset], known.local.isSame(as: entry) else { continue }
            survey.files[entry.index] = known.file
        }
        return survey
    }
}

/// One entry that was read before the directory came.
struct EntryAhead: Sendable {
    let local: LocalEntry
    let file: ArchiveSurvey.File
}

/// How far an archive has arrived and was read.
final class AheadState: Sendable {
    /// What to read next.
    struct Work: Sendable {
        let path: String
        /// How many bytes there are from the start.
        let front: Int
        /// Counts how often it began anew.
        let generation: Int
    }

    /// What was read.
    struct Done: Sendable {
        var entries: [EntryAhead] = []
        /// Device and inode of the file; `nil` where it could not be opened.
        var name: [UInt8]?
    }

    private struct State {
        var path = ""
        var front = 0
        var generation = 0
        /// Up to where it was read.
        var done = 0
        /// By where their headers lie.
        var entries: [Int: EntryAhead] = [:]
        var name: [UInt8]?
        var hasEnded = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())

    /// What of a file's identity stays while it grows: device and inode.
    static func name(of source: FileSource) -> [UInt8] {
        Array(source.identity.prefix(16))
    }

    /// Whether there is more than before.
    func advance(path: String, front: Int) -> Bool {
        state.withLock { state in
            state.path = path
            guard front > state.front else { return false }
            state.front = front
            return true
        }
    }

    func restart() {
        state.withLock { state in
            state.generation += 1
            (state.front, state.done, state.entries, state.name) = (0, 0, [:], nil)
        }
    }

    /// What is to be read now; where there is nothing, those who wait go on.
    func work() -> Work? {
        let (work, waiting) = state.withLock { state -> (Work?, [CheckedContinuation<Void, Never>]) in
            if state.front > state.done {
                return (Work(path: state.path, front: state.front, generation: state.generation), [])
            }
            defer { state.waiting = [] }
            return (nil, state.waiting)
        }
        for continuation in waiting { continuation.resume() }
        return work
    }

    func take(_ done: Done, of work: Work) {
        state.withLock { state in
            guard state.generation == work.generation else { return }
            guard done.name != nil else {
                // It could not be opened. Perhaps it can be under its next name.
                state.front = state.done
                return
            }
            state.done = work.front
            // Another file under the same name is another archive.
            if state.name != done.name { state.entries = [:] }
            state.name = done.name
            for entry in done.entries { state.entries[entry.local.entry.localHeaderOffset] = entry }
        }
    }

    func end() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until all that has arrived is read; nothing is known of another file.
    func entries(of name: [UInt8]) async -> [Int: EntryAhead] {
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                guard !state.hasEnded, state.front > state.done else { return false }
                state.waiting.append(continuation)
                return true
            }
            if !waits { continuation.resume() }
        }
        return state.withLock { $0.name == name ? $0.entries : [:] }
    }
}
