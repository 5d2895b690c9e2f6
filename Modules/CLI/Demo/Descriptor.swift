import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A socket that does not block; closed once, at the latest with its last reference.
final class Descriptor: Sendable {
    /// The most that is read at once.
    static let readLimit = 16 << 10

    /// The system's number for it.
    let number: Int32
    private let isOpen = Guarded(true)

    private init(_ number: Int32) {
        self.number = number
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
        #if canImport(Darwin)
        var yes: Int32 = 1
        setsockopt(number, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    deinit {
        close()
    }

    /// A socket that listens on a free port of 127.0.0.1.
    static func listener() throws(FileFailure) -> (Descriptor, port: UInt16) {
        let name = "127.0.0.1"
        let number = socket(AF_INET, streamKind, 0)
        guard number >= 0 else { throw FileFailure("make a socket", name, errorNumber: errno) }
        let descriptor = Descriptor(number)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(number, pointer, length) == 0 && listen(number, 64) == 0
                    && getsockname(number, pointer, &length) == 0
            }
        }
        guard isListening else { throw FileFailure("listen", name, errorNumber: errno) }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// Two sockets that are connected with each other.
    static func pair() throws(FileFailure) -> (Descriptor, Descriptor) {
        var numbers: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, streamKind, 0, &numbers) == 0 else {
            throw FileFailure("make sockets for", "127.0.0.1", errorNumber: errno)
        }
        return (Descriptor(numbers[0]), Descriptor(numbers[1]))
    }

    /// The next connection; `nil` where there is none now.
    func accept() -> Descriptor? {
        #if canImport(Glibc)
        let accepted = Glibc.accept(number, nil, nil)
        #elseif canImport(Musl)
        let accepted = Musl.accept(number, nil, nil)
        #else
        let accepted = Darwin.accept(number, nil, nil)
        #endif
        return accepted < 0 ? nil : Descriptor(accepted)
    }

    /// Some bytes: empty at the end and where it broke, `nil` where there is nothing now.
    func read() -> [UInt8]? {
        var result = 0
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.readLimit) { buffer, count in
            result = recv(number, buffer.baseAddress, buffer.count, 0)
            failure = errno
            count = max(0, result)
        }
        return result < 0 && Self.isPassing(failure) ? nil : bytes
    }

    /// Sends what there is room for and says how much that was; `nil` where the other side went.
    func write(_ bytes: ArraySlice<UInt8>) -> Int? {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        let result = bytes.withUnsafeBytes { send(number, $0.baseAddress, $0.count, flags) }
        if result >= 0 { return result }
        return Self.isPassing(errno) ? 0 : nil
    }

    /// Sends small pieces at once, instead of waiting for more to go with them.
    func sendWithoutDelay() {
        var yes: Int32 = 1
        setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Says that nothing more will be sent; what was sent before still arrives.
    func finishWriting() {
        shutdown(number, Int32(SHUT_WR))
    }

    /// Closes it, the first time.
    func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard wasOpen else { return }
        // A program that was started at the wrong moment may have a copy, and closing ours alone would end nothing.
        shutdown(number, Int32(SHUT_RDWR))
        #if canImport(Glibc)
        _ = Glibc.close(number)
        #elseif canImport(Musl)
        _ = Musl.close(number)
        #else
        _ = Darwin.close(number)
        #endif
    }

    private static func isPassing(_ error: Int32) -> Bool {
        error == EAGAIN || error == EWOULDBLOCK || error == EINTR
    }

    #if canImport(Glibc)
    private static let streamKind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    #else
    private static let streamKind = SOCK_STREAM
    #endif
}
