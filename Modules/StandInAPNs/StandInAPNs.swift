import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A push service of our own on a free port of loopback, for tests and the benchmark.
///
/// It speaks HTTP/2 over TLS, checks what Apple documents, answers as Apple does, misbehaves as its script says, and
/// counts. One thread serves all connections; it stops when the last reference goes.
package final class StandInAPNs: Sendable {
    /// How much is kept of the pushes that were taken.
    package enum Record: Sendable {
        /// Their number.
        case count
        /// Their ids too, so that none counts twice unnoticed.
        case ids
        /// All that they said.
        case deliveries
    }

    /// What the server is called in its certificate.
    package let host = "localhost"
    /// Its port.
    package var port: UInt16 { core.port }
    /// The keys to use it with.
    package let credentials: StandInCredentials
    private let core: StandInCore

    /// Starts it.
    ///
    /// - Parameter wallSeconds: its time of day, in seconds since 1970.
    package init(
        _ script: StandInScript = StandInScript(),
        credentials: StandInCredentials? = nil,
        record: Record = .deliveries,
        wallSeconds: @escaping @Sendable () -> Int64 = { Int64(time(nil)) }
    ) throws {
        let credentials = try credentials ?? StandInCredentials()
        self.credentials = credentials
        core = try StandInCore(script, credentials, record, wallSeconds)
        try core.start()
    }

    deinit {
        core.stop()
    }

    /// How it misbehaves, from the next request on.
    package var script: StandInScript {
        get { core.state.withLock { $0.script } }
        set { core.state.withLock { $0.script = newValue } }
    }

    /// What it has seen.
    package var ledger: StandInLedger { core.state.withLock { $0.ledger } }

    /// Waits until it has seen what `isEnough` wants; also called on the server's thread.
    package func wait(until isEnough: @escaping @Sendable (StandInLedger) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isSo = core.state.withLock { state in
                if isEnough(state.ledger) { return true }
                state.waiters.append((isEnough, continuation))
                return false
            }
            if isSo { continuation.resume() }
        }
    }

    /// Sends the answers that were kept back.
    package func releaseAnswers() { core.order(.release) }

    /// Lowers or raises the limit of streams on every connection.
    package func setStreamLimit(_ limit: UInt32) { core.order(.streamLimit(limit)) }

    /// Sends a GOAWAY on every connection, after the requests that were looked at.
    package func sendGoaway() { core.order(.goaway) }

    /// Closes every connection without a word.
    package func closeConnections() { core.order(.closeConnections) }

    /// Ends it.
    package func stop() { core.stop() }
}
