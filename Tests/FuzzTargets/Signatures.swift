import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryPropertyList

extension FuzzTarget {
    /// Code signatures, and what signs.
    static let signatures = [
        FuzzTarget("signature", superBlob),
        FuzzTarget("image", maximumBytes: 32768, image),
        FuzzTarget("message", message),
        FuzzTarget("entitlements", entitlements),
        FuzzTarget("seal", seal),
        FuzzTarget("key-pair", keyPair),
        FuzzTarget("certificate", certificate),
        FuzzTarget("revocation", revocation),
    ]

    @Sendable private static func superBlob(_ bytes: [UInt8]) throws {
        if let blob = try? SuperBlob(parsing: bytes[...]) {
            try expect(blob.blobs.count <= SuperBlob.blobLimit, "there are no more blobs than the limit")
            guard let again = try? SuperBlob(parsing: blob.encoded()[...]) else {
                throw FuzzFinding(description: "A signature that was written cannot be read.")
            }
            try expect(again == blob, "a signature that was written is read as it was")
            for part in blob.blobs { try codeDirectory(part.bytes) }
        }
        try codeDirectory(bytes)
    }

    private static func codeDirectory(_ bytes: [UInt8]) throws {
        guard let directory = try? CodeDirectory(parsing: bytes) else { return }
        for slot in CodeDirectory.SpecialSlot.allCases { _ = directory.special(slot) }
        // What is written has the fields of version 2.4, whichever it says.
        guard directory.version >= 0x20400 else { return }
        guard let again = try? CodeDirectory(parsing: directory.encoded()) else {
            throw FuzzFinding(description: "A code directory that was written cannot be read.")
        }
        try expect(again == directory, "a code directory that was written is read as it was")
    }

    @Sendable private static func image(_ bytes: [UInt8]) throws {
        guard let file = try? MachOFile(bytes) else { return }
        let digests = Digests(of: [1])
        for slice in file.slices {
            _ = DigestPolicy.wantsSHA1(slice.image)
            guard let part = try? ByteReader(bytes[...]).bytes(at: slice.offset, count: slice.image.count) else {
                throw FuzzFinding(description: "A slice lies outside of its file.")
            }
            for context in [
                ImageVerifier.Context(place: "a"),
                ImageVerifier.Context(place: "a", infoPlist: digests, resources: digests, identifier: "com.test.app"),
            ] {
                let report = ImageVerifier.verify(slice.image, in: part, context: context)
                if let entitlements = report.entitlements { try expectRoundTrip(.dictionary(entitlements)) }
            }
        }
    }

    @Sendable private static func message(_ bytes: [UInt8]) throws {
        if let verified = try? SignatureMessage.verify(bytes[...], over: [1, 2, 3]) { _ = verified.hasWholeChain }
    }

    @Sendable private static func entitlements(_ bytes: [UInt8]) throws {
        guard let entitlements = try? EntitlementsDER.decoded(bytes[...]) else { return }
        guard let written = try? EntitlementsDER.encoded(entitlements) else {
            throw FuzzFinding(description: "Entitlements that were read cannot be written.")
        }
        guard let again = try? EntitlementsDER.decoded(written[...]) else {
            throw FuzzFinding(description: "Entitlements that were written cannot be read.")
        }
        try expect(again == entitlements, "entitlements that were written are read as they were")
    }

    @Sendable private static func seal(_ bytes: [UInt8]) throws {
        guard let seal = try? ResourceSeal(parsing: bytes) else { return }
        let file = ResourceSeal.Content.file(Digests(of: [1]))
        let paths = ["Info.plist", "a.png", "en.lproj/a.strings", "Frameworks/b.dylib", "_CodeSignature/CodeResources"]
        var contents: [(path: String, content: ResourceSeal.Content)] = paths.map { ($0, file) }
        contents.append(("link", .link(target: "a.png")))
        _ = SealVerifier.verify(seal, contents: contents, bundle: "Payload/A.app")
    }

    @Sendable private static func keyPair(_ bytes: [UInt8]) throws {
        for password in ["", "test"] {
            _ = try? KeyPair(pkcs12: bytes, password: Secret(password))
            _ = try? KeyPair(pemCertificates: bytes, pemKey: bytes, password: Secret(password))
        }
        _ = (PEMText.isIn(bytes), PEMText.isEncrypted(bytes), PEMText.holdsKey(bytes))
        _ = try? TokenURI(String(decoding: bytes, as: UTF8.self))
    }

    @Sendable private static func certificate(_ bytes: [UInt8]) throws {
        var found = (try? Certificate.all(inPEM: bytes)) ?? []
        if let certificate = try? Certificate(der: bytes) { found.append(certificate) }
        for certificate in found {
            _ = (certificate.subject, certificate.commonName, certificate.isSelfIssued, certificate.notAfter)
            _ = certificate.hasExtension("1.2.840.113635.100.6.2.1")
            _ = CertificateChain(of: certificate, from: found)
            _ = (certificate.keyKind, certificate.isAuthority, certificate.revocationURL)
        }
    }

    @Sendable private static func revocation(_ bytes: [UInt8]) throws {
        _ = try? question.get().status(in: bytes, at: 1_796_000_000)
    }

    /// A question to which the bytes are taken for the answer.
    private static let question = Result {
        let certificates = try Certificate.all(inPEM: Array(pem.utf8))
        return try RevocationQuestion(about: certificates[0], issuedBy: certificates[1])
    }

    /// A leaf and the root that issued it, made for this by `openssl req` and `openssl x509`; their keys are gone.
    private static let pem = """
        -----BEGIN CERTIFICATE-----
        MIIBYTCCAQcCAhI0MAoGCCqGSM49BAMCMDwxCzAJBgNVBAYTAlVTMRMwEQYDVQQK
        DApGZXJyeSBUZXN0MRgwFgYDVQQDDA9GZXJyeSBUZXN0IFJvb3QwHhcNMjYxMTMw
        MDkyNzIxWhcNNDYwMTI5MDkyNzIxWjA8MQswCQYDVQQGEwJVUzETMBEGA1UECgwK
        RmVycnkgVGVzdDEYMBYGA1UEAwwPRmVycnkgVGVzdCBMZWFmMFkwEwYHKoZIzj0C
        AQYIKoZIzj0DAQcDQgAEeSEi3L1+gD/7VblkPN1toXdjSx6P1bnwZZdrbERTfglR
        XglNI4uWIhBHSjs3W2gz+q26mrZrF7cCzJQZATQz9DAKBggqhkjOPQQDAgNIADBF
        AiAvWDHxZ+fVPLihE8v0Ypd+kAeaRfdSLvy2JiXBH0Sh9AIhAJSzLV4cTDTME2mW
        Rs436J3bqOeT2lOavww536uDjtlP
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIBzjCCAXOgAwIBAgIUOxYchUJh6z9QA3RnN+Br38spiw0wCgYIKoZIzj0EAwIw
        PDELMAkGA1UEBhMCVVMxEzARBgNVBAoMCkZlcnJ5IFRlc3QxGDAWBgNVBAMMD0Zl
        cnJ5IFRlc3QgUm9vdDAeFw0yNjExMzAwOTI3MjFaFw00NjExMjUwOTI3MjFaMDwx
        CzAJBgNVBAYTAlVTMRMwEQYDVQQKDApGZXJyeSBUZXN0MRgwFgYDVQQDDA9GZXJy
        eSBUZXN0IFJvb3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQm1LQV/+81lm6U
        In9oH9qbM72RjsV7cJo5jXb/buItGMFjvy74xm1Mfw9iWGQT2K3J7gaCM6WxOJju
        Jo124o8jo1MwUTAdBgNVHQ4EFgQU4KbKHALRtmeKA4/VK8pDfsLfcGUwHwYDVR0j
        BBgwFoAU4KbKHALRtmeKA4/VK8pDfsLfcGUwDwYDVR0TAQH/BAUwAwEB/zAKBggq
        hkjOPQQDAgNJADBGAiEA5Q+KlCCTyutIP5bKEkYn0d7XOkmPCuBdIdDmImwj82AC
        IQCgOPD9LgUsSIsjdFBGUy2sC7PpidwapFVJcAROZW60GQ==
        -----END CERTIFICATE-----
        """
}
