import COpenSSL

#if canImport(Glibc)
import Glibc
#endif

/// A call to OpenSSL or the system that failed.
struct StandInFailure: Error, CustomStringConvertible {
    let description: String

    init(_ action: String) { description = "The stand-in for a device cannot \(action)." }
}

/// Keys of no worth: a root, and what it issued for a computer and for a device, all in PEM.
struct StandInKeys: Sendable {
    let rootCertificate: [UInt8]
    let rootKey: [UInt8]
    let hostCertificate: [UInt8]
    let hostKey: [UInt8]
    let deviceCertificate: [UInt8]
    let deviceKey: [UInt8]
    /// The device's public key as lockdownd gives it out.
    let devicePublicKey: [UInt8]

    init() throws {
        let keys = try (0..<3).map { _ in try Self.newKey() }
        defer { for key in keys { EVP_PKEY_free(key) } }
        let root = try Self.certificate("Root", keys[0], issuer: nil, keys[0])
        defer { X509_free(root) }
        let host = try Self.certificate("Host", keys[1], issuer: root, keys[0])
        defer { X509_free(host) }
        let device = try Self.certificate("Device", keys[2], issuer: root, keys[0])
        defer { X509_free(device) }
        rootCertificate = try Self.output { PEM_write_bio_X509($0, root) }
        hostCertificate = try Self.output { PEM_write_bio_X509($0, host) }
        deviceCertificate = try Self.output { PEM_write_bio_X509($0, device) }
        let texts = try keys.map { key in
            try Self.output { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
        }
        (rootKey, hostKey, deviceKey) = (texts[0], texts[1], texts[2])
        devicePublicKey = try Self.publicKey(keys[2])
    }

    /// What a server of the device says to who wants TLS.
    func context() throws -> OpaquePointer {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw StandInFailure("make a TLS context") }
        let certificate = Self.withMemory(deviceCertificate) { PEM_read_bio_X509($0, nil, nil, nil) }
        defer { X509_free(certificate) }
        let key = Self.withMemory(deviceKey) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_certificate(context, certificate) == 1, SSL_CTX_use_PrivateKey(context, key) == 1 else {
            throw StandInFailure("use its certificate")
        }
        return context
    }

    private static func newKey() throws -> OpaquePointer {
        let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else { throw StandInFailure("make a key") }
        return key
    }

    private static func certificate(
        _ title: String,
        _ key: OpaquePointer,
        issuer: OpaquePointer?,
        _ issuerKey: OpaquePointer
    ) throws -> OpaquePointer {
        guard let certificate = X509_new() else { throw StandInFailure("make a certificate") }
        let name = X509_get_subject_name(certificate)
        let text = Array(title.utf8)
        let now = time(nil)
        guard X509_set_version(certificate, 2) == 1,
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), .random(in: 1...UInt64(Int64.max))) == 1,
            ASN1_TIME_set(X509_getm_notBefore(certificate), now - 3600) != nil,
            ASN1_TIME_set(X509_getm_notAfter(certificate), now + 3650 * 86_400) != nil,
            X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_FLAG, text, Int32(text.count), -1, 0) == 1,
            X509_set_issuer_name(certificate, issuer.map { X509_get_subject_name($0) } ?? name) == 1,
            X509_set_pubkey(certificate, key) == 1, X509_sign(certificate, issuerKey, EVP_sha256()) > 0
        else {
            X509_free(certificate)
            throw StandInFailure("fill a certificate")
        }
        return certificate
    }

    /// As PKCS#1, which is what PEM calls an RSA PUBLIC KEY.
    private static func publicKey(_ key: OpaquePointer) throws -> [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_PublicKey(key, &bytes)
        guard count > 0, let bytes else { throw StandInFailure("write a key") }
        defer { CRYPTO_free(bytes, #file, #line) }
        return try output { PEM_write_bio($0, "RSA PUBLIC KEY", "", bytes, Int(count)) > 0 ? 1 : 0 }
    }

    private static func withMemory<Value>(_ bytes: [UInt8], _ body: (OpaquePointer?) -> Value) -> Value {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        var written = 0
        BIO_write_ex(bio, bytes, bytes.count, &written)
        return body(bio)
    }

    private static func output(_ write: (OpaquePointer?) -> Int32) throws -> [UInt8] {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { throw StandInFailure("write a key") }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var got = 0
            guard BIO_read_ex(bio, &buffer, buffer.count, &got) == 1, got > 0 else { return bytes }
            bytes += buffer[..<got]
        }
    }
}
