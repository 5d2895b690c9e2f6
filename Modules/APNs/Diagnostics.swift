/// What a client has done so far, for logs and benchmarks.
public struct APNsDiagnostics: Sendable, Hashable {
    /// Connections that came about.
    public var connections = 0
    /// Attempts to connect that failed.
    public var failedConnections = 0
    /// Connections that were dropped because the server was silent.
    public var stalledConnections = 0
    /// GOAWAYs that came.
    public var goaways = 0
    /// Pushes written, resends included.
    public var sent = 0
    /// Pushes written again.
    public var resent = 0
    /// Answers that came.
    public var answered = 0
    /// Pushes that a newer one took the place of.
    public var replaced = 0
    /// Pushes that ended without an answer, those replaced not counted.
    public var failed = 0
    /// Provider tokens signed.
    public var tokensSigned = 0
    /// Pushes that wait to be written.
    public var waiting = 0
    /// Pushes that wait for their answer.
    public var underWay = 0
    /// Processor time of the client's thread.
    public var processorTime: Duration = .zero
}
