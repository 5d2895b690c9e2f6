import Synchronization

/// Keeps every update that it reads, for tests.
public final class RecordingReporter: Reporter {
    private struct State {
        var updates: [ActivityUpdate] = []
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// A reporter that has read nothing.
    public init() {}

    /// What it has read so far.
    public var updates: [ActivityUpdate] { state.withLock { $0.updates } }

    /// The facts among ``updates``.
    public var facts: [Fact] { updates.compactMap(\.fact) }

    /// Whether the updates have ended.
    public var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Reads until the end.
    public func report(_ updates: ActivityUpdates) async {
        for await update in updates {
            state.withLock { $0.updates.append(update) }
        }
        state.withLock { $0.hasEnded = true }
    }
}
