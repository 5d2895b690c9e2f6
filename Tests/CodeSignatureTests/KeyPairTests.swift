import COpenSSL
import FerryBytes
import TestKit
import Testing

@testable import FerryCodeSignature

private let password = TestAuthority.password

private func file(_ name: String) throws -> [UInt8] {
    try TestAuthority.shared.get().file(name)
}

/// `openssl` on files of the authority.
private func openssl(_ arguments: [String]) throws -> [UInt8] {
    let result = try #require(Tool("openssl")).run(arguments, in: try TestAuthority.shared.get().folder.path)
    try #require(result.status == 0, "\(result.errors)")
    return result.output
}

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `A private key in a file` {
    /// How `openssl` writes it, whose key it is, and whether it wants a password.
    @Test(
        arguments: [
            (["pkcs8", "-topk8", "-nocrypt", "-in", "rsa.key"], "rsa", false),
            (["rsa", "-traditional", "-in", "rsa.key"], "rsa", false),
            (["rsa", "-traditional", "-aes128", "-passout", "pass:" + password, "-in", "rsa.key"], "rsa", true),
            (["pkcs8", "-topk8", "-v2", "aes256", "-passout", "pass:" + password, "-in", "rsa.key"], "rsa", true),
            (["pkcs8", "-topk8", "-scrypt", "-passout", "pass:" + password, "-in", "leaf.key"], "leaf", true),
            (
                ["pkcs8", "-topk8", "-v1", "PBE-SHA1-RC2-40", "-passout", "pass:" + password, "-in", "leaf.key"],
                "leaf", true
            ),
            (["ec", "-in", "leaf.key"], "leaf", false),
            (["ec", "-aes256", "-passout", "pass:" + password, "-in", "leaf.key"], "leaf", true),
            (["pkcs8", "-topk8", "-nocrypt", "-outform", "DER", "-in", "leaf.key"], "leaf", false),
        ] as [([String], String, Bool)]
    )
    func `is read in every form that openssl writes`(form: [String], name: String, isEncrypted: Bool) throws {
        let key = try openssl(form + (form.contains("-v1") ? ["-provider", "legacy", "-provider", "default"] : []))
        #expect(PEMText.isEncrypted(key) == isEncrypted)
        let certificate = try file(name + ".pem")
        let pair = try KeyPair(
            pemCertificates: certificate,
            pemKey: key,
            password: isEncrypted ? Secret(password) : nil
        )
        #expect(pair.leaf.commonName?.contains(name) == true)
        #expect(!pair.isInToken)
        if isEncrypted {
            for wrong in [Secret("wrong"), nil] {
                let error = #expect(throws: CodeSignatureError.self) {
                    try KeyPair(pemCertificates: certificate, pemKey: key, password: wrong)
                }
                #expect(error?.code == .wrongPassword)
            }
        }
    }

    @Test func `may have parameters before it, and Windows line ends`() throws {
        let parameters = try openssl(["ecparam", "-name", "prime256v1"])
        let both = String(decoding: parameters + (try file("leaf.key")), as: UTF8.self)
        for text in [both, both.replacing("\n", with: "\r\n"), "\u{FEFF}" + both] {
            let pair = try KeyPair(pemCertificates: file("leaf.pem"), pemKey: Array(text.utf8), password: nil)
            #expect(pair.leaf.keyKind == "EC P-256")
        }
    }

    @Test func `may be in one file with its certificate and the chain, in any order`() throws {
        let (key, all) = (try file("leaf.key"), try file("all.pem"))
        for whole in [key + all, all + key, try file("chain.pem") + key + (try file("leaf.pem"))] {
            #expect(PEMText.holdsKey(whole))
            let identity = try Identity(KeyPair(pemCertificates: whole, pemKey: whole, password: nil))
            #expect(identity.chain.map(\.commonName) == ["Test Developer Relations CA", "Test Root CA"])
            let signed = try SignedImage(by: identity)
            #expect(try signed.faultCodes == [])
        }
    }

    @Test func `that is not the certificate's is refused`() throws {
        for (certificate, key) in [("leaf", "stranger"), ("rsa", "leaf"), ("leaf", "rsa")] {
            let error = #expect(throws: CodeSignatureError.self) {
                try KeyPair(pemCertificates: file(certificate + ".pem"), pemKey: file(key + ".key"), password: nil)
            }
            #expect(error?.message == "none of the 1 certificates belongs to the private key.")
        }
    }

    @Test func `that cannot sign apps is refused`() throws {
        let workshop = try Workshop()
        try workshop.run(["genpkey", "-algorithm", "ED25519", "-out", "ed.key"])
        try workshop.run(["req", "-x509", "-new", "-key", "ed.key", "-subj", "/CN=Ed", "-out", "ed.pem"])
        let error = #expect(throws: CodeSignatureError.self) {
            try KeyPair(pemCertificates: workshop.file("ed.pem"), pemKey: workshop.file("ed.key"), password: nil)
        }
        #expect(error?.message.contains("neither RSA nor") == true)
    }
}

/// Debian 12 has no provider for tokens; that of files is asked the same way, and for a password too.
@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `What a provider of OpenSSL keeps` {
    private func found(_ name: String, _ pin: String?, _ type: Int32) throws -> Bool {
        let uri = "file:" + (try TestAuthority.shared.get().folder.path(name))
        let found = Token.first(in: uri, pin.map { Secret($0) }) { info in
            guard OSSL_STORE_INFO_get_type(info) == type else { return nil }
            return type == OSSL_STORE_INFO_PKEY ? OSSL_STORE_INFO_get1_PKEY(info) : OSSL_STORE_INFO_get1_CERT(info)
        }
        ERR_clear_error()
        if type == OSSL_STORE_INFO_PKEY { EVP_PKEY_free(found) } else { X509_free(found) }
        return found != nil
    }

    @Test func `is found by its type, and opened by its PIN`() throws {
        #expect(try found("encrypted.key", password, OSSL_STORE_INFO_PKEY))
        #expect(try !found("encrypted.key", "wrong", OSSL_STORE_INFO_PKEY))
        #expect(try !found("encrypted.key", nil, OSSL_STORE_INFO_PKEY))
        #expect(try found("leaf.p12", password, OSSL_STORE_INFO_PKEY))
        #expect(try found("leaf.p12", password, OSSL_STORE_INFO_CERT))
        #expect(try found("all.pem", nil, OSSL_STORE_INFO_CERT))
        #expect(try !found("all.pem", nil, OSSL_STORE_INFO_PKEY))
        #expect(try !found("missing", nil, OSSL_STORE_INFO_PKEY))
    }
}

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `The encryption of a PKCS#12 file` {
    /// `openssl pkcs12 -info -noout` names the same: pbeWithSHA1And40BitRC2-CBC, pbeWithSHA1And3-KeyTripleDES-CBC, PBES2
    /// with AES-256-CBC.
    @Test(
        arguments: [
            (["-legacy"], "3DES", "RC2-40", "SHA1", 2),
            ([], "AES-256-CBC", "AES-256-CBC", "SHA256", 0),
            (["-descert", "-legacy"], "3DES", "3DES", "SHA1", 1),
            (["-keypbe", "NONE", "-certpbe", "AES-128-CBC"], nil, "AES-128-CBC", "SHA256", 1),
            (["-keypbe", "aes-192-cbc", "-certpbe", "NONE", "-macalg", "sha384"], "AES-192-CBC", nil, "SHA384", 0),
        ] as [([String], String?, String?, String, Int)]
    )
    func `is named, and its weakness told`(
        options: [String],
        key: String?,
        certificates: String?,
        digest: String,
        warnings: Int
    ) throws {
        let bytes = try openssl(
            ["pkcs12", "-export", "-inkey", "leaf.key", "-in", "leaf.pem", "-passout", "pass:" + password] + options
        )
        let pair = try KeyPair(pkcs12: bytes, password: Secret(password))
        let protection = try #require(pair.protection)
        #expect(protection.key == key)
        #expect(protection.certificates == certificates)
        #expect(protection.digest == digest)
        #expect(protection.warnings.count == warnings, "\(protection.warnings)")
    }
}

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `The facts of a certificate` {
    @Test(arguments: [("leaf.pem", "EC P-256"), ("rsa.pem", "RSA 2048"), ("root.pem", "EC P-256")])
    func `are those that openssl tells`(name: String, kind: String) throws {
        let certificate = try #require(try Certificate.all(inPEM: file(name)).first)
        for (algorithm, option) in [(HashAlgorithm.sha1, "-sha1"), (.sha256, "-sha256")] {
            let shown = String(
                decoding: try openssl(["x509", "-in", name, "-noout", "-fingerprint", option]),
                as: UTF8.self
            )
            let digits = shown.split(separator: "=").last.map { $0.filter(\.isHexDigit).lowercased() }
            #expect(certificate.fingerprint(algorithm).hex == digits)
        }
        #expect(certificate.keyKind == kind)
        #expect(certificate.isAuthority == (name == "root.pem"))
        #expect(certificate.isValid(at: certificate.notBefore))
        #expect(certificate.isValid(at: certificate.notAfter))
        #expect(!certificate.isValid(at: certificate.notAfter + 1))
        #expect(!certificate.isValid(at: certificate.notBefore - 1))
    }

    @Test(
        arguments: [
            ("Apple Development: A", [2, 12], CertificateKind.development, "Apple Development"),
            ("iPhone Developer: A", [2], .development, "iPhone Developer"),
            ("Apple Distribution: A", [4, 7], .distribution, "Apple Distribution"),
            ("iPhone Distribution: A", [4], .distribution, "iPhone Distribution"),
            ("Somebody", [4], .distribution, "Apple Distribution"),
            ("Developer ID Application: A", [13], .developerID, "Developer ID Application"),
            ("Mac Developer: A", [12], .macDevelopment, "Mac Developer"),
            ("Apple Development: A", [], nil, "Apple Development"),
            ("Somebody", [], nil, nil),
        ] as [(String, [Int], CertificateKind?, String?)]
    )
    func `say its kind by Apple's marks and its name`(
        name: String,
        marks: [Int],
        kind: CertificateKind?,
        called: String?
    ) throws {
        let workshop = try Workshop()
        let address = "authorityInfoAccess=OCSP;URI:http://ocsp.example/x,caIssuers;URI:http://ca.example/y"
        try workshop.issue(
            "leaf",
            "/CN=" + name,
            extensions: marks.map { "1.2.840.113635.100.6.1.\($0)=ASN1:NULL" } + [address]
        )
        let certificate = try Certificate(der: workshop.file("leaf.der"))
        #expect(certificate.kind == kind)
        #expect(certificate.kindName == called)
        let shown = String(
            decoding: try workshop.run(["x509", "-in", "leaf.pem", "-noout", "-ocsp_uri"]),
            as: UTF8.self
        )
        #expect(certificate.revocationURL.map { $0 + "\n" } == shown)
        #expect(certificate.issuerURL == "http://ca.example/y")
    }
}
