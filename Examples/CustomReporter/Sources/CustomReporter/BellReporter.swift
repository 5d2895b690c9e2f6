import FerryActivity

/// Rings the bell and says one sentence for each install that ended.
struct BellReporter: Reporter {
    let say: @Sendable (String) -> Void

    func report(_ updates: ActivityUpdates) async throws {
        for await update in updates {
            guard case .finished(_, let outcome) = update.fact, let install = update.install else { continue }
            let left = update.activity.unfinished.count
            switch outcome {
            case .delivered: say("\u{7}\(install.title) is with its phone, \(left) to go.")
            case .installed: say("\u{7}\(install.title) is installed, \(left) to go.")
            case .failed(let failure): say("\u{7}\(install.title) failed: \(failure)")
            case .cancelled: break
            }
        }
    }
}
