import Dispatch
import Foundation

/// Runs work that blocks on a thread of its own, so that it neither waits for the other tests nor stops them.
///
/// All tasks share a thread a core. Two that block or spin there on a small machine stop everything, what they wait for
/// included.
public func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(with: Result(catching: work))
        }
    }
}

/// Runs tasks on threads of its own, where they may block.
public final class BlockingExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "tasks that may block", attributes: .concurrent)

    /// Starts no thread before there is work.
    public init() {}

    /// Takes a job of a task that runs here.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
