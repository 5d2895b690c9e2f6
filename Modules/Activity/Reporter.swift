/// Shows people what the installs are doing.
///
/// `updates` yields one element at a time: every fact, in order; progress only as its latest state, so a slow reader
/// misses intermediate percentages and nothing else. It ends when the center closes, and when the reporter's task is
/// cancelled; then return. An error thrown here detaches this reporter and is told to the others; no install notices.
///
/// `report` is called once, in a task of its own. It may take as long as it likes over an update and may block in a
/// write: nobody waits for it before ``ActivityCenter/close(waitingAtMost:)``. What can fail early (open a file, read a
/// key) belongs into `init`.
public protocol Reporter: Sendable {
    /// Reads the updates until they end.
    func report(_ updates: ActivityUpdates) async throws
}
