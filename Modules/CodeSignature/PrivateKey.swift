import COpenSSL
import FerryBytes

/// A private key inside OpenSSL; freed with the last reference.
///
/// OpenSSL's keys are counted and may sign on several threads at once. The pointer is kept as its address because
/// `OpaquePointer` is not `Sendable`.
final class PrivateKey: Sendable {
    /// Whether the key lies in a token, which signs by itself.
    let isInToken: Bool
    private let address: UInt
    private let turn = Guarded(())

    /// Takes over the caller's reference.
    init(_ key: OpaquePointer, isInToken: Bool = false) {
        address = UInt(bitPattern: key)
        self.isInToken = isInToken
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    var pointer: OpaquePointer? { OpaquePointer(bitPattern: address) }

    /// Whether it is an RSA key, whose signatures all have one length.
    var isRSA: Bool { EVP_PKEY_is_a(pointer, "RSA") == 1 }

    /// Whether it is for ECDSA, whose signatures differ in length by a few bytes.
    var isEllipticCurve: Bool { EVP_PKEY_is_a(pointer, "EC") == 1 }

    /// Runs `body`, which signs; for a key in a token one at a time, for not every driver allows for more.
    func signing(_ body: () -> Int32) -> Int32 {
        guard isInToken else { return body() }
        return turn.withLock { _ in body() }
    }
}
