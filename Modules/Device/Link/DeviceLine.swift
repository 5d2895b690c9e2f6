import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How work that blocks on a device's sockets is watched, and ended from outside.
///
/// The work runs on a thread of its own and says here what it does. Whoever wants its end sets a reason and shuts the
/// sockets, which wakes the thread. Parts of libimobiledevice have sockets that cannot be had; a thread that still waits
/// in there after a while is left behind, and ends with that wait.
final class DeviceLine: Sendable {
    /// Why the work is to end.
    enum Reason: Sendable, Equatable {
        case cancelled
        /// Nothing came for so long.
        case stalled(Duration)
    }

    private struct State {
        var reason: Reason?
        /// Sockets to shut, and whether that is to wait for the end of what is under way.
        var sockets: [Int32: Bool] = [:]
        var step: String
        var signs = 0
    }

    /// How long what is under way may take to end by itself, once somebody wants the end.
    static let grace = Duration.seconds(2)

    /// What to call the device.
    let name: String
    private let state: Guarded<State>

    init(name: String, step: String) {
        self.name = name
        state = Guarded(State(step: step))
    }

    /// What is being done: `making PublicStaging`.
    var step: String { state.withLock { $0.step } }

    /// Says what begins; throws where the end is wanted.
    func begin(_ step: String) throws(DeviceError) {
        state.withLock {
            $0.step = step
            $0.signs += 1
        }
        try check()
    }

    /// Says that the device is alive; throws where the end is wanted.
    func sign() throws(DeviceError) {
        touch()
        try check()
    }

    /// Says that the device is alive, also where the end is wanted and only things are put in order.
    func touch() {
        state.withLock { $0.signs += 1 }
    }

    /// Throws where the end is wanted.
    func check() throws(DeviceError) {
        if let error { throw error }
    }

    /// Why the work ends, as an error; `nil` while it goes on.
    var error: DeviceError? {
        state.withLock { state in
            switch state.reason {
            case nil: nil
            case .cancelled: DeviceError(.cancelled, "\(name): \(state.step) was cancelled.")
            case .stalled(let limit):
                DeviceError(
                    .stalled,
                    "\(name): nothing has come from it for \(limit.components.seconds) s; the last was: \(state.step).",
                    remedy: "Unlock the device and look at it. If it hangs there again, restart it, and try again."
                )
            }
        }
    }

    /// Takes a socket into care, while the work goes on.
    ///
    /// - Parameter isPatient: whether what is under way on it should end by itself, if it does so soon.
    func add(_ socket: Int32, isPatient: Bool) throws(DeviceError) {
        state.withLock { $0.sockets[socket] = isPatient }
        try check()
    }

    /// Forgets a socket, before it is closed.
    func remove(_ socket: Int32) {
        state.withLock { $0.sockets[socket] = nil }
    }

    private func end(_ reason: Reason) {
        state.withLock { state in
            if state.reason == nil { state.reason = reason }
            for (socket, isPatient) in state.sockets where !isPatient { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    private func shutAll() {
        state.withLock { state in
            for socket in state.sockets.keys { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    // MARK: Running

    /// Does `work` on a thread of its own; ends it when the task is cancelled, or when nothing comes for `limit`.
    static func run<Value: Sendable>(
        on name: String,
        doing step: String,
        limit: Duration,
        clock: any Clock<Duration>,
        _ work: @escaping @Sendable (DeviceLine) throws -> Value
    ) async throws -> Value {
        let line = DeviceLine(name: name, step: step)
        let answer = Answer<Value>()
        // Both are cancelled below.
        let watch = Task { await line.watch(limit, clock) { answer.give(.failure($0)) } }
        defer { watch.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                answer.expect(continuation)
                let thread = startThread {
                    let result = Result { try work(line) }
                    answer.give(result.mapError { line.error ?? $0 })
                }
                if let thread {
                    pthread_detach(thread)
                } else {
                    answer.give(.failure(DeviceError(.service, "\(name): no thread can be had.")))
                }
            }
        } onCancel: {
            line.end(.cancelled)
            // Ends by itself.
            Task { await line.giveUp(clock) { answer.give(.failure($0)) } }
        }
    }

    private func watch(_ limit: Duration, _ clock: any Clock<Duration>, _ giveUp: (DeviceError) -> Void) async {
        /// In how many looks a time-out is seen: it comes at most one of them late.
        let lookCount = 4
        var seen = -1
        var quiet = 0
        while quiet < lookCount {
            guard (try? await clock.sleep(for: limit / lookCount)) != nil else { return }
            let signs = state.withLock { $0.signs }
            quiet = signs == seen ? quiet + 1 : 0
            seen = signs
        }
        end(.stalled(limit))
        await self.giveUp(clock, giveUp)
    }

    /// Shuts everything after a while, and after another one waits no more.
    private func giveUp(_ clock: any Clock<Duration>, _ tell: (DeviceError) -> Void) async {
        try? await clock.sleep(for: Self.grace)
        shutAll()
        try? await clock.sleep(for: Self.grace)
        if let error { tell(error) }
    }
}

/// An answer that is given once, whoever comes first.
private final class Answer<Value: Sendable>: Sendable {
    private enum State {
        case early
        case expected(CheckedContinuation<Value, any Error>)
        case given
    }

    private let state = Guarded(State.early)

    func expect(_ continuation: CheckedContinuation<Value, any Error>) {
        state.withLock { $0 = .expected(continuation) }
    }

    func give(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard case .expected(let continuation) = state else { return nil }
            state = .given
            return continuation
        }
        waiting?.resume(with: result)
    }
}
