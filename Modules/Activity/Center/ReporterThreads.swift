import Dispatch

/// Runs reporters where they may block.
///
/// All other tasks share a thread a core: on a small machine two reporters in a write that nobody reads would stop every
/// install. Here a job never waits for another to end: each has a queue of its own, and the system a thread for it.
final class ReporterThreads: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        DispatchQueue(label: "reporter").async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
