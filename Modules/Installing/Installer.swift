/// Installs archives on one target, as many at a time as it can take, in the order in which they come.
public actor Installer {
    /// Where to.
    public nonisolated let target: any InstallTarget
    /// What was begun, in rings of as many as may be under way: the next one waits for the one at its place.
    private var begun: [Task<Void, Never>] = []
    private var place = 0

    /// Installs on `target`.
    public init(target: any InstallTarget) {
        self.target = target
    }

    /// Begins to install, after those that were begun before; ends early when a task that awaits it is cancelled.
    ///
    /// - Parameter name: what the target may know the install by, in this process and in later ones; see
    ///   ``InstallName``.
    public func install(_ path: String, as name: String? = nil) -> Installation {
        let (events, sink) = AsyncStream.makeStream(
            of: InstallEvent.self,
            // Targets tell whole percents and a dozen steps.
            bufferingPolicy: .bufferingNewest(256)
        )
        let isFull = begun.count >= max(1, target.maximumInstalls)
        let before = isFull ? begun[place] : nil
        let target = target
        let task = Task<Result<InstalledApp, InstallError>, Never> {
            defer { sink.finish() }
            await before?.value
            do throws(InstallError) {
                guard !Task.isCancelled else { throw InstallError(wrapping: CancellationError(), archive: path) }
                return .success(
                    try await InstallName.with(name) { () async throws(InstallError) in
                        try await target.install(path, tell: { sink.yield($0) })
                    }
                )
            } catch {
                return .failure(error)
            }
        }
        // Owned by `begun`; it only waits.
        let end = Task { _ = await task.value }
        if isFull {
            begun[place] = end
            place = (place + 1) % begun.count
        } else {
            begun.append(end)
        }
        return Installation(events: events, task: task)
    }
}

/// What the install that runs in this task is called, for targets that remember installs.
public enum InstallName {
    /// The name; `nil` where it has none.
    @TaskLocal public static var current: String?

    static func with<Value: Sendable>(
        _ name: String?,
        _ body: @Sendable () async throws(InstallError) -> Value
    ) async throws(InstallError) -> Value {
        let result = await $current.withValue(name) { () async -> Result<Value, InstallError> in
            do throws(InstallError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

/// An install in the making.
public struct Installation: Sendable {
    /// What happens, in order; for one reader. Ends with the install.
    public let events: AsyncStream<InstallEvent>
    private let task: Task<Result<InstalledApp, InstallError>, Never>

    init(events: AsyncStream<InstallEvent>, task: Task<Result<InstalledApp, InstallError>, Never>) {
        self.events = events
        self.task = task
    }

    /// The app, once it stands.
    public var app: InstalledApp {
        get async throws(InstallError) {
            let result = await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
            return try result.get()
        }
    }

    /// Ends it; what was installed before is still there.
    public func cancel() {
        task.cancel()
    }
}
