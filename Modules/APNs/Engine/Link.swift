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

/// One connection to the service, from the look-up of its name to its end. Belongs to the client's thread.
final class Link {
    /// How far it is.
    enum Phase: Equatable {
        case resolving
        case connecting
        case askingProxy
        case shakingHands
        case open
        case closed
    }

    /// What became of a push's stream.
    enum StreamEnd: Equatable {
        /// The answer is complete.
        case answered
        /// The service has not looked at it (RFC 9113 §8.7).
        case notProcessed
        /// The stream was broken off with this code; the service may have looked at it.
        case broken(UInt32)
        /// The connection ended first; the service may have looked at it.
        case lost
    }

    /// Why there is no connection.
    struct Failure {
        let error: APNsError
        /// Whether another attempt would end the same way.
        let isFinal: Bool
    }

    /// The largest list of header fields that is read of an answer.
    static let headLimit = 16 << 10
    /// How much of an answer's body is kept.
    static let bodyKept = 4 << 10
    /// How much of an answer's body is read before it is broken off.
    static let bodyLimit = 256 << 10
    /// The most bytes that a proxy may answer.
    static let proxyAnswerLimit = 16 << 10
    /// How much is gathered before it is encrypted.
    static let outCapacity = 128 << 10

    let id: Int
    let configuration: APNsConfiguration
    var phase = Phase.resolving
    /// Why it is closed; `nil` after an orderly end.
    var failure: Failure?
    /// What became of streams, for the engine to take.
    var ends: [(push: Push, end: StreamEnd)] = []
    /// The pushes under way, by the number of their stream.
    var streams = StreamTable()
    /// Whether no new streams may be opened: a GOAWAY came, or we want another connection.
    var isDraining = false
    /// Whether the server has answered anything yet.
    var hasAnswered = false
    /// Whether the handshake was done.
    var hasOpened = false
    var goaways = 0

    let tls: TLSContext
    var session: OpaquePointer?
    var ssl: OpaquePointer?
    var descriptor: Int32 = -1
    var addresses: [SocketAddress] = []
    var lastRefusal = ""
    var proxyOut: [UInt8] = []
    var proxyIn: [UInt8] = []
    let header: HeaderBlock
    let out = UnsafeMutablePointer<UInt8>.allocate(capacity: outCapacity)
    var outStart = 0
    var outEnd = 0
    let input = UnsafeMutablePointer<UInt8>.allocate(capacity: 64 << 10)
    var wantsWrite = false
    /// Whether OpenSSL may hold bytes that it read ahead: the socket would not tell of them.
    var hasMoreInput = false

    var connectDeadline: Duration
    var addressDeadline: Duration?
    /// When bytes last came, or the first stream since then was opened.
    var lastHeard: Duration
    var pingSentAt: Duration?
    /// The push that the last header field was for: fields of one answer come one after the other.
    var lastFound: (id: Int32, push: Push)?

    init(_ id: Int, _ configuration: APNsConfiguration, _ tls: TLSContext, now: Duration) {
        self.id = id
        self.configuration = configuration
        self.tls = tls
        header = HeaderBlock(authority: configuration.endpoint.host)
        connectDeadline = now + configuration.connectTimeout
        lastHeard = now
    }

    deinit {
        release()
        out.deallocate()
        input.deallocate()
    }

    /// Whether a new stream may be opened.
    var canOpen: Bool {
        guard phase == .open, !isDraining, let session else { return false }
        guard hasAnswered else { return streams.isEmpty }
        let allowed = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        return streams.count < min(Int(allowed), configuration.streamCeiling)
    }

    /// Whether nothing is left for it to do.
    var isSpent: Bool { isDraining && streams.isEmpty && phase == .open }
}

// MARK: - Being open

extension Link {
    /// Opens a stream for a push; `false` where the connection can have no more of them.
    func open(_ push: Push, bearer: UnsafeBufferPointer<UInt8>, tokenSerial: Int, now: Duration) -> Bool {
        guard let session else { return false }
        push.beginAttempt(tokenSerial: tokenSerial)
        var provider = nghttp2_data_provider(
            source: nghttp2_data_source(ptr: Unmanaged.passUnretained(push).toOpaque()),
            read_callback: Self.readPayload
        )
        let stream = header.with(push.request, bearer: bearer) { fields, count in
            nghttp2_submit_request(session, nil, fields, count, &provider, nil)
        }
        guard stream > 0 else {
            isDraining = true
            return false
        }
        if streams.isEmpty, now > lastHeard {
            // After a long silence nobody knows whether the other side is still there: ask at once.
            if now - lastHeard > configuration.silenceTimeout { ping(now) }
            lastHeard = now
        }
        streams.insert(push, stream)
        return true
    }

    /// Gives up on a push that is under way.
    func abandon(_ push: Push) {
        guard let session, let stream = streams.stream(of: push) else { return }
        _ = streams.remove(stream)
        lastFound = nil
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, ferry_code_cancel)
    }

    /// What to wait for on ``descriptor``; `nil` for nothing.
    var pollEvents: Int16? {
        switch phase {
        case .resolving, .closed: nil
        case .connecting: Int16(POLLOUT)
        case .askingProxy: Int16(proxyOut.isEmpty ? POLLIN : POLLOUT)
        case .shakingHands: Int16(wantsWrite ? POLLOUT : POLLIN)
        case .open: Int16(outEnd > outStart || wantsWrite ? POLLIN | POLLOUT : POLLIN)
        }
    }

    /// The socket is ready.
    func ready(now: Duration) {
        switch phase {
        case .resolving, .closed: break
        case .connecting: connected(now)
        case .askingProxy: talkToProxy(now)
        case .shakingHands: shakeHands(now)
        case .open: break
        }
        if phase == .open { read(now) }
    }

    private func read(_ now: Duration) {
        guard let ssl, let session else { return }
        hasMoreInput = false
        // So that a server that never pauses cannot keep us from everything else.
        for _ in 0..<64 {
            ERR_clear_error()
            let count = SSL_read(ssl, input, 64 << 10)
            guard count > 0 else { return readEnded(count) }
            lastHeard = now
            pingSentAt = nil
            let taken = nghttp2_session_mem_recv(session, input, Int(count))
            if taken < 0 {
                return fail(
                    .badAnswer,
                    "the server's HTTP/2 cannot be read: \(String(cString: nghttp2_strerror(Int32(taken))))"
                )
            }
            if phase != .open { return }
        }
        hasMoreInput = true
    }

    private func readEnded(_ result: Int32) {
        guard let ssl else { return }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: break
        case SSL_ERROR_WANT_WRITE: wantsWrite = true
        default: fail(.connection, "the server closed the connection")
        }
    }

    /// Encrypts and sends what there is to send.
    func flush() {
        guard phase == .open, let ssl, let session else { return }
        while true {
            gather(session)
            guard outEnd > outStart else { break }
            ERR_clear_error()
            let count = SSL_write(ssl, out + outStart, Int32(min(outEnd - outStart, 16 << 10)))
            guard count > 0 else {
                let code = SSL_get_error(ssl, count)
                if code != SSL_ERROR_WANT_WRITE, code != SSL_ERROR_WANT_READ {
                    fail(.connection, "the server closed the connection")
                }
                return
            }
            wantsWrite = false
            outStart += Int(count)
        }
        if nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0 {
            fail(.connection, "the connection ended after an error of HTTP/2 or a GOAWAY")
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
        // A frame of nghttp2 has at most 16 KiB and nine bytes, a header block 64 KiB in several frames.
        while Self.outCapacity - outEnd >= 32 << 10 {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count > 0, let bytes, count <= Self.outCapacity - outEnd else { return }
            (out + outEnd).update(from: bytes, count: count)
            outEnd += count
        }
    }

    private func ping(_ now: Duration) {
        guard let session, pingSentAt == nil else { return }
        nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
        pingSentAt = now
    }

    /// Looks whether a time-out is over; gives the next moment to look.
    func checkTimers(now: Duration) -> Duration? {
        switch phase {
        case .closed: return nil
        case .resolving, .connecting, .askingProxy, .shakingHands:
            if now >= connectDeadline {
                let whose = configuration.proxy == nil ? "" : " (through the proxy \(target.host):\(target.port))"
                fail(
                    .connection,
                    "\(configuration.endpoint)\(whose) did not answer within \(configuration.connectTimeout)",
                    remedy: "Check this machine's network; Apple also listens on port 2197."
                )
                return nil
            }
            if phase == .connecting, let addressDeadline, now >= addressDeadline {
                lastRefusal = "no answer"
                connectNext(now)
                return now
            }
            return min(connectDeadline, addressDeadline ?? connectDeadline)
        case .open:
            if let pingSentAt {
                let end = pingSentAt + configuration.pingTimeout
                if now >= end { fail(.timedOut, "the server was silent and did not answer a PING") }
                return end
            }
            let due = lastHeard + (streams.isEmpty ? configuration.idlePing : configuration.silenceTimeout)
            guard now >= due else { return due }
            ping(now)
            flush()
            return now + configuration.pingTimeout
        }
    }
}

// MARK: - Ending

extension Link {
    /// Says good-bye and closes; what was under way is lost.
    func close() {
        if phase == .open, let session, let ssl {
            nghttp2_session_terminate_session(session, ferry_code_no_error)
            gather(session)
            if outEnd > outStart { SSL_write(ssl, out + outStart, Int32(min(outEnd - outStart, 16 << 10))) }
            SSL_shutdown(ssl)
            ERR_clear_error()
        }
        end(nil)
    }

    func fail(_ code: APNsError.Code, _ message: String, remedy: String? = nil, isFinal: Bool = false) {
        fail(Failure(error: APNsError(code, message + ".", remedy: remedy), isFinal: isFinal))
    }

    func fail(_ failure: Failure) {
        end(failure)
    }

    private func end(_ failure: Failure?) {
        guard phase != .closed else { return }
        phase = .closed
        hasMoreInput = false
        self.failure = failure
        for push in streams.removeAll() { ends.append((push, .lost)) }
        lastFound = nil
        ERR_clear_error()
    }

    /// Frees what nghttp2, OpenSSL and the system hold; not inside one of their callbacks.
    func release() {
        if let session { nghttp2_session_del(session) }
        session = nil
        closeSocket()
    }

    func closeSocket() {
        if let ssl { SSL_free(ssl) }
        ssl = nil
        if descriptor >= 0 { closeDescriptor(descriptor) }
        descriptor = -1
    }
}
