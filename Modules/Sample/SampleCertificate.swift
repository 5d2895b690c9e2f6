import COpenSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a certificate to be issued says (RFC 5280).
struct SampleCertificate {
    /// The subject's attributes in their order: `("CN", "Name")`.
    var subject: [(String, String)]
    /// The start of its validity, in seconds since 1970.
    var notBefore: Int64
    /// The end of its validity, in seconds since 1970.
    var notAfter: Int64
    /// Names and values as in OpenSSL's configuration: `("keyUsage", "critical,digitalSignature")`.
    var extensions: [(String, String)]

    /// Issues it for `key` and gives its DER; without an issuer it signs itself.
    func issued(
        for key: SampleKey,
        by issuer: (certificate: [UInt8], key: SampleKey)?
    ) throws(SampleError) -> [UInt8] {
        guard let certificate = X509_new() else { throw OpenSSL.failure("make a certificate") }
        defer { X509_free(certificate) }
        try key.withKey { (own) throws(SampleError) in
            guard X509_set_version(certificate, 2) == 1,
                ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), .random(in: 1 << 62...UInt64(Int64.max)))
                    == 1,
                ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(notBefore)) != nil,
                ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(notAfter)) != nil,
                X509_set_pubkey(certificate, own) == 1
            else { throw OpenSSL.failure("fill a certificate") }
            let name = X509_get_subject_name(certificate)
            for (attribute, value) in subject {
                let bytes = Array(value.utf8)
                guard
                    X509_NAME_add_entry_by_txt(name, attribute, MBSTRING_FLAG, bytes, Int32(bytes.count), -1, 0) == 1
                else { throw OpenSSL.failure("write \(attribute)=\(value) into a certificate") }
            }
            guard let issuer else {
                return try sign(certificate, as: certificate, with: own)
            }
            try OpenSSL.withCertificate(issuer.certificate) { (above) throws(SampleError) in
                try issuer.key.withKey { (key) throws(SampleError) in try sign(certificate, as: above, with: key) }
            }
        }
        return try OpenSSL.output("encode a certificate") { i2d_X509_bio($0, certificate) }
    }

    private func sign(
        _ certificate: OpaquePointer,
        as issuer: OpaquePointer,
        with key: OpaquePointer
    ) throws(SampleError) {
        guard X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 else {
            throw OpenSSL.failure("name an issuer")
        }
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        let identifiers = [("subjectKeyIdentifier", "hash"), ("authorityKeyIdentifier", "keyid")]
        for (name, value) in extensions + identifiers {
            guard let made = X509V3_EXT_nconf(nil, &context, name, value) else {
                throw OpenSSL.failure("make the extension \(name)")
            }
            defer { X509_EXTENSION_free(made) }
            guard X509_add_ext(certificate, made, -1) == 1 else { throw OpenSSL.failure("add \(name)") }
        }
        guard X509_sign(certificate, key, EVP_sha256()) > 0 else { throw OpenSSL.failure("sign a certificate") }
    }
}
