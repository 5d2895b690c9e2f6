#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What every reporter must do, tried out.
///
/// ```swift
/// @Test func `passes the checks`() async throws {
///     try await ReporterChecks.run(within: .seconds(10)) { MyReporter() }
/// }
/// ```
public enum ReporterChecks {
    /// How a history is played to the reporter.
    public enum Manner: String, Sendable, CaseIterable {
        /// It reads while things happen.
        case live = "live"
        /// It starts when everything has happened.
        case late = "late"
        /// Its task is cancelled while it waits for more.
        case cancelled = "cancelled while it waits"
    }

    /// What a reporter did wrong.
    public struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// The name of the ``History``.
        public let history: String
        /// How it was played.
        public let manner: Manner
        /// What the reporter did.
        public let message: String

        /// The history, the manner, and what the reporter did.
        public var description: String { "\(history), \(manner.rawValue): \(message)" }
    }

    /// Plays every history to a new reporter in every manner, and throws the first ``Fault``.
    ///
    /// A reporter must read to the end, then return; return when its task is cancelled; and throw nothing but
    /// `CancellationError` after that. A reporter that hangs is left behind.
    ///
    /// - Parameters:
    ///   - limit: How long it may take to return after the end.
    ///   - histories: What is played.
    ///   - clock: What `limit` is measured by.
    ///   - now: The dates of the updates.
    ///   - makeReporter: Called for each history and manner; what it throws is thrown on.
    public static func run(
        within limit: Duration,
        histories: [History] = History.all,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() },
        reporter makeReporter: @Sendable () throws -> any Reporter
    ) async throws {
        for history in histories {
            for manner in Manner.allCases {
                let reporter = try makeReporter()
                let center = ActivityCenter(now: now, clock: clock)
                let fault = await play(history, manner, to: reporter, through: center, within: limit, clock)
                if let fault { throw Fault(history: history.name, manner: manner, message: fault) }
            }
        }
    }

    private static func play(
        _ history: History,
        _ manner: Manner,
        to reporter: any Reporter,
        through center: ActivityCenter,
        within limit: Duration,
        _ clock: any Clock<Duration>
    ) async -> String? {
        let events = history.events
        if manner == .late {
            for event in events { await center.send(event) }
        }
        let updates = await center.subscribe()
        let (results, result) = AsyncStream.makeStream(of: (any Error)?.self, bufferingPolicy: .bufferingOldest(1))
        // Both tasks end by themselves or are cancelled below.
        let reading = Task {
            do {
                try await reporter.report(updates)
                result.yield(nil)
            } catch {
                result.yield(error)
            }
            result.finish()
        }
        if manner != .late {
            for event in events {
                await center.send(event)
                await Task.yield()
            }
        }
        if manner == .cancelled {
            reading.cancel()
        } else {
            await center.close(waitingAtMost: .zero)
        }
        let timer = Task {
            try await clock.sleep(for: limit)
            result.finish()
        }
        var ends = results.makeAsyncIterator()
        let end = await ends.next()
        timer.cancel()
        reading.cancel()
        guard let end else { return "it did not return within \(limit) of the end" }
        if let error = end {
            return manner == .cancelled && error is CancellationError ? nil : "it threw: \(error)"
        }
        guard manner != .cancelled, let unread = await center.unread(updates), unread > 0 else { return nil }
        return "it returned with \(unread) facts unread"
    }
}
