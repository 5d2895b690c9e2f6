public import FerryActivity

/// Makes server-sent events of what happens, for any number of viewers (HTML standard §9.2; docs/api.md).
///
/// Four kinds: `state`, all there is, at the start; `fact`, each of them, in order; `progress`, at most four a second, with
/// what moved; `island`, what a phone's Live Activity would show. Each is encoded once. A viewer is a place in a log that is
/// bounded, so a slow one costs nothing; one that falls behind the log is closed, and begins anew with the state.
public final class WebReporter: Reporter {
    private let hub: EventHub
    private let clock: any Clock<Duration>

    /// A reporter without viewers.
    ///
    /// - Parameters:
    ///   - epoch: What tells its event ids from those of an earlier process; letters and digits.
    ///   - limits: How much is kept, and how often viewers are told.
    ///   - clock: What is waited by.
    public convenience init(
        epoch: String = WebReporter.newEpoch(),
        limits: WebLimits = WebLimits(),
        clock: any Clock<Duration>
    ) {
        self.init(epoch: epoch, limits: limits, clock: clock) { _, _ in }
    }

    /// A reporter whose installs have further keys.
    ///
    /// - Parameter addition: Adds keys to an install's object. Called often, and while viewers wait, so it must be quick and
    ///   not ask this reporter.
    package init(
        epoch: String = WebReporter.newEpoch(),
        limits: WebLimits = WebLimits(),
        clock: any Clock<Duration>,
        addition: @escaping @Sendable (Install, inout JSONObject) -> Void
    ) {
        hub = EventHub(epoch: epoch, limits: limits, addition: addition)
        self.clock = clock
    }

    /// A new epoch: eight random letters and digits.
    public static func newEpoch() -> String {
        String(UInt64.random(in: 0x10_0000_0000...0x1FF_FFFF_FFFF), radix: 32)
    }

    /// The events of a new viewer; `nil` where there are as many as there may be.
    ///
    /// - Parameter id: The id of the last event that it had, as its `Last-Event-ID` says; `nil` for none. Where not all that
    ///   followed is kept, the viewer begins with the state.
    public func events(after id: String? = nil) -> WebEvents? {
        WebEvents(hub, after: id)
    }

    /// How many viewers there are.
    public var viewerCount: Int { hub.viewerCount }

    /// How many facts are kept for viewers, and how many bytes these have.
    public var kept: (facts: Int, bytes: Int) { hub.kept }

    /// The id of the last event, after which a viewer that knows the present state may go on.
    public var lastEventID: String { hub.lastEventID }

    /// Whether nothing more comes: then viewers leave once they have read what there is.
    public var isClosed: Bool { hub.isClosed }

    /// What a phone's island would show now.
    package func island() -> String { hub.islandJSON() }

    /// Reads the updates until they end, then ends what the viewers read.
    public func report(_ updates: ActivityUpdates) async {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [hub] in
                for await update in updates {
                    hub.take(update)
                    signal.yield()
                }
            }
            group.addTask { await self.pace(signals, signal) }
            group.addTask { [hub, clock] in
                while !Task.isCancelled {
                    try? await clock.sleep(for: hub.limits.longestSilence)
                    hub.beat()
                    hub.call()
                }
            }
            await group.next()
            group.cancelAll()
        }
        hub.flushProgress()
        hub.close()
    }

    /// Calls the viewers when there is something to tell, and not too often.
    private func pace(_ signals: AsyncStream<Void>, _ signal: AsyncStream<Void>.Continuation) async {
        let limits = hub.limits
        var sinceProgress = limits.progressPause
        for await _ in signals {
            if sinceProgress >= limits.progressPause, hub.hasProgress {
                hub.flushProgress()
                sinceProgress = .zero
            }
            hub.call()
            try? await clock.sleep(for: limits.callPause)
            sinceProgress += limits.callPause
            if hub.hasProgress { signal.yield() }
        }
    }
}
