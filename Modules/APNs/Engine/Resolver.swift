import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An address of a host, as the system takes it.
struct SocketAddress: Sendable, Hashable {
    /// `AF_INET` or `AF_INET6`.
    let family: Int32
    /// A `sockaddr_in` or `sockaddr_in6`.
    let bytes: [UInt8]

    /// Opens a socket that does not block and begins to connect it; gives the descriptor, or the system's error number.
    func connect() -> Result<Int32, Errno> {
        #if os(Linux)
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(family, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { return .failure(Errno(number: errno)) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        let result = bytes.withUnsafeBytes { buffer -> Int32 in
            guard let base = buffer.baseAddress else { return -1 }
            #if canImport(Glibc)
            return Glibc.connect(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(buffer.count))
            #elseif canImport(Musl)
            return Musl.connect(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(buffer.count))
            #else
            return Darwin.connect(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(buffer.count))
            #endif
        }
        if result == 0 || errno == EINPROGRESS || errno == EINTR { return .success(descriptor) }
        let number = errno
        close(descriptor)
        return .failure(Errno(number: number))
    }
}

/// An error number of the system.
struct Errno: Error, Equatable {
    let number: Int32

    /// The system's words for it.
    var text: String { String(cString: strerror(number)) }
}

/// `close`, which has another meaning inside types with a method of that name.
func closeDescriptor(_ descriptor: Int32) {
    close(descriptor)
}

/// Finds the addresses of a host.
enum Resolver {
    /// The most addresses that are tried.
    static let addressLimit = 8

    /// What was found.
    enum Answer: Sendable {
        case addresses([SocketAddress])
        /// Why none, in the system's words.
        case nothing(String)
    }

    /// The address that `host` itself is; `nil` for a name.
    static func literal(_ host: String, port: UInt16) -> SocketAddress? {
        if case .addresses(let found) = lookUp(host, port, AI_NUMERICHOST) { found.first } else { nil }
    }

    /// Asks the system; blocks until it knows.
    static func addresses(of host: String, port: UInt16) -> Answer {
        lookUp(host, port, AI_ADDRCONFIG)
    }

    private static func lookUp(_ host: String, _ port: UInt16, _ flags: Int32) -> Answer {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if os(Linux)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        hints.ai_flags = flags
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else { return .nothing(String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee, found.count < addressLimit {
            if let address = entry.ai_addr {
                let bytes = UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen))
                found.append(SocketAddress(family: entry.ai_family, bytes: Array(bytes)))
            }
            next = entry.ai_next
        }
        return found.isEmpty ? .nothing("no address") : .addresses(found)
    }
}
