import COpenSSL
package import FerryBytes

/// A signing identity of no worth: a key, its certificate, and the authority that issued it.
///
/// It looks like a developer's, so that everything that signs and verifies can be tried; no device trusts it. Each one is
/// new: keys and serial numbers are random.
package struct ThrowawayIdentity: Sendable {
    /// What keys are made of.
    package enum KeyKind: String, Sendable, CaseIterable {
        /// As Apple's certificates have it; making one takes a tenth of a second.
        case rsa2048
        /// Made in no time, for where the kind does not matter.
        case p256
    }

    /// What the certificate is for.
    package enum Purpose: Sendable, CaseIterable {
        /// Extension 1.2.840.113635.100.6.1.2.
        case development
        /// Extension 1.2.840.113635.100.6.1.4.
        case distribution

        var objectIdentifier: String {
            switch self {
            case .development: "1.2.840.113635.100.6.1.2"
            case .distribution: "1.2.840.113635.100.6.1.4"
            }
        }
    }

    /// The team, which is the leaf's `OU` and `UID`.
    package let team: String
    /// The leaf's `CN`.
    package let commonName: String
    /// Who issued it; hand it on for another leaf under the same root.
    package let authority: ThrowawayAuthority
    /// The leaf in DER.
    package let leafDER: [UInt8]
    let key: SampleKey

    /// The intermediate in DER.
    package var intermediateDER: [UInt8] { authority.intermediateDER }
    /// The root in DER.
    package var rootDER: [UInt8] { authority.rootDER }

    /// Makes an identity.
    ///
    /// - Parameter commonName: `nil` for `Apple Development: Ferry Demo (TEAM)` or its like for distribution.
    /// - Parameter notBefore: the start of the leaf's validity, in seconds since 1970.
    /// - Parameter notAfter: its end.
    /// - Parameter authority: `nil` for a new one, of the same key kind, valid from a year before the leaf to ten after.
    package init(
        team: String = "FERRYDEMO1",
        commonName: String? = nil,
        purpose: Purpose = .development,
        keyKind: KeyKind = .p256,
        notBefore: Int64,
        notAfter: Int64,
        authority: ThrowawayAuthority? = nil
    ) throws(SampleError) {
        let year: Int64 = 365 * 86400
        let issuer: ThrowawayAuthority
        if let authority {
            issuer = authority
        } else {
            issuer = try ThrowawayAuthority(
                keyKind: keyKind,
                notBefore: notBefore - year,
                notAfter: notAfter + 10 * year
            )
        }
        let prefix = purpose == .development ? "Apple Development" : "Apple Distribution"
        let name = commonName ?? "\(prefix): Ferry Demo (\(team))"
        let leaf = SampleCertificate(
            subject: [("UID", team), ("CN", name), ("OU", team), ("O", "Ferry Demo"), ("C", "US")],
            notBefore: notBefore,
            notAfter: notAfter,
            extensions: [
                ("basicConstraints", "critical,CA:FALSE"),
                ("keyUsage", "critical,digitalSignature"),
                ("extendedKeyUsage", "critical,codeSigning"),
                (purpose.objectIdentifier, "ASN1:NULL"),
            ]
        )
        self.team = team
        self.commonName = name
        self.authority = issuer
        key = try SampleKey(keyKind)
        leafDER = try leaf.issued(for: key, by: (issuer.intermediateDER, issuer.intermediateKey))
    }

    /// The identity as a PKCS#12 file (RFC 7292).
    ///
    /// - Parameter includesChain: whether intermediate and root are in it too.
    /// - Parameter legacy: RC2-40 for the certificates, 3DES for the key and a SHA-1 MAC, as Keychain Access and
    ///   `openssl pkcs12 -legacy` write; else AES-256 and SHA-256.
    package func p12(password: Secret, includesChain: Bool = true, legacy: Bool = false) throws(SampleError) -> [UInt8]
    {
        OpenSSL.loadProviders
        let others = ferry_sk_X509_new()
        defer { ferry_sk_X509_pop_free(others) }
        if includesChain {
            for der in [intermediateDER, rootDER] {
                try OpenSSL.withCertificate(der) { (certificate) throws(SampleError) in
                    X509_up_ref(certificate)
                    guard ferry_sk_X509_push(others, certificate) > 0 else {
                        X509_free(certificate)
                        throw OpenSSL.failure("gather the chain")
                    }
                }
            }
        }
        return try key.withKey { (key) throws(SampleError) in
            try OpenSSL.withCertificate(leafDER) { (leaf) throws(SampleError) in
                let made = PKCS12_create(
                    password.revealed,
                    commonName,
                    key,
                    leaf,
                    others,
                    legacy ? NID_pbe_WithSHA1And3_Key_TripleDES_CBC : NID_aes_256_cbc,
                    legacy ? NID_pbe_WithSHA1And40BitRC2_CBC : NID_aes_256_cbc,
                    PKCS12_DEFAULT_ITER,
                    // The MAC follows by itself, with the digest that is wanted.
                    -1,
                    0
                )
                guard let made else { throw OpenSSL.failure("make a PKCS#12 file") }
                defer { PKCS12_free(made) }
                let digest = legacy ? EVP_sha1() : EVP_sha256()
                guard PKCS12_set_mac(made, password.revealed, -1, nil, 0, PKCS12_DEFAULT_ITER, digest) == 1 else {
                    throw OpenSSL.failure("protect a PKCS#12 file")
                }
                return try OpenSSL.output("encode a PKCS#12 file") { i2d_PKCS12_bio($0, made) }
            }
        }
    }

    /// The leaf as a PEM block (RFC 7468).
    package var certificatePEM: [UInt8] { PEM.block("CERTIFICATE", leafDER) }
    /// The unencrypted key as a PEM block.
    package var keyPEM: [UInt8] { PEM.block("PRIVATE KEY", key.der) }
    /// The intermediate and the root as PEM blocks.
    package var chainPEM: [UInt8] { PEM.block("CERTIFICATE", intermediateDER) + rootPEM }
    /// The root as a PEM block.
    package var rootPEM: [UInt8] { PEM.block("CERTIFICATE", rootDER) }
}

/// Text around DER (RFC 7468).
enum PEM {
    static func block(_ label: String, _ der: [UInt8]) -> [UInt8] {
        // Four characters for three bytes, and the zero that OpenSSL puts behind them.
        var encoded = [UInt8](repeating: 0, count: (der.count + 2) / 3 * 4 + 1)
        let count = Int(EVP_EncodeBlock(&encoded, der, Int32(der.count)))
        var text = Array("-----BEGIN \(label)-----\n".utf8)
        for start in stride(from: 0, to: count, by: 64) {
            text += encoded[start..<min(start + 64, count)]
            text.append(UInt8(ascii: "\n"))
        }
        return text + Array("-----END \(label)-----\n".utf8)
    }
}
