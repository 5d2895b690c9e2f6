import COpenSSL
import FerryBytes

/// A SHA-256 that grows piece by piece (FIPS 180-4), by OpenSSL.
final class SHA256: Sendable {
    /// How many bytes a digest has.
    static let length = 32

    /// OpenSSL's context, as a number because a pointer is not Sendable.
    private let address: Guarded<UInt>

    /// Begins with no bytes.
    init() {
        guard let context = EVP_MD_CTX_new() else {
            preconditionFailure("OpenSSL has no memory for a hash")
        }
        address = Guarded(UInt(bitPattern: context))
        restart()
    }

    deinit {
        use { EVP_MD_CTX_free($0) }
    }

    /// Forgets all bytes.
    func restart() {
        let isBegun = use { EVP_DigestInit_ex($0, EVP_sha256(), nil) == 1 }
        precondition(isBegun, "OpenSSL has no SHA-256")
    }

    /// Adds bytes.
    func add(_ bytes: UnsafeRawBufferPointer) {
        use { _ = EVP_DigestUpdate($0, bytes.baseAddress, bytes.count) }
    }

    /// The digest of all bytes so far; more may follow.
    func digest() -> [UInt8] {
        // The copy is what is finished off, so that a seal that failed can be tried again.
        guard let copy = EVP_MD_CTX_new() else {
            preconditionFailure("OpenSSL has no memory for a hash")
        }
        defer { EVP_MD_CTX_free(copy) }
        use { _ = EVP_MD_CTX_copy_ex(copy, $0) }
        return [UInt8](unsafeUninitializedCapacity: Self.length) { buffer, count in
            _ = EVP_DigestFinal_ex(copy, buffer.baseAddress, nil)
            count = Self.length
        }
    }

    private func use<Value: Sendable>(_ work: (OpaquePointer?) -> Value) -> Value {
        address.withLock { work(OpaquePointer(bitPattern: $0)) }
    }
}
