import COpenSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A root and an intermediate certificate of no worth, with their keys: what issues throw-away identities and signs
/// sample profiles.
///
/// The names are made up; only the shape is that of Apple's: the intermediate has the critical `basicConstraints` of an
/// authority and the extension 1.2.840.113635.100.6.2.1 (NULL), which designated requirements ask for.
package struct ThrowawayAuthority: Sendable {
    /// The root in DER.
    package let rootDER: [UInt8]
    /// The intermediate in DER.
    package let intermediateDER: [UInt8]
    let intermediateKey: SampleKey

    /// Makes keys and certificates, valid from `notBefore` to `notAfter` in seconds since 1970.
    package init(
        name: String = "Ferry Demo",
        keyKind: ThrowawayIdentity.KeyKind = .p256,
        notBefore: Int64,
        notAfter: Int64
    ) throws(SampleError) {
        let rootKey = try SampleKey(keyKind)
        let root = SampleCertificate(
            subject: [("C", "US"), ("O", name), ("CN", name + " Root CA")],
            notBefore: notBefore,
            notAfter: notAfter,
            extensions: [("basicConstraints", "critical,CA:TRUE"), ("keyUsage", "critical,keyCertSign,cRLSign")]
        )
        rootDER = try root.issued(for: rootKey, by: nil)
        intermediateKey = try SampleKey(keyKind)
        let intermediate = SampleCertificate(
            subject: [("C", "US"), ("O", name), ("OU", "G1"), ("CN", name + " Developer Relations CA")],
            notBefore: notBefore,
            notAfter: notAfter,
            extensions: [
                ("basicConstraints", "critical,CA:TRUE,pathlen:0"),
                ("keyUsage", "critical,keyCertSign,cRLSign"),
                ("1.2.840.113635.100.6.2.1", "ASN1:NULL"),
            ]
        )
        intermediateDER = try intermediate.issued(for: intermediateKey, by: (rootDER, rootKey))
    }

    /// Wraps `content` into a CMS message (RFC 5652) that holds it, signed by the intermediate, with both certificates.
    ///
    /// - Parameter time: the signing time, in seconds since 1970.
    package func message(around content: [UInt8], at time: Int64) throws(SampleError) -> [UInt8] {
        let flags = UInt32(CMS_PARTIAL | CMS_BINARY | CMS_NOSMIMECAP)
        guard let message = CMS_sign(nil, nil, nil, nil, flags) else { throw OpenSSL.failure("make a message") }
        defer { CMS_ContentInfo_free(message) }
        let signer = try OpenSSL.withCertificate(intermediateDER) { (certificate) throws(SampleError) in
            try intermediateKey.withKey { (key) throws(SampleError) in
                guard let signer = CMS_add1_signer(message, certificate, key, EVP_sha256(), flags) else {
                    throw OpenSSL.failure("add a signer")
                }
                return signer
            }
        }
        try OpenSSL.withCertificate(rootDER) { (certificate) throws(SampleError) in
            guard CMS_add1_cert(message, certificate) == 1 else { throw OpenSSL.failure("add a certificate") }
        }
        // Without this OpenSSL would take the time of the machine.
        let stamp = ASN1_TIME_set(nil, time_t(time))
        defer { ASN1_STRING_free(stamp) }
        guard let stamp, let text = ASN1_STRING_get0_data(stamp),
            CMS_signed_add1_attr_by_NID(
                signer,
                NID_pkcs9_signingTime,
                ASN1_STRING_type(stamp),
                text,
                ASN1_STRING_length(stamp)
            ) == 1
        else { throw OpenSSL.failure("add the signing time") }
        let bio = OpenSSL.memory(content)
        defer { BIO_free(bio) }
        guard CMS_final(message, bio, nil, UInt32(CMS_BINARY)) == 1 else { throw OpenSSL.failure("sign a message") }
        return try OpenSSL.output("encode a message") { i2d_CMS_bio($0, message) }
    }
}
