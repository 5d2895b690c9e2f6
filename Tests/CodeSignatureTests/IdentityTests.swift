import FerryBytes
import FerryMachO
import Foundation
import TestKit
import Testing

@testable import FerryCodeSignature

private func file(_ name: String) throws -> [UInt8] {
    try TestAuthority.shared.get().file(name)
}

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `An identity in a PKCS#12 file` {
    @Test(arguments: [
        ("leaf.p12", TestAuthority.password), ("rsa.p12", TestAuthority.password),
        ("legacy.p12", TestAuthority.password), ("empty.p12", ""), ("unicode.p12", "pässwörd €"),
    ])
    func `is opened, with its chain up to the root`(name: String, password: String) throws {
        let identity = try Identity(pkcs12: file(name), password: Secret(password))
        #expect(identity.team == TestAuthority.team)
        #expect(identity.chain.map(\.commonName) == ["Test Developer Relations CA", "Test Root CA"])
        #expect(identity.chain.first?.hasExtension("1.2.840.113635.100.6.2.1") == true)
        #expect(identity.leaf.isIssued(by: identity.chain[0]))
        #expect(!identity.leaf.isIssued(by: identity.chain[1]))
        // It can sign.
        _ = try identity.messageRoom(for: [.sha256])
    }

    @Test(arguments: ["", "geheim ", "Geheim"])
    func `stays shut under another password`(password: String) throws {
        for name in ["leaf.p12", "legacy.p12"] {
            let error = #expect(throws: CodeSignatureError.self) {
                try Identity(pkcs12: file(name), password: Secret(password))
            }
            #expect(error?.code == .wrongPassword)
            #expect(error?.message == "the password does not open the PKCS#12 file.")
        }
    }

    @Test func `without its chain names the issuer that is missing, and where it is to be had`() throws {
        let error = #expect(throws: CodeSignatureError.self) {
            try Identity(pkcs12: file("nochain.p12"), password: Secret(TestAuthority.password))
        }
        #expect(error?.code == .chainIncomplete)
        #expect(error?.message.contains("Test Developer Relations CA") == true)
        #expect(error?.message.contains("leaf Ünal") == true)
        #expect(error?.remedy?.contains("http://certs.example/wwdr.cer") == true)
        let whole = try Identity(
            pkcs12: file("nochain.p12"),
            password: Secret(TestAuthority.password),
            extra: Certificate.all(inPEM: file("all.pem"))
        )
        #expect(whole.chain.count == 2)
    }

    @Test(arguments: [
        ("nokey.p12", "holds no private key"), ("leaf.pem", "no PKCS#12 file"), ("leaf.key", "no PKCS#12 file"),
        ("nomac.p12", "no check of its password"),
    ])
    func `that is something else is refused in so many words`(name: String, words: String) throws {
        let error = #expect(throws: CodeSignatureError.self) {
            try Identity(pkcs12: file(name), password: Secret(TestAuthority.password))
        }
        #expect(error?.code == .identity)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(error?.remedy != nil)
    }

    @Test func `that is cut or changed is an error, never a trap`() throws {
        let whole = try file("legacy.p12")
        for length in stride(from: 0, to: whole.count, by: 41) {
            let error = #expect(throws: CodeSignatureError.self) {
                try Identity(pkcs12: Array(whole[..<length]), password: Secret(TestAuthority.password))
            }
            #expect(error?.code == .identity)
        }
        // The key derivation is made thousands of times for each; the structure around it is what matters.
        for index in [0, 1, 4, 8, 12, 20, 30, 40, 60, whole.count - 1] {
            var changed = whole
            changed[index] ^= 0xFF
            #expect(throws: CodeSignatureError.self) {
                try Identity(pkcs12: changed, password: Secret(TestAuthority.password))
            }
        }
    }

    @Test(
        .enabled(if: SharedFolder.exists, "\(SharedFolder.absent)"),
        arguments: [
            ("apple-codesign-rsa-apple-development.p12", "password"), ("apple-codesign-testuser.p12", "password123"),
        ]
    )
    func `that others made is opened, and signs`(name: String, password: String) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: SharedFolder.corpus(name)))
        let identity = try Identity(pkcs12: Array(bytes), password: Secret(password))
        #expect(identity.chain.isEmpty)
        #expect(identity.leaf.isSelfIssued)
        let signed = try SignedImage(by: identity)
        #expect(try signed.faultCodes == [])
    }
}

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `An identity in PEM files` {
    @Test(
        arguments: [
            ("leaf.pem", "leaf.key", nil), ("all.pem", "leaf.key", nil),
            ("all.pem", "encrypted.key", TestAuthority.password),
            ("rsa.pem", "rsa.key", nil), ("leaf.pem", "leaf.key", "needless"),
        ] as [(String, String, String?)]
    )
    func `is the certificate that fits the key`(certificate: String, key: String, password: String?) throws {
        let identity = try Identity(
            pemCertificates: file(certificate),
            pemKey: file(key),
            password: password.map { Secret($0) },
            extra: Certificate.all(inPEM: file("all.pem"))
        )
        #expect(identity.leaf.commonName?.contains(key.hasPrefix("rsa") ? "rsa" : "leaf") == true)
        #expect(identity.chain.count == 2)
    }

    @Test(
        arguments: [
            ("leaf.pem", "stranger.key", nil, CodeSignatureError.Code.identity, "none of the 1 certificates"),
            ("all.pem", "encrypted.key", "wrong", .wrongPassword, "does not open the private key"),
            ("all.pem", "encrypted.key", nil, .wrongPassword, "does not open the private key"),
            ("all.pem", "leaf.pem", nil, .identity, "the private key cannot be read"),
            ("leaf.key", "leaf.key", nil, .identity, "no certificate in the file"),
            ("leaf.pem", "leaf.key", nil, .chainIncomplete, "Test Developer Relations CA"),
        ] as [(String, String, String?, CodeSignatureError.Code, String)]
    )
    func `is refused with the reason`(
        certificate: String,
        key: String,
        password: String?,
        code: CodeSignatureError.Code,
        words: String
    ) throws {
        let error = #expect(throws: CodeSignatureError.self) {
            try Identity(pemCertificates: file(certificate), pemKey: file(key), password: password.map { Secret($0) })
        }
        #expect(error?.code == code)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(error?.remedy != nil)
    }

    @Test func `may have its certificate in DER`() throws {
        let openssl = try #require(Tool("openssl"))
        let der = try openssl.run(["x509", "-outform", "DER"], input: try file("leaf.pem")).output
        #expect(try Certificate.all(inPEM: der) == Certificate.all(inPEM: file("leaf.pem")))
        #expect(throws: CodeSignatureError.self) { try Certificate.all(inPEM: Array(der.dropLast())) }
    }
}

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `A certificate` {
    /// `openssl x509 -noout -serial -startdate -enddate -subject` reads the same.
    @Test(arguments: ["leaf.pem", "root.pem", "inter.pem"])
    func `says what openssl says`(name: String) throws {
        let certificate = try #require(try Certificate.all(inPEM: file(name)).first)
        let shown = try #require(Tool("openssl")).run(
            [
                "x509", "-noout", "-serial", "-dates", "-dateopt", "iso_8601", "-subject", "-nameopt",
                "oneline,utf8,-esc_msb",
            ],
            input: try file(name)
        ).text
        var fields: [String: String] = [:]
        for line in shown.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            fields[parts[0]] = parts[1]
        }
        #expect(certificate.serialNumber.hex.uppercased() == fields["serial"])
        #expect(certificate.subject == fields["subject"])
        func seconds(_ text: String?) throws -> Int64 {
            let text = try #require(text).replacing(" ", with: "T")
            return Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970)
        }
        #expect(certificate.notBefore == (try seconds(fields["notBefore"])))
        #expect(certificate.notAfter == (try seconds(fields["notAfter"])))
        #expect(certificate.isSelfIssued == (name == "root.pem"))
        #expect(certificate.issuerURL == (name == "leaf.pem" ? "http://certs.example/wwdr.cer" : nil))
    }

    @Test func `that is cut or changed is an error or another one, never a trap`() throws {
        let der = try #require(try Certificate.all(inPEM: file("leaf.pem")).first).der
        for length in 0..<der.count {
            #expect(throws: CodeSignatureError.self) { try Certificate(der: Array(der[..<length])) }
        }
        for index in der.indices {
            var changed = der
            changed[index] ^= 0x41
            _ = try? Certificate(der: changed)
        }
    }
}
