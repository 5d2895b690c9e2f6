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
    private(set) var phase = Phase.resolving
    /// Why it is closed; `nil` after an orderly end.
    private(set) var failure: Failure?
    /// What became of streams, for the engine to take.
    var ends: [(push: Push, end: StreamEnd)] = []
    /// The pushes under way, by the number of their stream.
    var streams: [Int32: Push] = [:]
    /// Whether no new streams may be opened: a GOAWAY came, or we want another connection.
    var isDraining = false
    /// Whether the server has answered anything yet.
    private(set) var hasAnswered = false
    /// Whether the handshake was done.
    private(set) var hasOpened = false
    var goaways = 0

    private let tls: TLSContext
    private var session: OpaquePointer?
    private var ssl: OpaquePointer?
    private(set) var descriptor: Int32 = -1
    private var addresses: [SocketAddress] = []
    private var lastRefusal = ""
    private var proxyOut: [UInt8] = []
    private var proxyIn: [UInt8] = []
    private let header: HeaderBlock
    private let out = UnsafeMutablePointer<UInt8>.allocate(capacity: outCapacity)
    private var outStart = 0
    private var outEnd = 0
    private let input = UnsafeMutablePointer<UInt8>.allocate(capacity: 64 << 10)
    private var wantsWrite = false
    /// Whether OpenSSL may hold bytes that it read ahead: the socket would not tell of them.
    private(set) var hasMoreInput = false

    private var connectDeadline: Duration
    private var addressDeadline: Duration?
    /// When bytes last came, or the first stream since then was opened.
    private var lastHeard: Duration
    private var pingSentAt: Duration?
    /// The push that the last header field was for: fields of one answer come one after the other.
    private var lastFound: (id: Int32, push: Push)?

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

// MARK: - Coming about

extension Link {
    /// The host to connect to, which may be the proxy's.
    var target: (host: String, port: UInt16) {
        if let proxy = configuration.proxy { return (proxy.host, proxy.port) }
        return (configuration.endpoint.host, configuration.endpoint.port)
    }

    /// The addresses are known.
    func resolved(_ answer: Resolver.Answer, now: Duration) {
        guard phase == .resolving else { return }
        switch answer {
        case .nothing(let reason):
            let whose = configuration.proxy == nil ? "" : "the proxy "
            fail(
                .nameNotFound,
                "\(whose)\(target.host) has no address: \(reason)",
                remedy: "Check the name and this machine's network."
            )
        case .addresses(let found):
            addresses = found
            connectNext(now)
        }
    }

    private func connectNext(_ now: Duration) {
        closeSocket()
        while !addresses.isEmpty {
            let address = addresses.removeFirst()
            switch address.connect() {
            case .failure(let error): lastRefusal = error.text
            case .success(let opened):
                descriptor = opened
                phase = .connecting
                // A dead address must not use up the time that another one needs.
                let share = addresses.isEmpty ? connectDeadline : now + (connectDeadline - now) / 2
                addressDeadline = share
                return
            }
        }
        let whose = configuration.proxy == nil ? "" : "the proxy "
        fail(
            configuration.proxy == nil ? .connection : .proxy,
            "\(whose)\(target.host):\(target.port) cannot be reached: \(lastRefusal)",
            remedy: "Check this machine's network; Apple also listens on port 2197."
        )
    }

    private func connected(_ now: Duration) {
        var number: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &length)
        guard number == 0 else {
            lastRefusal = Errno(number: number).text
            return connectNext(now)
        }
        addressDeadline = nil
        guard let proxy = configuration.proxy else { return beginHandshake(now) }
        phase = .askingProxy
        proxyOut = Array(ProxyTalk.request(to: configuration.endpoint, proxy).utf8)
        talkToProxy(now)
    }

    private func talkToProxy(_ now: Duration) {
        while !proxyOut.isEmpty {
            let count = send(descriptor, proxyOut, proxyOut.count, Int32(MSG_NOSIGNAL))
            if count <= 0 {
                if errno == EINTR { continue }
                if errno != EAGAIN { failProxy("it closed the connection") }
                return
            }
            proxyOut.removeFirst(count)
        }
        while phase == .askingProxy {
            // Byte by byte would be enough: nothing comes behind the head before we speak.
            let count = recv(descriptor, input, 4096, 0)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { return failProxy("it closed the connection") }
            proxyIn += UnsafeBufferPointer(start: input, count: count)
            switch ProxyTalk.answer(proxyIn, limit: Self.proxyAnswerLimit) {
            case .incomplete: continue
            case .connected: beginHandshake(now)
            case .refused(let reason, let remedy, let isFinal):
                failProxy(reason, remedy: remedy, isFinal: isFinal)
            }
        }
    }

    private func failProxy(_ reason: String, remedy: String? = nil, isFinal: Bool = false) {
        fail(.proxy, "the proxy \(target.host):\(target.port): \(reason)", remedy: remedy, isFinal: isFinal)
    }

    private func beginHandshake(_ now: Duration) {
        guard let ssl = tls.connection(over: descriptor, to: configuration.endpoint.host) else {
            return fail(.connection, "OpenSSL cannot begin a connection: \(OpenSSL.lastReason())")
        }
        self.ssl = ssl
        phase = .shakingHands
        shakeHands(now)
    }

    private func shakeHands(_ now: Duration) {
        guard let ssl else { return }
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        if result != 1 {
            switch SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ: wantsWrite = false
            case SSL_ERROR_WANT_WRITE: wantsWrite = true
            default: fail(HandshakeFailure.reason(ssl, configuration.endpoint))
            }
            return
        }
        wantsWrite = false
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        guard length == 2, let name, name[0] == UInt8(ascii: "h"), name[1] == UInt8(ascii: "2"),
            let session = makeSession()
        else { return fail(HandshakeFailure.noHTTP2(configuration.endpoint)) }
        self.session = session
        phase = .open
        hasOpened = true
        lastHeard = now
    }
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
        streams[stream] = push
        return true
    }

    /// Gives up on a push that is under way.
    func abandon(_ push: Push) {
        guard let session, let stream = streams.first(where: { $0.value === push })?.key else { return }
        streams[stream] = nil
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

    private func fail(_ code: APNsError.Code, _ message: String, remedy: String? = nil, isFinal: Bool = false) {
        fail(Failure(error: APNsError(code, message + ".", remedy: remedy), isFinal: isFinal))
    }

    private func fail(_ failure: Failure) {
        end(failure)
    }

    private func end(_ failure: Failure?) {
        guard phase != .closed else { return }
        phase = .closed
        hasMoreInput = false
        self.failure = failure
        for push in streams.values { ends.append((push, .lost)) }
        streams = [:]
        lastFound = nil
        ERR_clear_error()
    }

    /// Frees what nghttp2, OpenSSL and the system hold; not inside one of their callbacks.
    func release() {
        if let session { nghttp2_session_del(session) }
        session = nil
        closeSocket()
    }

    private func closeSocket() {
        if let ssl { SSL_free(ssl) }
        ssl = nil
        if descriptor >= 0 { closeDescriptor(descriptor) }
        descriptor = -1
    }
}

// MARK: - What nghttp2 tells

extension Link {
    private func makeSession() -> OpaquePointer? {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { return nil }
        defer { nghttp2_session_callbacks_del(callbacks) }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, length, value, size, _, link in
            guard let link, let frame, let name, let value else { return 0 }
            return Link.of(link).received(
                frame.pointee.hd.stream_id,
                UnsafeBufferPointer(start: name, count: length),
                UnsafeBufferPointer(start: value, count: size)
            )
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, link in
            guard let link else { return 0 }
            return Link.of(link).received(stream, UnsafeBufferPointer(start: bytes, count: count))
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, link in
            guard let link, let frame else { return 0 }
            if frame.pointee.hd.type == ferry_frame_goaway { Link.of(link).receivedGoaway() }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, link in
            guard let link else { return 0 }
            Link.of(link).streamClosed(stream, code)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, link in
            guard let link, let frame else { return 0 }
            if frame.pointee.hd.type == ferry_frame_headers { Link.of(link).notSent(frame.pointee.hd.stream_id) }
            return 0
        }
        var session: OpaquePointer?
        guard nghttp2_session_client_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque()) == 0 else {
            return nil
        }
        let settings = [
            nghttp2_settings_entry(settings_id: ferry_settings_enable_push, value: 0),
            nghttp2_settings_entry(settings_id: ferry_settings_max_header_list, value: UInt32(Self.headLimit)),
        ]
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
        return session
    }

    private static func of(_ pointer: UnsafeMutableRawPointer) -> Link {
        Unmanaged<Link>.fromOpaque(pointer).takeUnretainedValue()
    }

    private static let readPayload: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, _ in
        guard let pointer = source?.pointee.ptr, let buffer, let flags else { return 0 }
        let push = Unmanaged<Push>.fromOpaque(pointer).takeUnretainedValue()
        let count = min(length, push.request.payload.count - push.payloadOffset)
        push.request.payload.withUnsafeBufferPointer { payload in
            if let base = payload.baseAddress { buffer.update(from: base + push.payloadOffset, count: count) }
        }
        push.payloadOffset += count
        if push.payloadOffset == push.request.payload.count { flags.pointee |= ferry_data_end }
        return count
    }

    private func push(of stream: Int32) -> Push? {
        if let lastFound, lastFound.id == stream { return lastFound.push }
        guard let push = streams[stream] else { return nil }
        lastFound = (stream, push)
        return push
    }

    private func received(
        _ stream: Int32,
        _ name: UnsafeBufferPointer<UInt8>,
        _ value: UnsafeBufferPointer<UInt8>
    ) -> Int32 {
        guard let push = push(of: stream) else { return 0 }
        push.headBytes += name.count + value.count + 32
        guard push.headBytes <= Self.headLimit else {
            return Int32(ferry_error_temporal)
        }
        // Told apart by their length first: this is done for every field of every answer.
        switch name.count {
        case 7 where name[0] == UInt8(ascii: ":"):
            push.status = value.count == 3 ? value.reduce(0) { $0 * 10 + Int($1) - 48 } : 0
        case 11 where value.count <= 64 && name.elementsEqual("retry-after".utf8):
            push.retryAfter = String(decoding: value, as: UTF8.self)
        case 14 where value.count <= 64 && name.elementsEqual("apns-unique-id".utf8):
            push.uniqueID = String(decoding: value, as: UTF8.self).printable
        default: break
        }
        return 0
    }

    private func received(_ stream: Int32, _ bytes: UnsafeBufferPointer<UInt8>) -> Int32 {
        guard let push = push(of: stream) else { return 0 }
        push.bodyBytes += bytes.count
        push.body += bytes.prefix(Self.bodyKept - push.body.count)
        if push.bodyBytes > Self.bodyLimit, let session {
            nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, ferry_code_cancel)
        }
        return 0
    }

    private func receivedGoaway() {
        isDraining = true
        goaways += 1
    }

    private func streamClosed(_ stream: Int32, _ code: UInt32) {
        guard let push = streams.removeValue(forKey: stream) else { return }
        lastFound = nil
        // A status is an answer, however the stream was closed: at most the reason is cut short.
        if push.status >= 200 {
            hasAnswered = true
            ends.append((push, .answered))
        } else if code == ferry_code_refused {
            ends.append((push, .notProcessed))
        } else {
            ends.append((push, .broken(code)))
        }
    }

    private func notSent(_ stream: Int32) {
        guard let push = streams.removeValue(forKey: stream) else { return }
        lastFound = nil
        isDraining = true
        ends.append((push, .notProcessed))
    }
}
