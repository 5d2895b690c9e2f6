import COpenSSL
import FerryBytes
import FerryPropertyList

#if canImport(Glibc)
import Glibc
#endif

/// The other side has ended the connection, or broken it.
struct EndOfWire: Error {}

/// A connection with blocking reads and writes, encrypted from some point on; of one thread.
final class Wire {
    let descriptor: Int32
    private var session: OpaquePointer?

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        SSL_free(session)
        close(descriptor)
    }

    func read(_ count: Int) throws -> [UInt8] {
        // The longest that anybody sends here in one piece is a few megabytes.
        guard count >= 0, count <= 64 << 20 else { throw EndOfWire() }
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                session.map { Int(SSL_read($0, buffer.baseAddress.map { $0 + done }, Int32(count - done))) }
                    ?? recv(descriptor, buffer.baseAddress.map { $0 + done }, count - done, 0)
            }
            guard got > 0 else { throw EndOfWire() }
            done += got
        }
        return bytes
    }

    func write(_ bytes: [UInt8]) throws {
        var done = 0
        while done < bytes.count {
            let sent = bytes.withUnsafeBytes { buffer in
                session.map { Int(SSL_write($0, buffer.baseAddress.map { $0 + done }, Int32(bytes.count - done))) }
                    ?? send(descriptor, buffer.baseAddress.map { $0 + done }, bytes.count - done, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { throw EndOfWire() }
            done += sent
        }
    }

    /// Begins to encrypt, as the server.
    func encrypt(_ keys: StandInKeys) throws {
        let context = try keys.context()
        // The session keeps a reference of its own.
        defer { SSL_CTX_free(context) }
        session = SSL_new(context)
        guard SSL_set_fd(session, descriptor) == 1, SSL_accept(session) == 1 else {
            ERR_clear_error()
            throw EndOfWire()
        }
    }

    /// Goes on without encryption, once the other side has said so, too.
    func decrypt() {
        if SSL_shutdown(session) == 0 { SSL_shutdown(session) }
        ERR_clear_error()
        SSL_free(session)
        session = nil
    }

    /// A message of lockdownd and its services: a length, big-endian, and a property list.
    func readMessage() throws -> PropertyList.Dictionary {
        let length = try read(4).reduce(0) { $0 << 8 | Int($1) }
        guard let message = try PropertyList.parse(try read(length)).value.dictionary else { throw EndOfWire() }
        return message
    }

    func writeMessage(_ message: PropertyList.Dictionary) throws {
        let body = PropertyList.dictionary(message).encoded(as: .binary)
        var bytes: [UInt8] = []
        bytes.append(UInt32(body.count), .big)
        // In two parts, as devices do.
        try write(bytes)
        try write(body)
    }

    /// Waits until the other side goes away.
    func stall() {
        while (try? read(1)) != nil {}
    }
}
