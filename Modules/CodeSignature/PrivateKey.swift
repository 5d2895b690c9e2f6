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

    /// Whether the key's signatures all have one length; elliptic curves' differ by a few bytes.
    var signsAtFixedLength: Bool { EVP_PKEY_get_base_id(pointer) == EVP_PKEY_RSA }
}
