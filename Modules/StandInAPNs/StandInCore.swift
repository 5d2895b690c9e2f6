import COpenSSL
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What the server's thread and its owner share; the thread keeps it alive, not the server.
final class StandInCore: Sendable {
    enum Order: Sendable {
        case release
        case streamLimit(UInt32)
        case goaway
        case closeConnections
        case stop
    }

    struct State {
        var script: StandInScript
        var ledger = StandInLedger()
        var orders: [Order] = []
        var waiters: [(isEnough: @Sendable (StandInLedger) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
            []
    }

    let port: UInt16
    let state: Guarded<State>
    let record: StandInAPNs.Record
    let wallSeconds: @Sendable () -> Int64
    private let credentials: StandInCredentials
    private let listener: Int32
    private let wakeIn: Int32
    private let wakeOut: Int32

    init(
        _ script: StandInScript,
        _ credentials: StandInCredentials,
        _ record: StandInAPNs.Record,
        _ wallSeconds: @escaping @Sendable () -> Int64
    ) throws {
        state = Guarded(State(script: script))
        self.credentials = credentials
        self.record = record
        self.wallSeconds = wallSeconds
        (listener, port) = try Self.listen()
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw FileFailure("open", "a pipe", errorNumber: errno) }
        for end in ends + [listener] {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (wakeOut, wakeIn) = (ends[0], ends[1])
    }

    deinit {
        for descriptor in [listener, wakeIn, wakeOut] { close(descriptor) }
    }

    func start() throws {
        let context = try ServerTLS(credentials)
        guard let thread = startThread({ self.run(context) }) else {
            throw FileFailure("start", "a thread", errorNumber: EAGAIN)
        }
        pthread_detach(thread)
    }

    func order(_ order: Order) {
        state.withLock { $0.orders.append(order) }
        var byte: UInt8 = 1
        while write(wakeIn, &byte, 1) < 0, errno == EINTR {}
    }

    func stop() { order(.stop) }

    private static func listen() throws -> (Int32, UInt16) {
        #if os(Linux)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && startListening(descriptor, 128) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isBound else {
            let number = errno
            close(descriptor)
            throw FileFailure("listen on", "127.0.0.1", errorNumber: number)
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    private func run(_ tls: ServerTLS) {
        tls.chooseProtocol(self)
        let updateLimit = state.withLock { $0.script.tokenUpdateLimit }
        var judge = RequestJudge(tokens: TokenJudge(publicKey: credentials.providerPublicKey, updateLimit: updateLimit))
        var connections: [ServerConnection] = []
        var number = 0
        while true {
            var sockets = [pollfd(fd: wakeOut, events: Int16(POLLIN), revents: 0)]
            sockets.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0))
            let served = connections
            for connection in served {
                sockets.append(pollfd(fd: connection.descriptor, events: connection.pollEvents, revents: 0))
            }
            let wait: Int32 = served.contains(where: \.hasMoreInput) ? 0 : -1
            while poll(&sockets, nfds_t(sockets.count), wait) < 0, errno == EINTR {}
            if sockets[0].revents != 0 {
                var bytes = (UInt64(0), UInt64(0))
                withUnsafeMutableBytes(of: &bytes) { while read(wakeOut, $0.baseAddress, $0.count) == $0.count {} }
                if follow(connections) { break }
            }
            if sockets[1].revents != 0 {
                while let descriptor = accepted() {
                    let isRejected = state.withLock { state in
                        state.ledger.accepted += 1
                        return state.script.rejectsTLS
                    }
                    number += 1
                    if !isRejected, let connection = ServerConnection(number, descriptor, tls, self) {
                        connections.append(connection)
                    } else {
                        close(descriptor)
                    }
                }
            }
            for (index, connection) in served.enumerated()
            where sockets[index + 2].revents != 0 || connection.hasMoreInput {
                connection.ready(&judge)
            }
            connections.removeAll { $0.isClosed }
            tellWaiters()
        }
        // Waiters get what there is; their test will say that it is not enough.
        for waiter in state.withLock({ $0.waiters }) { waiter.continuation.resume() }
        for connection in connections { connection.close() }
    }

    private func tellWaiters() {
        let satisfied = state.withLock { state in
            guard !state.waiters.isEmpty else { return [] as [CheckedContinuation<Void, Never>] }
            let ledger = state.ledger
            let satisfied = state.waiters.filter { $0.isEnough(ledger) }.map(\.continuation)
            if !satisfied.isEmpty { state.waiters.removeAll { $0.isEnough(ledger) } }
            return satisfied
        }
        for continuation in satisfied { continuation.resume() }
    }

    /// Follows orders; `true` where it is to end.
    private func follow(_ connections: [ServerConnection]) -> Bool {
        let orders = state.withLock { state in
            defer { state.orders = [] }
            return state.orders
        }
        for order in orders {
            switch order {
            case .stop: return true
            case .release: for connection in connections { connection.releaseAnswers() }
            case .streamLimit(let limit): for connection in connections { connection.setStreamLimit(limit) }
            case .goaway: for connection in connections { connection.sendGoaway() }
            case .closeConnections: for connection in connections { connection.close() }
            }
        }
        return false
    }

    private func accepted() -> Int32? {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }
}

/// `listen`, which has another meaning inside ``StandInCore``.
private func startListening(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }

/// The server's side of TLS.
final class ServerTLS: Sendable {
    /// The `SSL_CTX`, as a number because a pointer is not Sendable.
    private let address: UInt

    /// The `SSL_CTX`.
    var context: OpaquePointer? { OpaquePointer(bitPattern: address) }

    init(_ credentials: StandInCredentials) throws {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw StandInFailure("start TLS") }
        address = UInt(bitPattern: context)
        ferry_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
        ferry_SSL_CTX_set_mode(context, ferry_SSL_partial_writes)
        ferry_SSL_CTX_set_read_ahead(context, 1)
        SSL_CTX_set_default_read_buffer_len(context, 64 << 10)
        let certificate = try Self.read(credentials.certificate) { PEM_read_bio_X509($0, nil, nil, nil) }
        defer { X509_free(certificate) }
        let key = try Self.read(credentials.serverKey) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_certificate(context, certificate) == 1, SSL_CTX_use_PrivateKey(context, key) == 1 else {
            throw StandInFailure("use its certificate")
        }
        let id = Array("stand-in".utf8)
        SSL_CTX_set_session_id_context(context, id, UInt32(id.count))
    }

    deinit {
        SSL_CTX_free(context)
    }

    /// Answers ALPN as the script of `core`, which outlives this, says (RFC 7301).
    func chooseProtocol(_ core: StandInCore) {
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, chosenLength, offered, offeredLength, core in
                guard let core, let offered else { return SSL_TLSEXT_ERR_NOACK }
                let script = Unmanaged<StandInCore>.fromOpaque(core).takeUnretainedValue().state.withLock { $0.script }
                guard let name = script.protocolName else { return SSL_TLSEXT_ERR_NOACK }
                let list = UnsafeBufferPointer(start: offered, count: Int(offeredLength))
                var place = 0
                while place < list.count, place + 1 + Int(list[place]) <= list.count {
                    let length = Int(list[place])
                    if list[(place + 1)..<(place + 1 + length)].elementsEqual(name.utf8) {
                        chosen?.pointee = offered + place + 1
                        chosenLength?.pointee = UInt8(length)
                        return SSL_TLSEXT_ERR_OK
                    }
                    place += 1 + length
                }
                return SSL_TLSEXT_ERR_ALERT_FATAL
            },
            Unmanaged.passUnretained(core).toOpaque()
        )
    }

    private static func read(_ pem: [UInt8], _ body: (OpaquePointer?) -> OpaquePointer?) throws -> OpaquePointer {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        var written = 0
        BIO_write_ex(bio, pem, pem.count, &written)
        guard let made = body(bio) else { throw StandInFailure("read its own key") }
        return made
    }
}
