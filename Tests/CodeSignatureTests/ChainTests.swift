import FerryBytes
import TestKit
import Testing

@testable import FerryCodeSignature

/// Two roots, an intermediate that both signed, and leaves; an impostor with the intermediate's name and another key.
private struct Family: Sendable {
    static let shared = Result { try Family() }
    let workshop: Workshop

    init() throws {
        workshop = try Workshop()
        let (ca, inter) = ([Workshop.authority], [Workshop.authority, Workshop.relations])
        try workshop.issue("root", "/O=Test/CN=Root", extensions: ca)
        try workshop.issue("other", "/O=Test/CN=Other Root", extensions: ca)
        try workshop.issue("inter", "/O=Test/OU=G3/CN=Relations", by: "root", extensions: inter)
        try workshop.issue("cross", "/O=Test/OU=G3/CN=Relations", by: "other", key: "inter", extensions: inter)
        try workshop.issue("impostor", "/O=Test/OU=G3/CN=Relations", by: "root", extensions: inter)
        try workshop.issue("leaf", "/CN=Apple Development: A/OU=T", by: "inter", extensions: Workshop.development)
        // A pair of authorities that vouch for each other, and for nobody else.
        try workshop.issue("one", "/CN=One", by: "root", extensions: ca)
        try workshop.issue("two", "/CN=Two", by: "one", extensions: ca)
        try workshop.issue("loop", "/CN=One", by: "two", key: "one", extensions: ca)
        try workshop.issue("looped", "/CN=Apple Development: L", by: "one", extensions: Workshop.development)
        // Not an authority, and yet it signed.
        try workshop.issue("peer", "/CN=Peer", by: "inter", extensions: ["basicConstraints=critical,CA:false"])
        try workshop.issue("below", "/CN=Below", by: "peer", extensions: Workshop.development)
    }

    func certificates(_ names: [String]) throws -> [Certificate] {
        try names.map { try Certificate(der: workshop.file($0 + ".der")) }
    }

    func chain(_ leaf: String, _ names: [String]) throws -> CertificateChain {
        CertificateChain(of: try certificates([leaf])[0], from: try certificates(names))
    }
}

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `A chain of certificates` {
    @Test(
        arguments: [
            ("leaf", ["root", "inter"], ["inter", "root"]),
            ("leaf", ["inter", "other", "leaf", "root"], ["inter", "root"]),
            // The impostor has the name, not the key.
            ("leaf", ["impostor", "root", "inter"], ["inter", "root"]),
            // Of two for one key the one whose root is known.
            ("leaf", ["inter", "cross", "other"], ["cross", "other"]),
            ("leaf", ["cross", "inter", "root"], ["inter", "root"]),
            ("looped", ["loop", "two", "one", "root"], ["one", "root"]),
            ("root", ["inter", "other"], []),
        ] as [(String, [String], [String])]
    )
    func `is put together from whatever is there, in whatever order`(
        leaf: String,
        known: [String],
        expected: [String]
    ) throws {
        let family = try Family.shared.get()
        let chain = try family.chain(leaf, known)
        #expect(chain.issuers == (try family.certificates(expected)))
        #expect(chain.isWhole)
        #expect(chain.missing == nil)
        // `openssl verify` finds the way too.
        if leaf != "root" {
            let way = expected.dropLast().flatMap { ["-untrusted", $0 + ".pem"] }
            let root = expected.last ?? ""
            try family.workshop.run(["verify", "-CAfile", root + ".pem"] + way + [leaf + ".pem"])
        }
    }

    @Test(
        arguments: [
            ("leaf", [], [], "Relations G3"),
            ("leaf", ["root", "impostor"], [], "Relations G3"),
            ("leaf", ["inter", "impostor", "other"], ["inter"], "Root"),
            ("looped", ["loop", "two"], ["loop", "two"], "One"),
            ("below", ["peer", "inter", "root"], [], "Peer"),
        ] as [(String, [String], [String], String)]
    )
    func `that is not whole says whom it lacks`(
        leaf: String,
        known: [String],
        expected: [String],
        missing: String
    ) throws {
        let family = try Family.shared.get()
        let chain = try family.chain(leaf, known)
        #expect(chain.issuers == (try family.certificates(expected)))
        #expect(!chain.isWhole)
        #expect(chain.missing?.name == missing)
        #expect(chain.missing?.needed == chain.last)
        let error = chain.missing?.error(because: ["It rained."])
        #expect(error?.code == .chainIncomplete)
        #expect(error?.message.hasSuffix("needs. It rained.") == true)
        #expect(error?.remedy?.contains("--chain") == true)
    }

    @Test func `goes on when more is known`() throws {
        let family = try Family.shared.get()
        var chain = try family.chain("leaf", [])
        #expect(!chain.add(try family.certificates(["impostor"])))
        #expect(chain.add(try family.certificates(["inter"])))
        #expect(!chain.add(try family.certificates(["inter", "leaf"])))
        #expect(!chain.isWhole)
        #expect(chain.add(try family.certificates(["root"])))
        #expect(chain.isWhole)
        #expect(!chain.add(try family.certificates(["other"])))
    }

    @Test func `of many certificates of one name ends in bounded time`() throws {
        let family = try Family.shared.get()
        // Different bytes, all with the issuer's name: the signatures of none fit.
        let der = try family.workshop.file("impostor.der")
        let crowd = try (0..<2000).map { number in
            var changed = der
            changed[changed.count - 1 - number / 256] ^= 1
            changed[changed.count - 20 - number / 256] ^= UInt8(number % 256)
            return try Certificate(der: changed)
        }
        let chain = CertificateChain(of: try family.certificates(["leaf"])[0], from: crowd)
        #expect(!chain.isWhole)
    }
}

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `A missing issuer of Apple's` {
    /// The addresses are those of https://www.apple.com/certificateauthority/
    @Test(
        arguments: [
            (
                "/C=US/O=Apple Inc./OU=G3/CN=Apple Worldwide Developer Relations Certification Authority",
                "Apple Worldwide Developer Relations Certification Authority G3",
                "https://www.apple.com/certificateauthority/AppleWWDRCAG3.cer"
            ),
            (
                "/C=US/O=Apple Inc./OU=G6/CN=Apple Worldwide Developer Relations Certification Authority",
                "Apple Worldwide Developer Relations Certification Authority G6",
                "https://www.apple.com/certificateauthority/AppleWWDRCAG6.cer"
            ),
            (
                "/C=US/O=Apple Inc./OU=G2/CN=Developer ID Certification Authority",
                "Developer ID Certification Authority G2",
                "https://www.apple.com/certificateauthority/DeveloperIDG2CA.cer"
            ),
            (
                "/C=US/O=Apple Inc./OU=Apple Certification Authority/CN=Developer ID Certification Authority",
                "Developer ID Certification Authority",
                "https://www.apple.com/certificateauthority/DeveloperIDCA.cer"
            ),
            (
                "/C=US/O=Apple Inc./OU=Apple Certification Authority/CN=Apple Root CA", "Apple Root CA",
                "https://www.apple.com/appleca/AppleIncRootCertificate.cer"
            ),
            ("/C=US/O=Orchard/CN=Apple Root CA", "Apple Root CA", nil),
            (
                "/C=US/O=Apple Inc./OU=G../CN=Apple Worldwide Developer Relations Certification Authority",
                "Apple Worldwide Developer Relations Certification Authority", nil
            ),
        ] as [(String, String, String?)]
    )
    func `is told with the place where Apple publishes it`(subject: String, name: String, address: String?) throws {
        let workshop = try Workshop()
        try workshop.issue("inter", subject, extensions: [Workshop.authority])
        try workshop.issue("leaf", "/CN=Leaf", by: "inter", extensions: Workshop.development)
        let chain = CertificateChain(of: try Certificate(der: workshop.file("leaf.der")), from: [])
        let missing = try #require(chain.missing)
        #expect(missing.name == name)
        #expect(missing.publishedAddress == address)
        #expect(missing.statedAddress == nil)
        if let address {
            #expect(
                missing.error().remedy?.hasPrefix("Get “\(name)” from \(address) and pass it by --chain FILE") == true
            )
        }
    }
}

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `A file of certificates` {
    @Test(arguments: ["DER", "PEM"]) func `may be a PKCS#7 bundle`(form: String) throws {
        let family = try Family.shared.get()
        let bundle = try family.workshop.bundle(["inter", "root", "cross"], isPEM: form == "PEM")
        #expect(try Set(Certificate.all(inPEM: bundle)) == Set(family.certificates(["inter", "root", "cross"])))
        let empty = try family.workshop.bundle([], isPEM: form == "PEM")
        #expect(throws: CodeSignatureError.self) { try Certificate.all(inPEM: empty) }
        for length in stride(from: 0, to: bundle.count, by: 7) {
            _ = try? Certificate.all(inPEM: Array(bundle[..<length]))
        }
        for index in bundle.indices.prefix(120) {
            var changed = bundle
            changed[index] ^= 0x21
            _ = try? Certificate.all(inPEM: changed)
        }
    }

    @Test func `may come from Windows`() throws {
        let family = try Family.shared.get()
        let text = String(decoding: try family.workshop.file("inter.pem"), as: UTF8.self)
        let windows = "\u{FEFF}" + text.replacing("\n", with: "\r\n")
        #expect(try Certificate.all(inPEM: Array(windows.utf8)) == family.certificates(["inter"]))
    }
}
