import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The one thread that owns a client's connection, and the way in to it.
///
/// Orders are queued under a lock, and the thread is woken if it sleeps; everything else belongs to the thread alone.
final class PushLoop: Sendable {
    /// What the thread is asked to do.
    enum Order: Sendable {
        case cancel(PushTicket)
        case run(PushRun)
        /// The addresses for the link of that number are known.
        case resolved(Int, Resolver.Answer)
        case diagnose(CheckedContinuation<APNsDiagnostics, Never>)
        /// End everything, then the thread.
        case close
    }

    /// A push, and who waits for it.
    struct Send: Sendable {
        let ticket: PushTicket
        let continuation: CheckedContinuation<Push.Outcome, Never>
    }

    private struct Inbox {
        /// Taken in before the orders: one that takes a push back comes after the push, or finds it marked.
        var sends: [Send] = []
        var orders: [Order] = []
        /// Whether the thread waits for a byte in its pipe.
        var isAsleep = false
        var isClosing = false
        var isOver = false
        var last = APNsDiagnostics()
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    let configuration: APNsConfiguration
    private let inbox = Guarded(Inbox())
    private let wakeIn: Int32
    private let wakeOut: Int32

    /// Reads the trusted certificates and starts the thread.
    init(_ configuration: APNsConfiguration, key: ProviderKey) throws(APNsError) {
        self.configuration = configuration
        let tls = try TLSContext(caFile: configuration.caFile)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw APNsError(.connection, "No pipe can be had: \(Errno(number: errno).text).")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        wakeOut = ends[0]
        wakeIn = ends[1]
        guard let thread = startThread({ self.run(tls, key) }) else {
            throw APNsError(.connection, "No thread can be had.", remedy: "Check this machine's limits.")
        }
        pthread_detach(thread)
    }

    deinit {
        closeDescriptor(wakeIn)
        closeDescriptor(wakeOut)
    }

    /// Hands over a push; gives an error, and keeps nothing, when the thread has ended or is about to.
    func send(_ ticket: PushTicket, _ continuation: CheckedContinuation<Push.Outcome, Never>) -> APNsError? {
        let (isTaken, wasAsleep) = inbox.withLock { inbox in
            if inbox.isOver || inbox.isClosing { return (false, false) }
            inbox.sends.append(Send(ticket: ticket, continuation: continuation))
            defer { inbox.isAsleep = false }
            return (true, inbox.isAsleep)
        }
        if wasAsleep { wake() }
        return isTaken ? nil : .closed
    }

    /// Takes a push back.
    func cancel(_ ticket: PushTicket) {
        ticket.cancel()
        send(.cancel(ticket))
    }

    /// Hands the thread an order; `false` when it has ended or is about to.
    @discardableResult
    func send(_ order: Order) -> Bool {
        let (isTaken, wasAsleep) = inbox.withLock { inbox in
            if inbox.isOver { return (false, false) }
            switch order {
            case .run where inbox.isClosing: return (false, false)
            case .close: inbox.isClosing = true
            default: break
            }
            inbox.orders.append(order)
            defer { inbox.isAsleep = false }
            return (true, inbox.isAsleep)
        }
        if wasAsleep { wake() }
        return isTaken
    }

    /// What was done so far; after the end, the last of it.
    func diagnostics() async -> APNsDiagnostics {
        await withCheckedContinuation { continuation in
            if !send(.diagnose(continuation)) {
                continuation.resume(returning: inbox.withLock { $0.last })
            }
        }
    }

    /// Ends everything and waits until the thread has ended.
    func close() async {
        send(.close)
        await withCheckedContinuation { continuation in
            let isOver = inbox.withLock { inbox in
                if !inbox.isOver { inbox.waiters.append(continuation) }
                return inbox.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    private func wake() {
        var byte: UInt8 = 1
        // A full pipe wakes as well.
        while write(wakeIn, &byte, 1) < 0, errno == EINTR {}
    }
}

extension PushLoop {
    /// The life of the thread.
    private func run(_ tls: TLSContext, _ key: ProviderKey) {
        let engine = PushEngine(configuration, key, tls) { [self] number in look(up: number) }
        var sends: [Send] = []
        var orders: [Order] = []
        var sockets: [pollfd] = []
        while !engine.isClosed {
            takeInbox(&sends, &orders)
            engine.work(sends, orders)
            sends.removeAll(keepingCapacity: true)
            orders.removeAll(keepingCapacity: true)
            if engine.isClosed { break }
            sockets.removeAll(keepingCapacity: true)
            sockets.append(pollfd(fd: wakeOut, events: Int16(POLLIN), revents: 0))
            engine.addSockets(to: &sockets)
            let isAsleep = fallAsleep()
            let sleep = engine.sleepMilliseconds
            poll(&sockets, nfds_t(sockets.count), isAsleep ? sleep : 0)
            wakeUp()
            if sockets[0].revents != 0 { emptyPipe() }
            engine.socketsReady(sockets)
        }
        // Whoever sends now is told that it is over; whoever sent before is answered here.
        let (lateSends, late, waiters) = inbox.withLock { inbox in
            inbox.isOver = true
            inbox.last = engine.diagnostics
            defer {
                inbox.waiters = []
                inbox.sends = []
                inbox.orders = []
            }
            return (inbox.sends, inbox.orders, inbox.waiters)
        }
        engine.refuse(lateSends, late)
        for waiter in waiters { waiter.resume() }
    }

    private func takeInbox(_ sends: inout [Send], _ orders: inout [Order]) {
        inbox.withLock { inbox in
            if !inbox.sends.isEmpty { swap(&inbox.sends, &sends) }
            if !inbox.orders.isEmpty { swap(&inbox.orders, &orders) }
        }
    }

    /// Notes that the thread has to be woken from now on; `false` where orders have come.
    private func fallAsleep() -> Bool {
        inbox.withLock { inbox in
            inbox.isAsleep = inbox.orders.isEmpty && inbox.sends.isEmpty
            return inbox.isAsleep
        }
    }

    private func wakeUp() {
        inbox.withLock { $0.isAsleep = false }
    }

    private func emptyPipe() {
        var bytes = (UInt64(0), UInt64(0))
        withUnsafeMutableBytes(of: &bytes) { buffer in
            while read(wakeOut, buffer.baseAddress, buffer.count) == buffer.count {}
        }
    }

    /// Looks up the host's addresses for a link, on a thread of its own: the system may take its time.
    private func look(up number: Int) {
        let target =
            configuration.proxy.map { ($0.host, $0.port) } ?? (configuration.endpoint.host, configuration.endpoint.port)
        let work: @Sendable () -> Void = { [self] in
            send(.resolved(number, Resolver.addresses(of: target.0, port: target.1)))
        }
        if let address = Resolver.literal(target.0, port: target.1) {
            send(.resolved(number, .addresses([address])))
        } else if let thread = startThread(work) {
            pthread_detach(thread)
        } else {
            send(.resolved(number, .nothing("no thread can be had to look it up")))
        }
    }
}
