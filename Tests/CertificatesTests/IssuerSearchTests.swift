import FerryBytes
import FerryCodeSignature
import FerryWeb
import Foundation
import TestKit
import Testing

@testable import FerryCertificates

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `A search for issuers` {
    @Test(arguments: ["DER", "PEM", "PKCS#7", "PKCS#7 in PEM"])
    func `goes up by the addresses in the certificates, in every form that authorities publish`(
        form: String
    ) async throws {
        let world = try World()
        for name in ["inter", "root"] {
            let body =
                switch form {
                case "DER": try world.workshop.file(name + ".der")
                case "PEM": try world.workshop.file(name + ".pem")
                // Strangers in a bundle do no harm.
                case "PKCS#7": try world.workshop.bundle(["leaf", name])
                default: try world.workshop.bundle([name, "leaf"], isPEM: true)
                }
            world.pages.set("/" + name, body)
        }
        let outcome = try await world.search().complete(world.chain())
        #expect(outcome.shortfall == nil)
        #expect(outcome.chain.issuers == (try [world.certificate("inter"), world.certificate("root")]))
        #expect(world.pages.asked == ["/inter", "/root"])
    }

    @Test func `asks for nothing where the chain is whole`() async throws {
        let world = try World()
        let outcome = try await world.search().complete(world.chain("leaf", ["root", "inter"]))
        #expect(outcome.shortfall == nil)
        #expect(world.pages.asked == [])
        #expect(try world.cacheFolder.contents() == [])
    }

    @Test func `keeps what counted, for the next time and for offline`() async throws {
        let world = try World()
        #expect(try await world.search().complete(world.chain()).shortfall == nil)
        let files = try world.cacheFolder.contents().filter { $0.hasSuffix(".cer") }
        // The names are what `printf %s URL | sha256sum` says.
        let sum = try #require(Tool("sha256sum"))
        let names = try ["/inter", "/root"].map { path in
            let shown = try sum.run([], input: Array(world.pages.server.url(path).utf8)).text
            return "ferry/certificates/\(shown.prefix(64)).cer"
        }
        #expect(files == names.sorted())
        let attributes = try FileManager.default.attributesOfItem(atPath: world.cacheFolder.path(names[0]))
        #expect((attributes[.posixPermissions] as? Int) == 0o600)
        #expect(try await world.search().complete(world.chain()).chain.isWhole)
        #expect(world.pages.asked == ["/inter", "/root"])
        let offline = try await IssuerSearch(fetch: nil, cache: world.cache).complete(world.chain())
        #expect(offline.chain.isWhole)
    }

    @Test func `does not believe a cache that was damaged or filled by others`() async throws {
        let world = try World()
        _ = try await world.search().complete(world.chain())
        try world.workshop.issue("impostor", "/O=Test/OU=G3/CN=Relations", extensions: [Workshop.authority])
        let files = try world.cacheFolder.contents().filter { $0.hasSuffix(".cer") }
        for (index, bytes) in [[], Array("garbage".utf8), try world.workshop.file("impostor.der")].enumerated() {
            for file in files { try world.cacheFolder.write(bytes, to: file) }
            let outcome = try await world.search().complete(world.chain())
            #expect(outcome.chain.issuers == (try [world.certificate("inter"), world.certificate("root")]))
            #expect(world.pages.asked.count == 2 * (index + 2))
        }
        #expect(
            try Set(files.map { try world.cacheFolder.read($0) })
                == (try [
                    world.workshop.file("inter.der"), world.workshop.file("root.der"),
                ])
        )
    }

    @Test func `names the issuer and the addresses where nothing may be asked`() async throws {
        let world = try World()
        let outcome = try await IssuerSearch(fetch: nil, cache: world.cache).complete(world.chain())
        #expect(outcome.chain.issuers == [])
        let error = try #require(outcome.shortfall)
        #expect(error.code == .chainIncomplete)
        #expect(error.message.contains("CN = Relations"))
        #expect(
            error.message.hasSuffix(
                "\(world.pages.server.url("/inter")) was not asked, as nothing may be asked on the web."
            )
        )
        #expect(error.remedy?.contains("Get “Relations G3” from \(world.pages.server.url("/inter"))") == true)
        #expect(world.pages.asked == [])
    }

    @Test(
        arguments: [
            ("garbage", "what came is no certificate"),
            ("nothing", "what came is no certificate"),
            ("impostor", "what came, “Relations”, did not issue it"),
            ("stranger", "what came, “Root”, did not issue it"),
            ("gone", "the server answers with status 404"),
            ("broken", "the server answers with status 500"),
            ("huge", "the answer has more than 262144 bytes"),
            ("endless", "the answer has more than 262144 bytes"),
            ("cut", "the connection failed"),
            ("round", "it leads on more than 3 times"),
            ("elsewhere", "the connection failed"),
            ("file", "it leads on to something that is not of the web"),
        ]
    )
    func `says why an answer is of no use, and keeps none of it`(what: String, words: String) async throws {
        let world = try World()
        try world.workshop.issue("impostor", "/O=Test/OU=G3/CN=Relations", by: "root", extensions: [Workshop.authority])
        let (impostor, root) = (try world.workshop.file("impostor.der"), try world.workshop.file("root.der"))
        let here = world.pages.server.url("/inter")
        world.pages.set("/inter") { _ in
            switch what {
            case "garbage": HTTPServer.Response(200, body: Array("<html>Welcome to this hotel</html>".utf8))
            case "impostor": HTTPServer.Response(200, body: impostor)
            case "stranger": HTTPServer.Response(200, body: root)
            case "gone": HTTPServer.Response(404, body: Array("none".utf8))
            case "broken": HTTPServer.Response(500)
            case "huge": HTTPServer.Response(200, body: [UInt8](repeating: 0x30, count: 300 << 10))
            case "endless":
                HTTPServer.Response(200, body: [UInt8](repeating: 0x30, count: 2 << 20)).with { $0.isChunked = true }
            case "cut": HTTPServer.Response(200, body: impostor).with { $0.cutAfter = 100 }
            case "round": HTTPServer.Response(302, [("Location", here)])
            // Port 9 of loopback: nobody listens there.
            case "elsewhere": HTTPServer.Response(302, [("Location", "http://127.0.0.1:9/x")])
            case "file": HTTPServer.Response(302, [("Location", "file:///etc/passwd")])
            default: HTTPServer.Response(200)
            }
        }
        let outcome = try await world.search().complete(world.chain())
        let error = try #require(outcome.shortfall)
        #expect(error.code == .chainIncomplete)
        #expect(error.message.contains("\(here): \(words)"), "\(error.message)")
        #expect(outcome.chain.issuers == [])
        #expect(try world.cacheFolder.contents() == [])
    }

    @Test func `follows a redirect`() async throws {
        let world = try World()
        let place = world.pages.server.url("/moved")
        world.pages.set("/moved", try world.workshop.file("inter.der"))
        world.pages.set("/inter") { _ in HTTPServer.Response(301, [("Location", place)]) }
        let outcome = try await world.search().complete(world.chain())
        #expect(outcome.chain.isWhole)
        #expect(world.pages.asked == ["/inter", "/moved", "/root"])
    }

    @Test(arguments: ["before the first byte", "in the middle"]) func `gives up on a silent server`(
        when: String
    ) async throws {
        let world = try World()
        let body = try world.workshop.file("inter.der")
        world.pages.set("/inter") { _ in
            HTTPServer.Response(200, body: body).with { $0.pauseAfter = when == "in the middle" ? 100 : 0 }
        }
        let clock = ContinuousClock()
        let start = clock.now
        let outcome = try await world.search(.milliseconds(300)).complete(world.chain())
        #expect(clock.now - start >= .milliseconds(300))
        #expect(outcome.shortfall?.message.contains("there was no whole answer within 0.3 seconds") == true)
    }

    @Test func `ends when its task is cancelled`() async throws {
        let world = try World()
        world.pages.set("/inter") { _ in HTTPServer.Response(200, body: [1, 2, 3]).with { $0.pauseAfter = 0 } }
        let chain = try world.chain()
        let search = world.search(.seconds(100))
        let task = Task { try await search.complete(chain) }
        try await onThread {
            while world.pages.asked.isEmpty { usleep(1000) }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `does not go round in circles`() async throws {
        let world = try World()
        let ca = [Workshop.authority]
        try world.workshop.issue("one", "/CN=One", by: "root", extensions: ca + [world.issuer("/two")])
        try world.workshop.issue("two", "/CN=Two", by: "one", extensions: ca + [world.issuer("/one")])
        try world.workshop.issue("loop", "/CN=One", by: "two", key: "one", extensions: ca + [world.issuer("/two")])
        try world.workshop.issue("caught", "/CN=Leaf", by: "one", extensions: [world.issuer("/one")])
        world.pages.set("/one", try world.workshop.file("loop.der"))
        world.pages.set("/two", try world.workshop.file("two.der"))
        let outcome = try await world.search().complete(world.chain("caught"))
        #expect(outcome.shortfall?.message.contains("/one was asked already") == true, "\(outcome)")
        #expect(world.pages.asked == ["/one", "/two"])
    }

    @Test func `does not climb for ever`() async throws {
        let world = try World()
        var above: String?
        for step in 0..<8 {
            try world.workshop.issue(
                "s\(step)",
                "/CN=Step \(step)",
                by: above ?? "root",
                extensions: [Workshop.authority, world.issuer("/\(above ?? "root")")]
            )
            world.pages.set("/s\(step)", try world.workshop.file("s\(step).der"))
            above = "s\(step)"
        }
        let outcome = try await world.search().complete(world.chain("s7"))
        #expect(outcome.shortfall?.message.contains("5 issuers were fetched") == true)
        #expect(world.pages.asked.count == 5)
    }

    @Test(arguments: ["https://127.0.0.1/x", "ldap://127.0.0.1/x", "file:///etc/hosts"])
    func `asks at no address that is not one of plain HTTP`(address: String) async throws {
        let world = try World()
        try world.workshop.issue(
            "odd",
            "/CN=Odd",
            by: "inter",
            extensions: ["authorityInfoAccess=caIssuers;URI:" + address]
        )
        let search = IssuerSearch(fetch: { request in
            Issue.record("\(request.url) was asked")
            return []
        })
        let outcome = try await search.complete(world.chain("odd"))
        #expect(outcome.shortfall?.message.contains("Its address, \(address), is not one of plain HTTP") == true)
    }

    /// Apple's WWDR certificates do not say where their root is.
    @Test func `asks Apple for an issuer of Apple's whose address no certificate says`() async throws {
        let world = try World()
        let name = "/C=US/O=Apple Inc./OU=Apple Certification Authority/CN=Apple Root CA"
        try world.workshop.issue("apple", name, extensions: [Workshop.authority])
        try world.workshop.issue("below", "/CN=Below", by: "apple", extensions: Workshop.development)
        let root = try world.workshop.file("apple.der")
        let search = IssuerSearch(fetch: { request in
            #expect(request == FetchRequest(url: "https://www.apple.com/appleca/AppleIncRootCertificate.cer"))
            return root
        })
        let outcome = try await search.complete(world.chain("below"))
        #expect(outcome.shortfall == nil)
        #expect(outcome.chain.issuers == (try [world.certificate("apple")]))
    }
}
