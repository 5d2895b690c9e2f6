import COpenSSL
import FerryBytes

extension Certificate {
    /// What its key is: `RSA 2048`, `EC P-256`.
    public var keyKind: String {
        withX509 { certificate in
            guard let key = X509_get0_pubkey(certificate) else { return "unknown" }
            return Self.kind(of: key)
        }
    }

    static func kind(of key: OpaquePointer) -> String {
        defer { ERR_clear_error() }
        if EVP_PKEY_is_a(key, "RSA") == 1 { return "RSA \(EVP_PKEY_get_bits(key))" }
        guard EVP_PKEY_is_a(key, "EC") == 1 else {
            return EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown"
        }
        var name = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else { return "EC \(EVP_PKEY_get_bits(key))" }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "EC " + (["prime256v1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521"][text] ?? text)
    }

    /// The digest of the whole certificate, by which people and tools name it.
    public func fingerprint(_ algorithm: HashAlgorithm) -> [UInt8] { algorithm.digest(der) }

    /// Whether it may issue others: by its basicConstraints, or as a root from before there were any.
    public var isAuthority: Bool {
        withX509 { certificate in certificate.map { X509_check_ca($0) > 0 } ?? false }
    }

    /// Whether `seconds` since 1970 lie within its validity.
    public func isValid(at seconds: Int64) -> Bool { notBefore <= seconds && seconds <= notAfter }

    /// The identifier of its key; `nil` where it says none.
    var subjectKeyIdentifier: [UInt8]? {
        withX509 { $0.flatMap { X509_get0_subject_key_id($0) }.map(Self.bytes) }
    }

    /// The identifier of its issuer's key; `nil` where it says none.
    var authorityKeyIdentifier: [UInt8]? {
        withX509 { $0.flatMap { X509_get0_authority_key_id($0) }.map(Self.bytes) }
    }

    private static func bytes(_ string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        guard let data = ASN1_STRING_get0_data(string) else { return [] }
        return Array(UnsafeBufferPointer(start: data, count: Int(ASN1_STRING_length(string))))
    }

    /// The parts of the issuer's name.
    var issuerName: CertificateName {
        withX509 { certificate in
            let name = X509_get_issuer_name(certificate)
            return CertificateName(
                commonName: Self.text(name, NID_commonName),
                organization: Self.text(name, NID_organizationName),
                organizationalUnit: Self.text(name, NID_organizationalUnitName)
            )
        }
    }

    /// The address that is asked by OCSP (RFC 6960) whether it was revoked; `nil` without one.
    public var revocationURL: String? {
        withX509 { certificate in certificate.flatMap { Self.accessAddress($0, NID_ad_OCSP) } }
    }
}
