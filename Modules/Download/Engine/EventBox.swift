import FerryBytes

/// What a download has told and nobody has read yet, and how it ended.
///
/// State that follows unread state of its kind replaces it, so there are at most two more elements than thrice the facts;
/// and the facts of a download are few: the retries are limited, and holding is done by people.
final class EventBox: Sendable {
    private struct State {
        var unread: [DownloadEvent] = []
        var outcome: Result<DownloadedFile, DownloadError>?
        var reader: CheckedContinuation<DownloadEvent?, Never>?
        var waiters: [CheckedContinuation<Result<DownloadedFile, DownloadError>, Never>] = []

        mutating func keep(_ event: DownloadEvent) {
            var index = unread.count
            while index > 0, let kind = unread[index - 1].stateKind {
                index -= 1
                guard kind == event.stateKind else { continue }
                unread.remove(at: index)
                break
            }
            unread.append(event)
        }
    }

    private let state = Guarded(State())

    /// Adds an event; after the last one, nothing is added any more.
    func tell(_ event: DownloadEvent) {
        let (reader, waiters, outcome) = state.withLock { state in
            guard state.outcome == nil else {
                return (nil, [], nil) as (Reader?, [Waiter], Result<DownloadedFile, DownloadError>?)
            }
            switch event {
            case .finished(let file): state.outcome = .success(file)
            case .failed(let error): state.outcome = .failure(error)
            default: break
            }
            let reader = state.reader
            state.reader = nil
            if reader == nil {
                state.keep(event)
            }
            let waiters = state.outcome == nil ? [] : state.waiters
            if state.outcome != nil {
                state.waiters = []
            }
            return (reader, waiters, state.outcome)
        }
        reader?.resume(returning: event)
        guard let outcome else { return }
        for waiter in waiters {
            waiter.resume(returning: outcome)
        }
    }

    /// The next event; `nil` after the last one, when the reading task is cancelled, and for a second reader.
    func next() async -> DownloadEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: DownloadEvent?? = state.withLock { state in
                    if !state.unread.isEmpty {
                        return .some(state.unread.removeFirst())
                    }
                    if state.outcome != nil || state.reader != nil || Task.isCancelled {
                        return .some(nil)
                    }
                    state.reader = continuation
                    return nil
                }
                if let answer {
                    continuation.resume(returning: answer)
                }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: nil)
        }
    }

    /// How it ended; waits for that.
    func outcome() async -> Result<DownloadedFile, DownloadError> {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil {
                    state.waiters.append(continuation)
                }
                return state.outcome
            }
            if let outcome {
                continuation.resume(returning: outcome)
            }
        }
    }

    private typealias Reader = CheckedContinuation<DownloadEvent?, Never>
    private typealias Waiter = CheckedContinuation<Result<DownloadedFile, DownloadError>, Never>
}

extension DownloadEvent {
    fileprivate enum StateKind {
        case front
        case progress
    }

    /// Which state it tells; `nil` for a fact.
    fileprivate var stateKind: StateKind? {
        switch self {
        case .front: .front
        case .progress: .progress
        default: nil
        }
    }
}
