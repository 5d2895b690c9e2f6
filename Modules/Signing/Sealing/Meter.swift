import FerryBytes

/// Counts bytes from several threads and reports whole percents.
final class Meter: Sendable {
    private let total: Int
    private let report: @Sendable (_ completed: Int, _ total: Int) -> Void
    private let state = Guarded((completed: 0, percent: -1))

    init(total: Int, report: @escaping @Sendable (_ completed: Int, _ total: Int) -> Void) {
        self.total = total
        self.report = report
    }

    /// Adds bytes that are done.
    func add(_ bytes: Int) {
        // The report is made under the lock, so that no later count overtakes an earlier one.
        state.withLock { state in
            state.completed += bytes
            let percent = total > 0 ? Int(Double(state.completed) / Double(total) * 100) : 100
            guard percent > state.percent else { return }
            state.percent = percent
            report(state.completed, total)
        }
    }
}
