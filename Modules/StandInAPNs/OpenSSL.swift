import COpenSSL

/// A call to OpenSSL that failed, with its reason.
package struct StandInFailure: Error, CustomStringConvertible {
    /// What failed.
    package let description: String

    init(_ action: String) {
        var reason = "no reason given"
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            if let text = ERR_reason_error_string(code) { reason = String(cString: text) }
        }
        description = "The stand-in for APNs cannot \(action): \(reason)."
    }
}

/// Shared pieces of calling OpenSSL.
enum OpenSSL {
    /// What `write` puts into a new memory BIO.
    static func output(_ action: String, _ write: (OpaquePointer?) -> Int32) throws -> [UInt8] {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { throw StandInFailure(action) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var got = 0
            guard BIO_read_ex(bio, &buffer, buffer.count, &got) == 1, got > 0 else { return bytes }
            bytes += buffer[..<got]
        }
    }

    /// A new key on the curve P-256; the caller frees it.
    static func newKey() throws -> OpaquePointer {
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else { throw StandInFailure("make a key") }
        return key
    }
}
