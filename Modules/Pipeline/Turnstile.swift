/// Lets a limited number of installs into a stage at once, in the order in which they came.
actor Turnstile {
    private var free: Int
    /// Those in line, the first one first.
    private var line: [UInt64] = []
    /// Those of the line, and those that were called, whose task waits already.
    private var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
    /// Those that were called before their task waited.
    private var called: Set<UInt64> = []
    private var lastID: UInt64 = 0

    init(limit: Int) {
        free = limit
    }

    /// How many stand in line.
    var count: Int { line.count }

    /// Runs `body` once there is room; throws `CancellationError` if the task is cancelled while it waits.
    ///
    /// - Parameter waits: called once it is in line, where there is no room now.
    nonisolated(nonsending) func pass<Value: Sendable>(
        waits: () async -> Void = {},
        _ body: () async throws -> Value
    ) async throws -> Value {
        if let place = await enter() {
            await waits()
            guard await wait(place) else { throw CancellationError() }
        }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        await leave()
        return try result.get()
    }

    /// Takes the room that there is, or else a place in line.
    private func enter() -> UInt64? {
        if free > 0 {
            free -= 1
            return nil
        }
        lastID += 1
        line.append(lastID)
        return lastID
    }

    /// Waits to be called; `false` where the task was cancelled instead.
    private func wait(_ id: UInt64) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if called.remove(id) != nil {
                    continuation.resume(returning: true)
                } else if Task.isCancelled {
                    line.removeAll { $0 == id }
                    continuation.resume(returning: false)
                } else {
                    waiting[id] = continuation
                }
            }
        } onCancel: {
            // Owned by nobody: it ends at once.
            Task { await giveUp(id) }
        }
    }

    private func giveUp(_ id: UInt64) {
        // One that was called meanwhile has the room, and leaves it in its turn.
        guard line.contains(id), let continuation = waiting.removeValue(forKey: id) else { return }
        line.removeAll { $0 == id }
        continuation.resume(returning: false)
    }

    private func leave() {
        guard !line.isEmpty else {
            free += 1
            return
        }
        let next = line.removeFirst()
        if let continuation = waiting.removeValue(forKey: next) {
            continuation.resume(returning: true)
        } else {
            called.insert(next)
        }
    }
}
