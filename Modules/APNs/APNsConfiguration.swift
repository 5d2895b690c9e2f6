#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How an ``APNsClient`` works: where it connects, what it trusts, how patient it is, and by which clocks.
public struct APNsConfiguration: Sendable {
    /// Where pushes are sent to.
    public var endpoint: APNsEndpoint
    /// The proxy to go through; `nil` for none.
    public var proxy: ProxyAddress?
    /// A file of trusted certificates (PEM); `nil` means the system's.
    public var caFile: String?
    /// Where the last provider token is kept for the next process, as APNs wants few of them; `nil` for nowhere.
    public var tokenFile: String?
    /// How long a connection may take to come about, with the proxy and the handshake.
    public var connectTimeout: Duration = .seconds(10)
    /// How long a push may take from the call to its answer, with every wait and resend.
    public var requestTimeout: Duration = .seconds(30)
    /// How long the server may be silent while an answer is due before it is asked for a sign of life (PING).
    public var silenceTimeout: Duration = .seconds(5)
    /// How long that sign may take; then the connection is dropped, and what it owed is sent on a new one.
    public var pingTimeout: Duration = .seconds(5)
    /// After how long without a push an idle connection is asked for a sign of life.
    public var idlePing: Duration = .seconds(3600)
    /// How long to wait before each new attempt, to connect as well as to send.
    public var backOff = PushBackOff()
    /// How often a push that the service could not serve (500, 503) is sent again.
    public var retries = 3
    /// The most pushes that are under way at once on one connection, whatever the server allows.
    public var streamCeiling = 1000
    /// The most pushes that wait; more fail with ``APNsError/Code/overloaded``.
    public var waitingLimit = 100_000
    /// The clocks that everything goes by.
    public var clock = PushClock.system
    /// Gives numbers from 0 up to 1, for the jitter of ``backOff``. Called on the client's thread.
    public var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// The defaults for `endpoint`.
    public init(_ endpoint: APNsEndpoint) {
        self.endpoint = endpoint
    }
}

/// Waits that double from one failure to the next, with jitter, so that many clients do not return at once.
public struct PushBackOff: Sendable, Hashable {
    /// The longest wait before the first retry.
    public var first: Duration
    /// The longest wait of all.
    public var limit: Duration

    /// Doubles from `first` up to `limit`.
    public init(first: Duration = .milliseconds(500), limit: Duration = .seconds(30)) {
        self.first = first
        self.limit = limit
    }

    /// The wait before retry `attempt` (from 1): between half of its longest and all of it, as `random` (0 to 1) says.
    func delay(attempt: Int, random: Double) -> Duration {
        let longest = min(limit, first * (1 << min(max(0, attempt - 1), 20)))
        return longest * (0.5 + 0.5 * min(max(0, random), 1))
    }
}

/// The two clocks of a client: a timer that never jumps, and the time of day.
public struct PushClock: Sendable {
    /// The time since some start; it only grows. Called on the client's thread, each time it wakes.
    public var timer: @Sendable () -> Duration
    /// Seconds since 1970, for provider tokens and dates in answers.
    public var wallSeconds: @Sendable () -> Int64

    /// Clocks of a caller's own.
    public init(timer: @escaping @Sendable () -> Duration, wallSeconds: @escaping @Sendable () -> Int64) {
        self.timer = timer
        self.wallSeconds = wallSeconds
    }

    /// The system's.
    public static let system = PushClock(
        timer: {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        },
        wallSeconds: { Int64(time(nil)) }
    )
}
