#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Keeps every install in one ``Activity`` and tells it to any number of readers.
///
/// The pipeline sends events; nobody that reads can make it wait. A reader gets every fact in order and progress as
/// its latest state. Facts wait in one log for all readers; one that is more than `maximumUnreadFacts` behind is cut
/// off, which the others are told, so that a reader that never reads costs a bounded amount of memory.
public actor ActivityCenter {
    private struct Seat {
        let name: String
        weak var ticket: Ticket?
        let bell: AsyncStream<Void>.Continuation
        /// The reporter that sits here; `nil` for a plain subscriber.
        var reporter: Task<Void, Never>?
    }

    private let now: @Sendable () -> Date
    private let clock: any Clock<Duration>
    private let stopwatch: Stopwatch
    private let threads = ReporterThreads()
    private var log: FactLog
    private var meters = Meters()
    private var seats: [Int: Seat] = [:]
    private var lastID = 0
    private var closers: [AsyncStream<Void>.Continuation] = []

    /// A center without installs.
    ///
    /// - Parameters:
    ///   - now: The date of what happens now.
    ///   - clock: What rates and the wait in ``close(waitingAtMost:)`` are measured by.
    ///   - maximumUnreadFacts: How far a reader may fall behind; about 200 bytes each. An install has about
    ///     nine, and one of them keeps its icon of at most ``Install/maximumIconBytes``.
    public init(
        now: @escaping @Sendable () -> Date,
        clock: any Clock<Duration>,
        maximumUnreadFacts: Int = 100_000
    ) {
        self.now = now
        self.clock = clock
        stopwatch = Stopwatch(clock)
        log = FactLog(limit: maximumUnreadFacts)
    }

    deinit {
        for seat in seats.values {
            seat.bell.finish()
            seat.reporter?.cancel()
        }
    }

    /// The present state.
    public var activity: Activity { log.state.activity }

    /// Takes an event from the pipeline. Waits for no reader. After ``close(waitingAtMost:)`` it does nothing.
    public func send(_ event: ActivityEvent) {
        let rate = meters.observe(event, at: stopwatch.seconds)
        guard log.apply(event.limited, at: now(), bytesPerSecond: rate) else { return }
        settle()
    }

    /// Updates for one reader, from the present state on.
    ///
    /// `name` is what the others are told if the reader has to be cut off.
    public func subscribe(named name: String = "subscriber") -> ActivityUpdates {
        let ticket = seat(named: name)
        return ActivityUpdates(center: self, ticket: ticket)
    }

    /// Runs a reporter until the center closes, in a task that the center owns.
    ///
    /// An error that it throws detaches it and is told to the others as ``Fact/reporterDetached(name:reason:)``. After
    /// ``close(waitingAtMost:)`` it does nothing.
    public func attach(_ reporter: any Reporter, named name: String) {
        guard !log.isClosed else { return }
        let ticket = seat(named: name)
        let updates = ActivityUpdates(center: self, ticket: ticket)
        // Cancelled by `leave`, `close` and `deinit`.
        seats[ticket.id]?.reporter = Task(executorPreference: threads) { [weak self, id = ticket.id] in
            do {
                try await reporter.report(updates)
                await self?.left(id, error: nil)
            } catch {
                await self?.left(id, error: error)
            }
        }
    }

    /// Ends all updates after what is still unread, and waits until the reporters have returned.
    ///
    /// Those that have not returned after `limit` are cancelled and left to themselves. So are all of them when the
    /// calling task is cancelled.
    public func close(waitingAtMost limit: Duration) async {
        log.close(at: now())
        settle()
        if seats.values.contains(where: { $0.reporter != nil }) {
            let (ends, end) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            closers.append(end)
            let timer = Task { [clock] in
                try? await clock.sleep(for: limit)
                end.finish()
            }
            for await _ in ends {}
            timer.cancel()
        }
        for seat in seats.values { seat.reporter?.cancel() }
    }

    // MARK: Readers

    /// What comes next for the reader with that ticket.
    func take(_ id: Int) -> FactLog.Take {
        log.take(id)
    }

    /// How many facts that reader has not seen; `nil` for one that was cut off.
    func unread(_ updates: ActivityUpdates) -> Int? { log.unread(updates.ticket.id) }

    /// How many facts are kept for readers that have not seen them.
    var keptFacts: Int { log.count }

    private func seat(named name: String) -> Ticket {
        lastID += 1
        let (bells, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let ticket = Ticket(id: lastID, bell: bells)
        seats[lastID] = Seat(name: name, ticket: ticket, bell: bell)
        log.subscribe(lastID, at: now())
        return ticket
    }

    /// A reporter returned or threw.
    private func left(_ id: Int, error: (any Error)?) {
        guard let seat = seats[id] else { return }
        leave(id)
        if let error, !(error is CancellationError) {
            log.detached(seat.name, reason: String(describing: error), at: now())
            settle()
        }
        guard log.isClosed, !seats.values.contains(where: { $0.reporter != nil }) else { return }
        for closer in closers { closer.finish() }
        closers = []
    }

    private func leave(_ id: Int) {
        guard let seat = seats.removeValue(forKey: id) else { return }
        log.remove(id)
        seat.bell.finish()
        seat.reporter?.cancel()
    }

    /// Sees to the readers after a change: those that are gone, those too far behind, those that wait.
    private func settle() {
        if log.count > 0 {
            for (id, seat) in seats where seat.ticket == nil && seat.reporter == nil { leave(id) }
        }
        var late = log.cutOff()
        while !late.isEmpty {
            for id in late {
                let name = seats[id]?.name ?? ""
                leave(id)
                log.detached(name, reason: "it was more than \(log.limit) facts behind", at: now())
            }
            late = log.cutOff()
        }
        for id in log.wake() { seats[id]?.bell.yield() }
    }
}

/// The time since it was made, by any clock.
struct Stopwatch: Sendable {
    private let elapsed: @Sendable () -> Duration

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
    }

    /// Seconds since the start.
    var seconds: Double {
        let (seconds, attoseconds) = elapsed().components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
