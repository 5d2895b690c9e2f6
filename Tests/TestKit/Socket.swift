import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// A blocking TCP socket on loopback, for servers of tests; closed with its last reference.
public final class Socket: Sendable {
    /// The socket's number, which is closed with this object.
    public let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Listens on a free port of 127.0.0.1.
    public static func listen() throws -> (Socket, port: Int) {
        let socket = try stream()
        var address = loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket.descriptor, pointer, length) == 0 && Glibc.listen(socket.descriptor, 64) == 0
                    && getsockname(socket.descriptor, pointer, &length) == 0
            }
        }
        guard result else { throw POSIXError(.EADDRNOTAVAIL) }
        return (socket, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Connects to a port of 127.0.0.1.
    public static func connect(port: Int) throws -> Socket {
        let socket = try stream()
        var address = loopback(port: UInt16(port))
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                Glibc.connect(socket.descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
        return socket
    }

    /// The next connection; `nil` when listening has ended.
    public func accept() -> Socket? {
        let accepted = Glibc.accept(descriptor, nil, nil)
        guard accepted >= 0 else { return nil }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return Socket(accepted)
    }

    /// Some bytes; empty at the end and on an error.
    public func read(_ limit: Int = 64 << 10) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, limit, 0))
        }
    }

    /// Sends all bytes; says how many were taken before the other side went.
    public func write(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count, let base = buffer.baseAddress {
                let count = send(descriptor, base + done, buffer.count - done, Int32(MSG_NOSIGNAL))
                guard count > 0 else { break }
                done += count
            }
            return done
        }
    }

    /// Ends both directions, which wakes whoever reads or accepts.
    public func shutDown() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private static func stream() throws -> Socket {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return Socket(descriptor)
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
