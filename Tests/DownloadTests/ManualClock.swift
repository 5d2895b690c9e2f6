import FerryBytes

/// A clock that moves when a test moves it.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    fileprivate struct Sleeper {
        var id: Int
        var end: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    fileprivate struct State {
        var now = Instant(offset: .zero)
        var nextID = 0
        var sleepers: [Sleeper] = []
        var requested: [Duration] = []
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Guarded(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    /// How long each sleep so far was to be.
    var requested: [Duration] { state.withLock { $0.requested } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let ready: [CheckedContinuation<Void, Never>] = state.withLock { state in
                    state.requested.append(state.now.duration(to: deadline))
                    if Task.isCancelled {
                        continuation.resume(throwing: CancellationError())
                    } else {
                        state.sleepers.append(Sleeper(id: id, end: deadline, continuation: continuation))
                    }
                    return state.takeWaiters()
                }
                for waiter in ready { waiter.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Waits until so many sleeps were asked for in all.
    func sleeps(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let ready: [CheckedContinuation<Void, Never>] = state.withLock { state in
                state.waiters.append((count, continuation))
                return state.takeWaiters()
            }
            for waiter in ready { waiter.resume() }
        }
    }

    /// Moves the time on and wakes whoever is due.
    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now.offset += duration
            let now = state.now
            let due = state.sleepers.filter { $0.end <= now }
            state.sleepers.removeAll { $0.end <= now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }
}

extension ManualClock.State {
    fileprivate mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
        let ready = waiters.filter { $0.count <= requested.count }
        waiters.removeAll { $0.count <= requested.count }
        return ready.map(\.continuation)
    }
}
