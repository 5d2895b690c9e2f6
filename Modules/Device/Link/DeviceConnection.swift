import CIMobileDevice
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A connection to a service on a device, with TLS where the service wants it; of one thread.
///
/// libimobiledevice connects and encrypts. What is said is ours: its own clients wait in places that nobody can end.
final class DeviceConnection {
    private let connection: OpaquePointer
    private let descriptor: Int32
    private let isEncrypted: Bool
    private let line: DeviceLine

    /// Connects to `port` of `device`.
    ///
    /// - Parameter isPatient: whether it stays open for a while after somebody wanted the end.
    init(
        _ device: OpaquePointer,
        port: UInt16,
        isEncrypted: Bool,
        isPatient: Bool,
        _ line: DeviceLine
    ) throws(DeviceError) {
        var connection: OpaquePointer?
        guard idevice_connect(device, port, &connection) == IDEVICE_E_SUCCESS, let connection else {
            throw DeviceError(
                .disconnected,
                "\(line.name): \(line.step): the connection was refused.",
                remedy: Self.remedy
            )
        }
        self.connection = connection
        self.isEncrypted = isEncrypted
        self.line = line
        var descriptor: Int32 = -1
        idevice_connection_get_fd(connection, &descriptor)
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // What throws from here on ends in `deinit`.
        try line.add(descriptor, isPatient: isPatient)
        guard !isEncrypted || idevice_connection_enable_ssl(connection) == IDEVICE_E_SUCCESS else {
            throw line.error
                ?? DeviceError(
                    .notPaired,
                    "\(line.name): \(line.step): no encrypted connection could be made.",
                    remedy: Lockdown.pairingRemedy
                )
        }
    }

    deinit {
        line.remove(descriptor)
        idevice_disconnect(connection)
    }

    private static let remedy = "Check the cable, or the network, unlock the device, and try again."

    /// Sends all bytes.
    func send(_ bytes: [UInt8]) throws(DeviceError) {
        try bytes.withUnsafeBytes { buffer in
            Result { () throws(DeviceError) in try send(buffer) }
        }.get()
    }

    /// Sends all bytes.
    func send(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        var done = 0
        while done < bytes.count, let base = bytes.baseAddress {
            let wanted = UInt32(clamping: bytes.count - done)
            var sent: UInt32 = 0
            let result = idevice_connection_send(
                connection,
                (base + done).assumingMemoryBound(to: CChar.self),
                wanted,
                &sent
            )
            guard result == IDEVICE_E_SUCCESS, sent > 0, sent <= wanted else { throw broken() }
            done += Int(sent)
        }
    }

    /// The next `count` bytes.
    func receive(_ count: Int) throws(DeviceError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let (result, got) = bytes.withUnsafeMutableBytes { buffer -> (idevice_error_t, UInt32) in
                var got: UInt32 = 0
                guard let base = buffer.baseAddress else { return (IDEVICE_E_UNKNOWN_ERROR, 0) }
                let place = (base + done).assumingMemoryBound(to: CChar.self)
                let wanted = UInt32(clamping: count - done)
                // Without TLS the first would wait ten seconds and call that an error; with TLS the second loses what came
                // before its time is over.
                let result =
                    isEncrypted
                    ? idevice_connection_receive(connection, place, wanted, &got)
                    : idevice_connection_receive_timeout(connection, place, wanted, &got, 1000)
                return (result, min(got, wanted))
            }
            done += Int(got)
            guard got == 0 else { continue }
            try line.check()
            guard result == IDEVICE_E_TIMEOUT || result == IDEVICE_E_NOT_ENOUGH_DATA else { throw broken() }
        }
        return bytes
    }

    private func broken() -> DeviceError {
        // What was ended from outside looks broken, too.
        line.error
            ?? DeviceError(
                .disconnected,
                "\(line.name): the connection ended while \(line.step).",
                remedy: Self.remedy
            )
    }
}
