import CMicroHTTPD
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One client's connection, for as long as it stands.
final class Connection: Sendable {
    /// The socket, which is the library's.
    let descriptor: Int32
    /// Whose it is: an address in numbers.
    let address: String
    /// Since when the head of the next request is due, in seconds; 0 while a request is answered.
    let waitsSince: Atomic<Int64>
    /// Whether it is the client's turn to send.
    let isReading = Atomic(true)

    init(descriptor: Int32, address: String) {
        self.descriptor = descriptor
        self.address = address
        waitsSince = Atomic(Self.now)
    }

    /// Whether the client has said that it sends nothing more, and all before was read.
    var isEnded: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    /// Ends it at once for both sides. The library, told that an answer cannot go on, else leaves it open until it has
    /// been idle for long.
    func end() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Seconds of a clock that nobody sets.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return max(1, Int64(time.tv_sec))
    }

    /// An address in numbers; one of IPv4 in the clothes of IPv6 without them.
    static func text(_ address: UnsafePointer<sockaddr>?) -> String {
        guard let address else { return "" }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = Int32(address.pointee.sa_family)
        let raw = UnsafeRawPointer(address)
        if family == AF_INET {
            // sockaddr_in.sin_addr
            inet_ntop(family, raw + 4, &text, socklen_t(text.count))
        } else if family == AF_INET6 {
            // sockaddr_in6.sin6_addr
            inet_ntop(family, raw + 8, &text, socklen_t(text.count))
        }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let plain = String(decoding: bytes, as: UTF8.self)
        return plain.hasPrefix("::ffff:") && plain.contains(".") ? String(plain.dropFirst(7)) : plain
    }
}

/// The connections that stand, and how many each address has.
struct ConnectionTable: ~Copyable {
    private var connections: [ObjectIdentifier: Connection] = [:]
    private var counts: [String: Int] = [:]

    var count: Int { connections.count }

    func count(of address: String) -> Int { counts[address] ?? 0 }

    mutating func add(_ connection: Connection) {
        connections[ObjectIdentifier(connection)] = connection
        counts[connection.address, default: 0] += 1
    }

    mutating func remove(_ connection: Connection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        let left = count(of: connection.address) - 1
        counts[connection.address] = left > 0 ? left : nil
    }

    /// Ends those that have made the server wait for longer than `seconds`, and those whose clients have ended: the
    /// library overlooks an end that comes together with the last bytes.
    func endLate(after seconds: Int64) {
        let now = Connection.now
        for connection in connections.values where connection.isReading.load(ordering: .relaxed) {
            let since = connection.waitsSince.load(ordering: .relaxed)
            if (since > 0 && now - since > seconds) || connection.isEnded {
                connection.end()
            }
        }
    }
}
