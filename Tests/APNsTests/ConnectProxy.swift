import FerryBytes
import Foundation
import Glibc

/// A proxy on loopback that connects (`CONNECT`), or answers as a test says; it keeps what it was asked.
final class ConnectProxy: Sendable {
    let port: Int
    private let listener: Int32
    private let asked = Guarded<[String]>([])
    private let answer: String?
    private let connects: Bool
    private let credentials: String?

    /// Connects; where `credentials` are given, only for them.
    convenience init(requiring credentials: String? = nil) throws {
        try self.init(connects: true, "HTTP/1.1 200 Connection established\r\n\r\n", credentials)
    }

    /// Answers so, and closes; `nil` answers nothing.
    convenience init(answering answer: String?) throws {
        try self.init(connects: false, answer, nil)
    }

    private init(connects: Bool, _ answer: String?, _ credentials: String?) throws {
        self.connects = connects
        self.answer = answer
        self.credentials = credentials
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = Self.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        let serve: @Sendable () -> Void = { [weak self] in
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0, let self else { break }
                Thread.detachNewThread { self.talk(client) }
            }
            close(descriptor)
        }
        Thread.detachNewThread(serve)
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// What was asked so far: the heads of requests.
    var heads: [String] { asked.withLock { $0 } }

    private func talk(_ client: Int32) {
        defer { close(client) }
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard recv(client, &byte, 1, 0) == 1 else { return }
            head.append(byte)
        }
        let text = String(decoding: head, as: UTF8.self)
        asked.withLock { $0.append(text) }
        if let credentials, !text.contains("\r\nProxy-Authorization: \(credentials)\r\n") {
            return say(
                "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n",
                client
            )
        }
        guard let answer else {
            // Until the client goes.
            while recv(client, &byte, 1, 0) == 1 {}
            return
        }
        guard connects, let server = connect(to: text) else { return say(answer, client) }
        say(answer, client)
        Thread.detachNewThread {
            Self.pass(client, server)
            shutdown(server, Int32(SHUT_RDWR))
        }
        Self.pass(server, client)
        shutdown(client, Int32(SHUT_RDWR))
        close(server)
    }

    private func say(_ text: String, _ client: Int32) {
        _ = send(client, text, text.utf8.count, Int32(MSG_NOSIGNAL))
    }

    private func connect(to head: String) -> Int32? {
        guard let target = head.split(separator: " ").dropFirst().first,
            let port = target.split(separator: ":").last.flatMap({ UInt16($0) })
        else { return nil }
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = Self.loopback(port)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result == 0 { return server }
        close(server)
        return nil
    }

    private static func pass(_ from: Int32, _ to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            var sent = 0
            while sent < count {
                let more = buffer.withUnsafeBytes { bytes in
                    bytes.baseAddress.map { send(to, $0 + sent, count - sent, Int32(MSG_NOSIGNAL)) } ?? -1
                }
                guard more > 0 else { return }
                sent += more
            }
        }
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
