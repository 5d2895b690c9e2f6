import COpenSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A certificate of our own making with its key (P-256), both in PEM.
struct MadeCertificate: Sendable {
    let pem: [UInt8]
    let keyPEM: String

    /// What is kept in files; `nil` where it cannot be read, or does not belong together.
    init?(pem: [UInt8], keyPEM: String) {
        self.pem = pem
        self.keyPEM = keyPEM
        let fits = try? withCertificate { certificate in
            try withKey { key in X509_check_private_key(certificate, key) == 1 }
        }
        guard fits == true else {
            ERR_clear_error()
            return nil
        }
    }

    /// Makes a key and issues its certificate; without an issuer it signs itself.
    init(
        name: String,
        days: Int64,
        now: Int64,
        extensions: [(String, String)],
        by issuer: MadeCertificate?
    ) throws {
        let key = try Self.newKey()
        defer { EVP_PKEY_free(key) }
        guard let certificate = X509_new() else { throw Self.failure("make a certificate") }
        defer { X509_free(certificate) }
        let subject = X509_get_subject_name(certificate)
        let bytes = Array(name.utf8.prefix(64))
        // An hour ago, for phones whose clocks are late.
        guard X509_set_version(certificate, 2) == 1,
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), .random(in: 1 << 62...UInt64(Int64.max))) == 1,
            ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(now - 3600)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(now - 3600 + days * 86_400)) != nil,
            X509_set_pubkey(certificate, key) == 1,
            X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_FLAG, bytes, Int32(bytes.count), -1, 0) == 1
        else { throw Self.failure("fill a certificate") }
        if let issuer {
            try issuer.withCertificate { above in
                try issuer.withKey { key in try Self.sign(certificate, by: above, key, extensions) }
            }
        } else {
            try Self.sign(certificate, by: certificate, key, extensions)
        }
        pem = try Self.output { PEM_write_bio_X509($0, certificate) }
        keyPEM = String(
            decoding: try Self.output { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) },
            as: UTF8.self
        )
    }

    /// The certificate in DER.
    var der: [UInt8] {
        get throws { try withCertificate { certificate in try Self.output { i2d_X509_bio($0, certificate) } } }
    }

    /// When it ends, in seconds since 1970; 0 where that cannot be read.
    var end: Int64 {
        let end = try? withCertificate { certificate -> Int64 in
            var time = tm()
            guard ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) == 1 else { return 0 }
            return Int64(timegm(&time))
        }
        return end ?? 0
    }

    /// Whether a server of these hosts can still show it.
    func isGood(for hosts: [String], by authority: MadeCertificate, at now: Int64) -> Bool {
        guard end - 30 * 86_400 > now else { return false }
        let isGood = try? withCertificate { certificate in
            let named = hosts.allSatisfy { host in
                let plain = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
                return X509_check_host(certificate, plain, plain.utf8.count, 0, nil) == 1
                    || X509_check_ip_asc(certificate, plain, 0) == 1
            }
            return try named
                && authority.withKey { key in X509_verify(certificate, key) == 1 }
        }
        ERR_clear_error()
        return isGood == true
    }

    func withCertificate<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        let bio = Self.memory(pem)
        defer { BIO_free(bio) }
        guard let certificate = PEM_read_bio_X509(bio, nil, nil, nil) else { throw Self.failure("read a certificate") }
        defer { X509_free(certificate) }
        return try body(certificate)
    }

    func withKey<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        let bio = Self.memory(Array(keyPEM.utf8))
        defer { BIO_free(bio) }
        guard let key = PEM_read_bio_PrivateKey(bio, nil, nil, nil) else { throw Self.failure("read a key") }
        defer { EVP_PKEY_free(key) }
        return try body(key)
    }

    private static func newKey() throws -> OpaquePointer {
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else { throw failure("make a key") }
        return key
    }

    private static func sign(
        _ certificate: OpaquePointer,
        by issuer: OpaquePointer,
        _ key: OpaquePointer,
        _ extensions: [(String, String)]
    ) throws {
        guard X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 else {
            throw failure("name an issuer")
        }
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        let identifiers = [("subjectKeyIdentifier", "hash"), ("authorityKeyIdentifier", "keyid")]
        for (name, value) in extensions + identifiers {
            guard let made = X509V3_EXT_nconf(nil, &context, name, value) else {
                throw failure("make the extension \(name) of “\(value)”")
            }
            defer { X509_EXTENSION_free(made) }
            guard X509_add_ext(certificate, made, -1) == 1 else { throw failure("add \(name)") }
        }
        guard X509_sign(certificate, key, EVP_sha256()) > 0 else { throw failure("sign a certificate") }
    }

    /// A memory BIO with a copy of `bytes` (`BIO_new_mem_buf` would keep a pointer that dies with the call).
    private static func memory(_ bytes: [UInt8]) -> OpaquePointer? {
        let bio = BIO_new(BIO_s_mem())
        var written = 0
        if !bytes.isEmpty { BIO_write_ex(bio, bytes, bytes.count, &written) }
        return bio
    }

    private static func output(_ write: (OpaquePointer?) -> Int32) throws -> [UInt8] {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { throw failure("write a certificate") }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var got = 0
            guard BIO_read_ex(bio, &buffer, buffer.count, &got) == 1, got > 0 else { return bytes }
            bytes += buffer[..<got]
        }
    }

    private static func failure(_ action: String) -> AuthorityError {
        var reason = "it gives no reason"
        while case let code = ERR_get_error(), code != 0 {
            if let text = ERR_reason_error_string(code) { reason = String(cString: text) }
        }
        return AuthorityError(
            message: "OpenSSL could not \(action): \(reason).",
            remedy: "Check the names of the server, and its state folder."
        )
    }
}
