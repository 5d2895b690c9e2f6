import CNghttp2
import COpenSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

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

    func connectNext(_ now: Duration) {
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

    func connected(_ now: Duration) {
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

    func talkToProxy(_ now: Duration) {
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

    func shakeHands(_ now: Duration) {
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
