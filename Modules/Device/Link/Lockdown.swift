import CIMobileDevice
import FerryBytes
import FerryPropertyList

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The service of a device that answers first: what it is, whether it trusts this computer, where its other services are.
final class Lockdown {
    /// What to do where device and computer do not know each other.
    static let pairingRemedy =
        "Unlock the device, connect it by cable, and tap Trust. If it does not ask, pair it anew: idevicepair unpair, then "
        + "idevicepair pair."

    /// Somebody at the device has to do something, and then it goes on.
    enum Wish: Sendable {
        /// To tap Trust.
        case trust
        /// To unlock it.
        case unlocking
    }

    private let client: OpaquePointer
    private let line: DeviceLine

    /// Opens it with a session, and waits up to `limit` for whoever has to unlock the device, or to tap Trust.
    ///
    /// - Parameter tell: called when such a wait begins.
    static func patiently(
        _ device: OpaquePointer,
        _ line: DeviceLine,
        limit: Duration,
        tell: (Wish) -> Void
    ) throws(DeviceError) -> Lockdown {
        var told: Wish?
        // Looks are counted, for this thread sleeps on no clock that a test could move.
        for _ in 0..<max(0, Int(limit / lookInterval)) {
            let wish: Wish
            do throws(DeviceError) {
                return try Lockdown(device, line)
            } catch {
                guard let known = error.wish else { throw error }
                wish = known
            }
            if wish != told { tell(wish) }
            told = wish
            usleep(useconds_t(lookInterval / .microseconds(1)))
            try line.sign()
        }
        return try Lockdown(device, line)
    }

    private static let lookInterval = Duration.milliseconds(500)

    /// Opens it.
    ///
    /// - Parameter isTrusted: whether with a session, which asks the person at the device for trust where there was none
    ///   before; without one it says little, and starts nothing.
    init(_ device: OpaquePointer, isTrusted: Bool = true, _ line: DeviceLine) throws(DeviceError) {
        var client: OpaquePointer?
        let result =
            isTrusted
            ? lockdownd_client_new_with_handshake(device, &client, "ferry")
            : lockdownd_client_new(device, &client, "ferry")
        guard result == LOCKDOWN_E_SUCCESS, let client else {
            throw Self.error(result, line)
        }
        self.client = client
        self.line = line
    }

    deinit { lockdownd_client_free(client) }

    /// A value, or all of a domain where `key` is `nil`; `nil` where the device has none, or keeps it to itself.
    func value(_ key: String?, in domain: String? = nil) -> PropertyList? {
        var node: plist_t?
        guard lockdownd_get_value(client, domain, key, &node) == LOCKDOWN_E_SUCCESS, let node else { return nil }
        defer { plist_free(node) }
        var bytes: UnsafeMutablePointer<CChar>?
        var count: UInt32 = 0
        plist_to_bin(node, &bytes, &count)
        guard let bytes else { return nil }
        defer { plist_to_bin_free(bytes) }
        return try? PropertyList.parse([UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count)))).value
    }

    /// The device's own time, in seconds since 1970; `nil` where it does not say.
    func time() -> Int64? {
        guard let value = value("TimeIntervalSince1970") else { return nil }
        return value.integer ?? value.real.flatMap { Int64(exactly: $0.rounded(.down)) }
    }

    /// Starts a service; it waits a few seconds for whoever connects.
    func start(_ service: String) throws(DeviceError) -> (port: UInt16, isEncrypted: Bool) {
        var descriptor: lockdownd_service_descriptor_t?
        let result = lockdownd_start_service(client, service, &descriptor)
        guard result == LOCKDOWN_E_SUCCESS, let descriptor else { throw Self.error(result, line) }
        defer { lockdownd_service_descriptor_free(descriptor) }
        return (descriptor.pointee.port, descriptor.pointee.ssl_enabled != 0)
    }

    private static func error(_ result: lockdownd_error_t, _ line: DeviceLine) -> DeviceError {
        if let error = line.error { return error }
        let name = line.name
        switch result {
        case LOCKDOWN_E_INVALID_HOST_ID, LOCKDOWN_E_INVALID_PAIR_RECORD, LOCKDOWN_E_MISSING_PAIR_RECORD,
            LOCKDOWN_E_MISSING_HOST_ID, LOCKDOWN_E_SSL_ERROR, LOCKDOWN_E_PAIRING_FAILED, LOCKDOWN_E_INVALID_CONF:
            return DeviceError(
                .notPaired,
                "\(name) does not trust this computer, or no longer (\(word(result))).",
                remedy: pairingRemedy
            )
        case LOCKDOWN_E_PAIRING_DIALOG_RESPONSE_PENDING:
            return DeviceError(
                .notPaired,
                "\(name) asks whether to trust this computer.",
                remedy: "Tap Trust on the device, give its passcode, and try again.",
                wish: .trust
            )
        case LOCKDOWN_E_USER_DENIED_PAIRING:
            return DeviceError(
                .notPaired,
                "\(name): somebody said that it should not trust this computer.",
                remedy: "Disconnect it, connect it again, and tap Trust."
            )
        case LOCKDOWN_E_PAIRING_PROHIBITED_OVER_THIS_CONNECTION:
            return DeviceError(
                .notPaired,
                "\(name) pairs with no computer over the network.",
                remedy: "Connect it by cable once, and tap Trust."
            )
        case LOCKDOWN_E_PASSWORD_PROTECTED, LOCKDOWN_E_ESCROW_LOCKED:
            return DeviceError(
                .locked,
                "\(name) is locked.",
                remedy: "Unlock it, leave it unlocked, and try again.",
                wish: .unlocking
            )
        case LOCKDOWN_E_SERVICE_PROHIBITED, LOCKDOWN_E_MC_PROTECTED, LOCKDOWN_E_MC_CHALLENGE_REQUIRED,
            LOCKDOWN_E_FMIP_PROTECTED:
            return DeviceError(
                .notPaired,
                "\(name): \(line.step) is not allowed there (\(word(result))).",
                remedy: "Its configuration forbids it; ask whoever manages the device."
            )
        case LOCKDOWN_E_INVALID_SERVICE:
            return DeviceError(
                .answer,
                "\(name): \(line.step): the device has no such service.",
                remedy: "Restart the device, and try again."
            )
        default:
            return DeviceError(
                .disconnected,
                "\(name): \(line.step) failed (\(word(result))).",
                remedy: "Check the cable, or the network, unlock the device, and try again."
            )
        }
    }

    private static func word(_ result: lockdownd_error_t) -> String {
        lockdownd_strerror(result).map { String(cString: $0).printable } ?? "\(result.rawValue)"
    }
}
