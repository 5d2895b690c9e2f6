import COpenSSL
import FerryBytes

/// A private key inside OpenSSL; freed with the last reference.
///
/// OpenSSL's keys are counted and may sign on several threads at once. The pointer is kept as its address because
/// `OpaquePointer` is not `Sendable`.
final class PrivateKey: Sendable {
    private let address: UInt

    /// Takes over the caller's reference.
    init(_ key: OpaquePointer) {
        address = UInt(bitPattern: key)
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    var pointer: OpaquePointer? { OpaquePointer(bitPattern: address) }

    /// Whether it is an RSA key, whose signatures all have one length.
    var isRSA: Bool { EVP_PKEY_get_base_id(pointer) == EVP_PKEY_RSA }

    /// Whether it is for ECDSA, whose signatures differ in length by a few bytes.
    var isEllipticCurve: Bool { EVP_PKEY_get_base_id(pointer) == EVP_PKEY_EC }
}
