import FerryCodeSignature
import FerryWeb
import TestKit

@testable import FerryCertificates

/// A chain of three whose certificates name a server of this test's own.
struct World: Sendable {
    let pages: Pages
    let workshop: Workshop
    let cacheFolder: TemporaryFolder

    init() throws {
        pages = try Pages()
        workshop = try Workshop()
        cacheFolder = try TemporaryFolder()
        let (ca, inter) = ([Workshop.authority], [Workshop.authority, Workshop.relations])
        try workshop.issue("root", "/O=Test/CN=Root", extensions: ca)
        try workshop.issue("inter", "/O=Test/OU=G3/CN=Relations", by: "root", extensions: inter + [issuer("/root")])
        try workshop.issue(
            "leaf",
            "/CN=Apple Development: A/OU=T",
            by: "inter",
            serial: 4711,
            extensions: Workshop.development + [
                "authorityInfoAccess=caIssuers;URI:\(pages.server.url("/inter")),OCSP;URI:\(pages.server.url("/ocsp"))"
            ]
        )
        pages.set("/inter", try workshop.file("inter.der"))
        pages.set("/root", try workshop.file("root.der"))
    }

    /// The extension that says where the issuer is.
    func issuer(_ path: String) -> String { "authorityInfoAccess=caIssuers;URI:\(pages.server.url(path))" }

    func certificate(_ name: String) throws -> Certificate { try Certificate(der: workshop.file(name + ".der")) }

    func chain(_ leaf: String = "leaf", _ known: [String] = []) throws -> CertificateChain {
        CertificateChain(of: try certificate(leaf), from: try known.map { try certificate($0) })
    }

    /// The cache: `$XDG_CACHE_HOME/ferry/certificates`, in a folder that is not there yet.
    var cache: CertificateCache { CertificateCache(folder: cacheFolder.path("ferry/certificates")) }

    func search(_ timeout: Duration = .seconds(20)) -> IssuerSearch {
        let web = WebFetch(timeout: timeout)
        return IssuerSearch(fetch: { try await web.fetch($0) }, cache: cache)
    }
}
