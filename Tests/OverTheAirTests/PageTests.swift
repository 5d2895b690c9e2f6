import FerryBytes
import FerryHTTP
import Foundation
import TestKit
import Testing

@testable import FerryOverTheAir

@Suite(.timeLimit(.minutes(5)), .enabled(if: AirServer.hasCurl, "\(AirServer.absent)"))
struct `A page for a phone` {
    @Test func `warns where iOS would not install from it`() async throws {
        let plain = try AirServer()
        let link = try plain.add()
        #expect(try await plain.curl("/i/\(link.secret)/").text.contains("not https"))
        let secure = try AirServer(publicURL: "https://ferry.example/apps/")
        let other = try secure.add()
        let page = try await secure.curl("/i/\(other.secret)/").text
        #expect(!page.contains("not https") && page.contains("ferry.example%2Fapps%2Fi%2F"))
    }

    @Test(arguments: ["", "/", "/app.ipa"])
    func `of no link says so, in the same dress`(rest: String) async throws {
        let air = try AirServer()
        let answer = try await air.curl("/i/AAAAAAAAAAAAAAAAAAAAAA\(rest)", ["-i"]).text
        #expect(answer.contains("404") && answer.contains("There is no such link"))
        #expect(answer.contains("Content-Security-Policy: default-src 'none'"))
        // What is relative leads to the same place from wherever the page is.
        let css = try #require(answer.firstMatch(of: /href="(.*page\.css)"/)?.1)
        let from = URL(string: "http://127.0.0.1/i/AAAAAAAAAAAAAAAAAAAAAA\(rest)")
        #expect(URL(string: String(css), relativeTo: from)?.path == "/i/page.css")
    }

    @Test func `shows names as they are, and runs none of them`() throws {
        let evil = "</title><script>alert(1)</script>\"'&"
        let link = AirLink(
            secret: "s",
            install: nil,
            title: evil,
            identifier: evil,
            version: evil,
            byteCount: 1,
            madeAt: 0,
            expiresAt: 1,
            files: "f"
        )
        let state = LinkState(step: .sending, sentBytes: 0, byteCount: 1)
        let page = InstallPage.html(link, state, base: "https://ferry.example/i/s/", hasAuthority: true)
        #expect(!page.contains("<script>alert") && !page.contains("\"'&\""))
        #expect(page.contains("&lt;/title&gt;&lt;script&gt;"))
    }

    @Test(arguments: [
        (1, "1 kB"), (999_999, "999 kB"), (2_650_000, "2.6 MB"), (1_000_000_000, "1.00 GB"), (4_295_000_000, "4.29 GB"),
    ])
    func `says how large an app is`(bytes: Int, text: String) {
        #expect(InstallPage.size(bytes) == text)
    }
}

@Suite(.timeLimit(.minutes(5)), .enabled(if: AirServer.hasCurl && Tool("openssl") != nil, "curl or openssl is missing"))
struct `The page of an authority` {
    @Test func `has the certificate as a profile that iOS takes, and alone`() async throws {
        let folder = try TemporaryFolder()
        let authority = try LocalAuthority(
            folder: folder.path("ca"),
            hosts: ["127.0.0.1"],
            now: Int64(Date().timeIntervalSince1970)
        )
        let air = try AirServer(authority: authority.certificate, tls: authority.identity)
        let trust = ["--cacert", folder.path("ca/ca.pem")]
        let page = try await air.curl("/ca", trust, scheme: "https").text
        let pem = folder.path("ca/ca.pem")
        let print = try #require(try Tool("openssl")?.run(["x509", "-in", pem, "-noout", "-fingerprint", "-sha256"]))
            .text
        let digits = try #require(print.split(separator: "=").last).trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(page.contains(digits) && page.contains("Certificate Trust Settings"))
        #expect(page.contains("href=\"ca.mobileconfig\"") && page.contains("href=\"i/page.css\""))

        let der = try await air.curl("/ca.cer", trust, scheme: "https").output
        let head = try await air.curl("/ca.mobileconfig", trust + ["-I"], scheme: "https").text
        #expect(head.contains("Content-Type: application/x-apple-aspen-config"))
        // Safari would put it among the files.
        #expect(!head.contains("Content-Disposition"))
        let profile = try await air.curl("/ca.mobileconfig", trust, scheme: "https").output
        let list = try PropertyListSerialization.propertyList(from: Data(profile), format: nil) as? [String: Any]
        #expect(list?["PayloadType"] as? String == "Configuration")
        let payload = try #require((list?["PayloadContent"] as? [[String: Any]])?.first)
        #expect(payload["PayloadType"] as? String == "com.apple.security.root")
        #expect(payload["PayloadContent"] as? Data == Data(der))
        let names = [list?["PayloadUUID"], payload["PayloadUUID"]].compactMap { $0 as? String }.compactMap(UUID.init)
        #expect(Set(names).count == 2)
        #expect(AuthorityPage.profile(authority.certificate) == profile)
        let path = try folder.write(der, to: "der")
        let subject = try Tool("openssl")?.run(["x509", "-inform", "der", "-in", path, "-noout", "-subject"]).text
        #expect(subject?.contains("Ferry local authority") == true)
    }

    @Test func `is not there where there is none`() async throws {
        let air = try AirServer()
        for path in ["/ca", "/ca.cer", "/ca.mobileconfig"] { #expect(try await air.status(path) == "404") }
    }
}

@Suite(.timeLimit(.minutes(5)))
struct `The book of links` {
    @Test func `keeps what was known last, whoever writes`() async throws {
        let air = try AirServer()
        let links = try (0..<8).map { try air.add(install: "\($0)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for link in links {
                group.addTask {
                    try await onThread {
                        air.book.asked(link.secret)
                        for half in [0..<1, 1..<link.byteCount] { air.book.sent(half, of: link.secret) }
                    }
                }
            }
            try await group.waitForAll()
        }
        air.book.beginStop()
        let next = try LinkBook(folder: air.book.folder, now: { air.date.now })
        #expect(links.allSatisfy { next[$0.secret]?.step == .delivered })
    }

    @Test func `begins anew where its file makes no sense`() throws {
        let folder = try TemporaryFolder()
        try makeFolders(folder.path("links"))
        try folder.write(Array("[{\"secret\":".utf8), to: "links/links.json")
        let book = try LinkBook(folder: folder.path("links"), now: { 0 })
        #expect(book["x"] == nil)
    }
}
