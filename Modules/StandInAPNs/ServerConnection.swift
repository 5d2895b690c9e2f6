import CNghttp2
import COpenSSL
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One connection of a client. Belongs to the server's thread.
final class ServerConnection {
    private static let outCapacity = 256 << 10

    let descriptor: Int32
    private(set) var isClosed = false
    let core: StandInCore
    /// Which connection of the server it is, from 1.
    let number: Int
    private let ssl: OpaquePointer
    private(set) var session: OpaquePointer?
    var isStalled = false
    private var wantsWrite = false
    /// Whether OpenSSL may hold bytes that it read ahead.
    private(set) var hasMoreInput = false
    private let out = UnsafeMutablePointer<UInt8>.allocate(capacity: outCapacity)
    private var outStart = 0
    private var outEnd = 0
    private let input = UnsafeMutablePointer<UInt8>.allocate(capacity: 64 << 10)

    /// Streams that were opened and not answered yet.
    var requests: [Int32: IncomingRequest] = [:]
    /// Requests that are complete and were not judged yet, in order.
    var complete: [Int32] = []
    /// Answers that are kept back.
    var held: [(Int32, StandInScript.Answer)] = []
    /// Bodies of answers that are being sent.
    var bodies: [Int32: AnswerSource] = [:]
    /// Requests that were judged.
    var count = 0
    var lastJudged: Int32 = 0
    var isLeaving = false
    /// Whether all is said.
    private var isLingering = false

    init?(_ number: Int, _ descriptor: Int32, _ tls: ServerTLS, _ core: StandInCore) {
        guard let ssl = SSL_new(tls.context) else { return nil }
        self.number = number
        self.descriptor = descriptor
        self.ssl = ssl
        self.core = core
        SSL_set_fd(ssl, descriptor)
        SSL_set_accept_state(ssl)
    }

    deinit {
        close()
        if let session { nghttp2_session_del(session) }
        SSL_free(ssl)
        closeDescriptor(descriptor)
        out.deallocate()
        input.deallocate()
    }

    /// What to wait for.
    var pollEvents: Int16 {
        if isStalled { return 0 }
        return Int16(outEnd > outStart || wantsWrite ? POLLIN | POLLOUT : POLLIN)
    }

    /// Closes it without a word.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// The socket is ready.
    func ready(_ judge: inout RequestJudge) {
        guard !isStalled, !isClosed else {
            // A stalled one says only that the client has gone.
            return close()
        }
        if isLingering { return linger() }
        if session == nil { shakeHands() }
        guard session != nil else { return }
        read(&judge)
        flush()
    }

    private func shakeHands() {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        guard result == 1 else {
            switch SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ: wantsWrite = false
            case SSL_ERROR_WANT_WRITE: wantsWrite = true
            default: close()
            }
            return
        }
        wantsWrite = false
        let limit = core.state.withLock { state in
            state.ledger.connections += 1
            return state.script.streamLimit
        }
        session = makeSession(limit)
        if session == nil { close() }
    }

    private func read(_ judge: inout RequestJudge) {
        guard let session else { return }
        hasMoreInput = false
        for _ in 0..<64 {
            ERR_clear_error()
            let count = SSL_read(ssl, input, 64 << 10)
            guard count > 0 else {
                switch SSL_get_error(ssl, count) {
                case SSL_ERROR_WANT_READ: return
                case SSL_ERROR_WANT_WRITE: wantsWrite = true
                default: close()
                }
                return
            }
            guard nghttp2_session_mem_recv(session, input, Int(count)) >= 0 else { return close() }
            judgeComplete(&judge)
            if isStalled || isClosed { return }
        }
        hasMoreInput = true
    }

    /// Encrypts and sends what there is to send.
    func flush() {
        guard let session, !isClosed, !isStalled, !isLingering else { return }
        while true {
            gather(session)
            guard outEnd > outStart else { break }
            ERR_clear_error()
            let count = SSL_write(ssl, out + outStart, Int32(min(outEnd - outStart, 16 << 10)))
            guard count > 0 else {
                let code = SSL_get_error(ssl, count)
                if code != SSL_ERROR_WANT_WRITE, code != SSL_ERROR_WANT_READ { close() }
                return
            }
            wantsWrite = false
            outStart += Int(count)
        }
        if nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0, !isLingering {
            isLingering = true
            shutdown(descriptor, Int32(SHUT_WR))
        }
    }

    /// Reads what still comes until the client has gone: closing before would make the system throw away answers that are
    /// on their way.
    private func linger() {
        while true {
            let count = recv(descriptor, input, 64 << 10, 0)
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { return close() }
        }
    }

    private func gather(_ session: OpaquePointer) {
        if outStart == outEnd {
            outStart = 0
            outEnd = 0
        } else if outStart > 0, outEnd > Self.outCapacity / 2 {
            out.update(from: out + outStart, count: outEnd - outStart)
            outEnd -= outStart
            outStart = 0
        }
        while Self.outCapacity - outEnd >= 96 << 10 {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count > 0, let bytes, count <= Self.outCapacity - outEnd else { return }
            (out + outEnd).update(from: bytes, count: count)
            outEnd += count
        }
    }

    /// Sends bytes beside what nghttp2 has to say.
    func inject(_ bytes: [UInt8]) {
        flush()
        guard bytes.count <= Self.outCapacity - outEnd else { return }
        (out + outEnd).update(from: bytes, count: bytes.count)
        outEnd += bytes.count
    }
}

/// `close`, which has another meaning inside ``ServerConnection``.
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }

/// The body of an answer, and how much of it was sent.
final class AnswerSource {
    let bytes: [UInt8]
    var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}
