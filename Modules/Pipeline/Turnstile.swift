/// Lets a limited number of installs into a stage at once, in the order in which they came.
actor Turnstile {
    private var free: Int
    private var waiting: [(id: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
    private var nextID: UInt64 = 0

    init(limit: Int) {
        free = limit
    }

    /// How many stand in line.
    var count: Int { waiting.count }

    /// Runs `body` once there is room; throws `CancellationError` if the task is cancelled while it waits.
    nonisolated(nonsending) func pass<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        guard await enter() else { throw CancellationError() }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        await leave()
        return try result.get()
    }

    private func enter() async -> Bool {
        if free > 0 {
            free -= 1
            return true
        }
        nextID += 1
        let id = nextID
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(returning: false)
                } else {
                    waiting.append((id, continuation))
                }
            }
        } onCancel: {
            // Owned by nobody: it ends at once.
            Task { await giveUp(id) }
        }
    }

    private func giveUp(_ id: UInt64) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: index).continuation.resume(returning: false)
    }

    private func leave() {
        guard !waiting.isEmpty else {
            free += 1
            return
        }
        waiting.removeFirst().continuation.resume(returning: true)
    }
}
