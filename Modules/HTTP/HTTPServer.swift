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

/// A small, strict server of HTTP/1.1, plain or by TLS.
///
/// A few threads send and receive for all connections. What a handler answers without a detour is sent by them at once;
/// what it answers later takes a task and no thread. A client that goes away cancels that task.
package final class HTTPServer: Sendable {
    /// Where it listens, with the port that was got.
    package let address: ListenAddress
    private let core: ServerCore
    private let socket: ListeningSocket
    /// The library's daemon; 0 once it was stopped.
    private let daemon: Guarded<UInt>

    /// TLS 1.2 and 1.3, in the words of GnuTLS.
    private static let priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

    /// Starts it; `handler` may be asked before this returns.
    ///
    /// Raises this process's limit of open files, where that is possible and its limits of connections ask for it.
    package init(_ configuration: ServerConfiguration, handler: @escaping Handler) throws(HTTPError) {
        Self.makeRoom(for: configuration.limits.connections)
        let socket = try ListeningSocket(configuration.listen)
        let core = try ServerCore(configuration, handler: handler)
        guard let daemon = Self.start(configuration, socket, core) else {
            core.abort()
            if configuration.tls != nil {
                throw HTTPError(
                    .certificate,
                    "\(socket.address): the server does not start with this certificate and key.",
                    remedy: "Give both in PEM, the key without a password, and one that belongs to the certificate."
                )
            }
            throw HTTPError(
                .system,
                "\(socket.address): the server does not start.",
                remedy: "Check this machine's limits of threads, memory and open files."
            )
        }
        self.socket = socket
        self.core = core
        address = socket.address
        self.daemon = Guarded(daemon)
    }

    deinit {
        stopNow()
    }

    /// How many requests are being answered.
    package var requests: Int { core.requests }

    /// How many connections stand.
    package var connections: Int { core.connections }

    /// Stops: refuses new connections and requests, ends streams, and gives what is being answered `time` to be done.
    /// Returns when all is closed.
    package func stop(within time: Duration = .seconds(10)) async {
        daemon.withLock { daemon in
            if let daemon = OpaquePointer(bitPattern: daemon), !core.isStopping { _ = MHD_quiesce_daemon(daemon) }
            core.beginStop()
        }
        socket.shut()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [core] in await core.idle() }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
        await withCheckedContinuation { continuation in
            stopNow { continuation.resume() }
        }
    }

    /// Ends all on a thread of its own: the library joins its threads, and this may be one of them.
    private func stopNow(then done: @escaping @Sendable () -> Void = {}) {
        let running = daemon.withLock { daemon in
            defer { daemon = 0 }
            return daemon
        }
        guard let pointer = OpaquePointer(bitPattern: running) else { return done() }
        if !core.isStopping { _ = MHD_quiesce_daemon(pointer) }
        core.beginStop()
        socket.shut()
        let thread = startThread { [core, socket] in
            // What waits for us has to be let go before the library may stop.
            core.abort()
            MHD_stop_daemon(OpaquePointer(bitPattern: running))
            Unmanaged.passUnretained(core).release()
            withExtendedLifetime(socket) { done() }
        }
        if let thread { pthread_detach(thread) } else { done() }
    }

    private static func start(
        _ configuration: ServerConfiguration,
        _ socket: ListeningSocket,
        _ core: ServerCore
    ) -> UInt? {
        let limits = configuration.limits
        // The library halves the connections between its threads, and one may have more than its half.
        let context = Unmanaged.passRetained(core)
        let pem = configuration.tls.map { ($0.key.revealed, String(decoding: $0.certificate, as: UTF8.self)) }
        let daemon = onThread { () -> UInt in
            var start = ferry_mhd_start()
            start.socket = socket.descriptor
            start.connections = UInt32(clamping: limits.connections)
            start.idle_seconds = UInt32(clamping: max(1, limits.idle.components.seconds))
            start.threads = UInt32(clamping: limits.threads)
            start.memory = limits.headerBytes
            start.context = Unmanaged.passUnretained(core).toOpaque()
            start.accept = Callbacks.accept
            start.connection = Callbacks.connection
            start.request = Callbacks.request
            start.completed = Callbacks.completed
            guard let (key, certificate) = pem else { return UInt(bitPattern: ferry_mhd_start(&start)) }
            return key.withCString { key in
                certificate.withCString { certificate in
                    priorities.withCString { priorities in
                        start.key = key
                        start.certificate = certificate
                        start.priorities = priorities
                        return UInt(bitPattern: ferry_mhd_start(&start))
                    }
                }
            }
        }
        if daemon == 0 { context.release() }
        return daemon == 0 ? nil : daemon
    }

    /// Starts the library from a thread without signals, so that its threads get none.
    private static func onThread(_ work: @escaping @Sendable () -> UInt) -> UInt {
        let result = Atomic<UInt>(0)
        let box = Box(result)
        guard let thread = startThread({ box.value.store(work(), ordering: .releasing) }) else { return 0 }
        pthread_join(thread, nil)
        return box.value.load(ordering: .acquiring)
    }

    private final class Box: Sendable {
        let value: Atomic<UInt>

        init(_ value: consuming Atomic<UInt>) {
            self.value = value
        }
    }

    /// Each connection is an open file, and so is what it sends.
    private static func makeRoom(for connections: Int) {
        var limit = rlimit()
        guard getrlimit(filesLimit, &limit) == 0 else { return }
        let wanted = rlim_t(clamping: connections * 2 + 256)
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        setrlimit(filesLimit, &limit)
    }

    #if canImport(Glibc)
    private static var filesLimit: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
    #else
    private static var filesLimit: Int32 { RLIMIT_NOFILE }
    #endif
}
