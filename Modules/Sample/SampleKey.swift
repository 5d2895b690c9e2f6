import COpenSSL

/// A private key of no worth, as its PKCS#8 DER (RFC 5208): a value, so that no pointer has to be kept.
struct SampleKey: Sendable {
    let der: [UInt8]

    /// Makes a new key.
    init(_ kind: ThrowawayIdentity.KeyKind) throws(SampleError) {
        let context: OpaquePointer?
        switch kind {
        case .rsa2048: context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
        case .p256: context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            kind == .rsa2048
                ? EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) == 1
                : EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            EVP_PKEY_generate(context, &key) == 1
        else { throw OpenSSL.failure("make a key") }
        defer { EVP_PKEY_free(key) }
        der = try OpenSSL.output("encode a key") { i2d_PKCS8PrivateKey_bio($0, key, nil, nil, 0, nil, nil) }
    }

    /// Runs `body` with OpenSSL's object for the key.
    func withKey<Result>(
        _ body: (OpaquePointer) throws(SampleError) -> Result
    ) throws(SampleError) -> Result {
        let bio = OpenSSL.memory(der)
        defer { BIO_free(bio) }
        guard let key = d2i_PrivateKey_bio(bio, nil) else { throw OpenSSL.failure("read a key") }
        defer { EVP_PKEY_free(key) }
        return try body(key)
    }
}
