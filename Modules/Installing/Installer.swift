/// Installs archives on one target, one after the other.
public actor Installer {
    /// Where to.
    public nonisolated let target: any InstallTarget
    private var last: Task<Void, Never>?

    /// Installs on `target`.
    public init(target: any InstallTarget) {
        self.target = target
    }

    /// Begins to install, after all that were begun before; ends early when a task that awaits it is cancelled.
    public func install(_ path: String) -> Installation {
        let (events, sink) = AsyncStream.makeStream(
            of: InstallEvent.self,
            // Targets tell whole percents and a dozen steps.
            bufferingPolicy: .bufferingNewest(256)
        )
        let before = last
        let target = target
        let task = Task<Result<InstalledApp, InstallError>, Never> {
            defer { sink.finish() }
            await before?.value
            do throws(InstallError) {
                guard !Task.isCancelled else { throw InstallError(wrapping: CancellationError(), archive: path) }
                return .success(try await target.install(path, tell: { sink.yield($0) }))
            } catch {
                return .failure(error)
            }
        }
        // Owned by `last`; it only waits.
        last = Task { _ = await task.value }
        return Installation(events: events, task: task)
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
