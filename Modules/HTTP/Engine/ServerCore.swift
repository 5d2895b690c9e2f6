import CMicroHTTPD
import FerryBytes
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What all exchanges of a server share.
final class ServerCore: Sendable {
    private struct Idleness {
        var waiters: [AsyncStream<Void>.Continuation] = []
    }

    let handler: Handler
    let limits: ServerLimits
    let refuse: @Sendable (Refusal) -> Response
    let isSecure: Bool
    let watcher: Watcher
    private let table: SharedTable
    private let running = Atomic(0)
    private let stopping = Atomic(false)
    private let numbers = Atomic<UInt64>(0)
    private let idleness = Guarded(Idleness())

    /// The table of connections, shared with the watcher's thread.
    private final class SharedTable: Sendable {
        let connections = Guarded(ConnectionTable())
    }

    init(_ configuration: ServerConfiguration, handler: @escaping Handler) throws(HTTPError) {
        self.handler = handler
        limits = configuration.limits
        refuse = configuration.refuse
        isSecure = configuration.tls != nil
        let table = SharedTable()
        self.table = table
        let seconds = max(1, configuration.limits.head.components.seconds)
        watcher = try Watcher { table.connections.withLock { $0.endLate(after: seconds) } }
    }

    /// Whether no new request is taken on.
    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// How many requests are being answered.
    var requests: Int { running.load(ordering: .relaxed) }

    /// How many connections stand.
    var connections: Int { table.connections.withLock { $0.count } }

    /// A number that no other exchange has; never 0.
    func nextNumber() -> UInt64 { numbers.add(1, ordering: .relaxed).newValue }

    /// Whether an address may have one more connection.
    func accepts(_ address: UnsafePointer<sockaddr>?) -> Bool {
        if isStopping { return false }
        let text = Connection.text(address)
        if limits.unlimitedAddresses.contains(text) { return true }
        return table.connections.withLock { $0.count(of: text) } < limits.connectionsPerAddress
    }

    func opened(_ connection: Connection) {
        table.connections.withLock { $0.add(connection) }
    }

    func closed(_ connection: Connection) {
        table.connections.withLock { $0.remove(connection) }
    }

    func began() {
        running.add(1, ordering: .relaxed)
    }

    func ended() {
        guard running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0, isStopping else { return }
        tellIdle()
    }

    /// Takes on no new request, and ends the streams, which have no end of their own.
    func beginStop() {
        stopping.store(true, ordering: .sequentiallyConsistent)
        for exchange in watcher.waiting { exchange.endStream() }
    }

    /// Returns once no request is being answered, or the task is cancelled.
    func idle() async {
        let (idle, waiter) = AsyncStream<Void>.makeStream()
        idleness.withLock { $0.waiters.append(waiter) }
        if running.load(ordering: .sequentiallyConsistent) == 0 { tellIdle() }
        for await _ in idle {}
    }

    /// Ends whatever waits for us; from now on nothing waits.
    func abort() {
        for exchange in watcher.close() { exchange.clientWent() }
    }

    private func tellIdle() {
        let waiters = idleness.withLock { idleness in
            defer { idleness.waiters = [] }
            return idleness.waiters
        }
        for waiter in waiters { waiter.finish() }
    }
}
