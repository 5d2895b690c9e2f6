import COpenSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Keys of no worth: the server's certificate, and the key that its clients sign provider tokens with.
package struct StandInCredentials: Sendable {
    /// The key id that the server knows.
    package static let keyID = "ABC123DEFG"
    /// The team that the server knows.
    package static let teamID = "TEAM123456"
    /// The app that the server knows.
    package static let bundleID = "app.example.installer"

    /// The server's certificate in PEM, which signs itself: trust it to connect.
    package let certificate: [UInt8]
    /// The provider key as Apple hands it out: PKCS#8 in PEM.
    package let providerKey: [UInt8]
    /// The server's key in PEM.
    let serverKey: [UInt8]
    /// The public half of the provider key, in DER.
    let providerPublicKey: [UInt8]

    /// Makes new ones.
    ///
    /// - Parameter names: what the certificate is for, as OpenSSL's configuration writes it.
    package init(names: String = "DNS:localhost,IP:127.0.0.1") throws {
        let key = try OpenSSL.newKey()
        defer { EVP_PKEY_free(key) }
        let provider = try OpenSSL.newKey()
        defer { EVP_PKEY_free(provider) }
        serverKey = try OpenSSL.output("write a key") { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
        providerKey = try OpenSSL.output("write a key") {
            PEM_write_bio_PKCS8PrivateKey($0, provider, nil, nil, 0, nil, nil)
        }
        providerPublicKey = try OpenSSL.output("write a key") { i2d_PUBKEY_bio($0, provider) }
        certificate = try Self.certificate(for: key, names)
    }

    private static func certificate(for key: OpaquePointer, _ names: String) throws -> [UInt8] {
        guard let certificate = X509_new() else { throw StandInFailure("make a certificate") }
        defer { X509_free(certificate) }
        let name = X509_get_subject_name(certificate)
        let now = time(nil)
        let title = Array("Stand-in for APNs".utf8)
        guard X509_set_version(certificate, 2) == 1,
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), .random(in: 1...UInt64(Int64.max))) == 1,
            ASN1_TIME_set(X509_getm_notBefore(certificate), now - 3600) != nil,
            ASN1_TIME_set(X509_getm_notAfter(certificate), now + 30 * 86_400) != nil,
            X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_FLAG, title, Int32(title.count), -1, 0) == 1,
            X509_set_issuer_name(certificate, name) == 1, X509_set_pubkey(certificate, key) == 1
        else { throw StandInFailure("fill a certificate") }
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, certificate, certificate, nil, nil, 0)
        for (name, value) in [("basicConstraints", "critical,CA:TRUE"), ("subjectAltName", names)] {
            guard let made = X509V3_EXT_nconf(nil, &context, name, value) else { throw StandInFailure("make \(name)") }
            defer { X509_EXTENSION_free(made) }
            guard X509_add_ext(certificate, made, -1) == 1 else { throw StandInFailure("add \(name)") }
        }
        guard X509_sign(certificate, key, EVP_sha256()) > 0 else { throw StandInFailure("sign a certificate") }
        return try OpenSSL.output("write a certificate") { PEM_write_bio_X509($0, certificate) }
    }
}
