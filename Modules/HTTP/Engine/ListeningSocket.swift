import CMicroHTTPD

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A socket that takes connections, until it is shut; closed with its last reference.
final class ListeningSocket: Sendable {
    let descriptor: Int32
    /// Where it listens, with the port that was got.
    let address: ListenAddress

    /// How many connections may wait to be accepted: as many as Linux lets by default.
    private static let backlog: Int32 = 4096

    init(_ wanted: ListenAddress) throws(HTTPError) {
        guard let (family, bytes) = wanted.resolved else {
            throw HTTPError(
                .badAddress,
                "“\(wanted.host)” is no address in numbers.",
                remedy: "Listen on 127.0.0.1, on 0.0.0.0 for all addresses, or on one that this machine has."
            )
        }
        let descriptor = makeSocket(family)
        self.descriptor = descriptor
        guard descriptor >= 0 else { throw Self.failure(wanted, errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let result = bytes.withUnsafeBytes { bytes in
            bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        guard result == 0, listen(descriptor, Self.backlog) == 0 else {
            let number = errno
            closeDescriptor(descriptor)
            throw Self.failure(wanted, number)
        }
        var got = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let port = withUnsafeMutableBytes(of: &got) { got -> UInt16 in
            getsockname(descriptor, got.assumingMemoryBound(to: sockaddr.self).baseAddress, &length)
            // The port has the same place in both families.
            return UInt16(got[2]) << 8 | UInt16(got[3])
        }
        address = ListenAddress(host: wanted.host, port: port)
    }

    deinit {
        closeDescriptor(descriptor)
    }

    /// Refuses whoever connects from now on.
    func shut() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private static func failure(_ address: ListenAddress, _ number: Int32) -> HTTPError {
        let reason = String(cString: strerror(number))
        return switch number {
        case EADDRINUSE:
            HTTPError(
                .addressInUse,
                "\(address): another program listens there.",
                remedy: "End it, or choose another port; port 0 takes any that is free."
            )
        case EADDRNOTAVAIL:
            HTTPError(
                .addressInUse,
                "\(address): this machine has no such address.",
                remedy: "Choose one that it has, or 0.0.0.0 for all of them."
            )
        case EACCES:
            HTTPError(
                .notAllowed,
                "\(address): this user may not listen there.",
                remedy: "Choose a port from 1024 on, or give the program the capability CAP_NET_BIND_SERVICE."
            )
        default: HTTPError(.system, "\(address): cannot listen: \(reason).", remedy: "Check this machine's limits.")
        }
    }
}

private func makeSocket(_ family: Int32) -> Int32 {
    #if canImport(Glibc)
    socket(family, Int32(SOCK_STREAM.rawValue), 0)
    #else
    socket(family, SOCK_STREAM, 0)
    #endif
}

func closeDescriptor(_ descriptor: Int32) {
    close(descriptor)
}
