import FerryBytes
import FerrySample
import Foundation
import TestKit
import Testing

/// 2026-06-01, 2026-01-01 and 2027-01-01 in seconds since 1970 (`date -u -d 2026-06-01 +%s`).
let june2026: Int64 = 1_780_272_000
let january2026: Int64 = 1_767_225_600
let january2027: Int64 = 1_798_761_600

let openssl = Tool("openssl")

@Suite(.enabled(if: openssl != nil, "openssl is not installed"))
struct `A throw-away identity` {
    private func make(
        _ keyKind: ThrowawayIdentity.KeyKind = .p256,
        _ purpose: ThrowawayIdentity.Purpose = .development,
        authority: ThrowawayAuthority? = nil
    ) throws -> ThrowawayIdentity {
        try ThrowawayIdentity(
            team: "PIERTEAM01",
            purpose: purpose,
            keyKind: keyKind,
            notBefore: january2026,
            notAfter: january2027,
            authority: authority
        )
    }

    private func verify(_ identity: ThrowawayIdentity, root: [UInt8], at time: Int64) throws -> Tool.Result {
        let folder = try TemporaryFolder()
        let arguments = [
            "verify", "-x509_strict", "-purpose", "any", "-attime", "\(time)",
            "-CAfile", try folder.write(root, to: "root.pem"),
            "-untrusted", try folder.write(identity.chainPEM, to: "chain.pem"),
            try folder.write(identity.certificatePEM, to: "leaf.pem"),
        ]
        return try #require(openssl).run(arguments)
    }

    @Test(arguments: ThrowawayIdentity.KeyKind.allCases)
    func `holds a chain that openssl trusts by its root`(keyKind: ThrowawayIdentity.KeyKind) throws {
        let identity = try make(keyKind)
        let result = try verify(identity, root: identity.rootPEM, at: june2026)
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test(arguments: [(january2026 - 1, "not yet valid"), (january2027 + 1, "has expired")])
    func `is valid only within its dates`(time: Int64, words: String) throws {
        let identity = try make()
        let result = try verify(identity, root: identity.rootPEM, at: time)
        #expect(result.status != 0)
        #expect(result.errors.contains(words))
        // The leaf alone is out of date, not what issued it.
        #expect(result.errors.contains("error 10 at 0 depth") || result.errors.contains("error 9 at 0 depth"))
    }

    @Test func `is a stranger under another root, and a sibling under the same`() throws {
        let one = try make()
        let sibling = try make(authority: one.authority)
        let foreign = try make()
        #expect(try verify(sibling, root: one.rootPEM, at: june2026).status == 0)
        #expect(try verify(foreign, root: one.rootPEM, at: june2026).status != 0)
        #expect(sibling.leafDER != one.leafDER)
    }

    @Test(
        arguments: [
            (.development, "CN = Apple Development: Ferry Demo (PIERTEAM01)", "1.2.840.113635.100.6.1.2:"),
            (.distribution, "CN = Apple Distribution: Ferry Demo (PIERTEAM01)", "1.2.840.113635.100.6.1.4:"),
        ] as [(ThrowawayIdentity.Purpose, String, String)]
    )
    func `is shaped like Apple's`(purpose: ThrowawayIdentity.Purpose, name: String, mark: String) throws {
        let identity = try make(.p256, purpose)
        let show = ["x509", "-inform", "DER", "-noout", "-text"]
        let leaf = try #require(openssl).run(show, input: identity.leafDER).text
        for words in [name, mark, "OU = PIERTEAM01", "UID = PIERTEAM01", "Code Signing", "CA:FALSE"] {
            #expect(leaf.contains(words))
        }
        let intermediate = try #require(openssl).run(show, input: identity.intermediateDER).text
        for words in ["1.2.840.113635.100.6.2.1:", "X509v3 Basic Constraints: critical", "CA:TRUE, pathlen:0"] {
            #expect(intermediate.contains(words))
        }
    }

    @Test(arguments: ThrowawayIdentity.KeyKind.allCases, [false, true])
    func `opens with its password, in both kinds of PKCS#12`(
        keyKind: ThrowawayIdentity.KeyKind,
        legacy: Bool
    ) throws {
        let identity = try make(keyKind)
        let folder = try TemporaryFolder()
        for includesChain in [true, false] {
            let bytes = try identity.p12(password: Secret("pässword"), includesChain: includesChain, legacy: legacy)
            let file = try folder.write(bytes, to: "id.p12")
            let arguments = ["pkcs12", "-info", "-nodes", "-in", file] + (legacy ? ["-legacy"] : [])
            let opened = try #require(openssl).run(arguments + ["-passin", "pass:pässword"])
            #expect(opened.status == 0, "\(opened.errors)")
            #expect(opened.text.components(separatedBy: "BEGIN CERTIFICATE").count - 1 == (includesChain ? 3 : 1))
            #expect(opened.text.contains("BEGIN PRIVATE KEY"))
            #expect(opened.errors.contains(legacy ? "pbeWithSHA1And40BitRC2-CBC" : "AES-256-CBC"))
            #expect(opened.errors.contains(legacy ? "MAC: sha1" : "MAC: sha256"))
            #expect(opened.errors.contains("pbeWithSHA1And3-KeyTripleDES-CBC") == legacy)
            let refused = try #require(openssl).run(arguments + ["-passin", "pass:password"])
            #expect(refused.status != 0)
        }
    }

    @Test(arguments: ThrowawayIdentity.KeyKind.allCases)
    func `gives the key that its certificate is for`(keyKind: ThrowawayIdentity.KeyKind) throws {
        let identity = try make(keyKind)
        let ofKey = try #require(openssl).run(["pkey", "-pubout"], input: identity.keyPEM)
        let ofLeaf = try #require(openssl).run(["x509", "-noout", "-pubkey"], input: identity.certificatePEM)
        #expect(ofKey.status == 0)
        #expect(ofKey.text == ofLeaf.text)
        let kind = try #require(openssl).run(["pkey", "-noout", "-text"], input: identity.keyPEM).text
        #expect(kind.contains(keyKind == .p256 ? "NIST CURVE: P-256" : "(2048 bit"))
    }
}
