import FerryBytes
import FerryHTTP
import Foundation
import TestKit
import Testing

@testable import FerryOverTheAir

@Suite(.timeLimit(.minutes(5)), .enabled(if: Tool("openssl") != nil && AirServer.hasCurl, "openssl or curl is missing"))
struct `An authority of this machine's own` {
    private let folder: TemporaryFolder
    private let now = Int64(Date().timeIntervalSince1970)

    init() throws {
        folder = try TemporaryFolder()
    }

    private func openssl(_ arguments: [String]) throws -> String {
        let result = try Tool(path: Tool("openssl")?.path ?? "").run(arguments, in: folder.path)
        #expect(result.status == 0, "\(result.errors)")
        return result.text
    }

    @Test func `makes what Apple asks of a server's certificate`() throws {
        _ = try LocalAuthority(folder: folder.path, hosts: ["ferry.example", "192.168.1.5", "[::1]"], now: now)
        #expect(try openssl(["verify", "-CAfile", "ca.pem", "-purpose", "sslserver", "server.pem"]).contains("OK"))
        let text = try openssl(["x509", "-in", "server.pem", "-noout", "-text"])
        #expect(text.contains("DNS:ferry.example, IP Address:192.168.1.5, IP Address:0:0:0:0:0:0:0:1"))
        #expect(text.contains("TLS Web Server Authentication") && text.contains("ecdsa-with-SHA256"))
        // -checkend: whether it ends within so many seconds.
        let late = try Tool(path: Tool("openssl")?.path ?? "").run(
            ["x509", "-in", "server.pem", "-noout", "-checkend", "\(825 * 86_400)"],
            in: folder.path
        )
        #expect(late.status == 1)
        for key in ["ca.key", "server.key"] {
            let mode = try FileManager.default.attributesOfItem(atPath: folder.path(key))[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func `stays, and renews the server's certificate when that is due or other hosts are asked for`() throws {
        let first = try LocalAuthority(folder: folder.path, hosts: ["a.example"], now: now)
        let same = try LocalAuthority(folder: folder.path, hosts: ["a.example"], now: now + 86_400)
        #expect(same.identity.certificate == first.identity.certificate)
        let other = try LocalAuthority(folder: folder.path, hosts: ["a.example", "b.example"], now: now)
        #expect(other.identity.certificate != first.identity.certificate)
        #expect(other.certificate == first.certificate)
        let late = now + (LocalAuthority.serverDays - 29) * 86_400
        let renewed = try LocalAuthority(folder: folder.path, hosts: ["a.example"], now: late)
        #expect(renewed.identity.certificate != other.identity.certificate)
        #expect(renewed.certificate == first.certificate)
    }

    @Test func `says so when it has expired itself`() throws {
        _ = try LocalAuthority(folder: folder.path, hosts: ["a.example"], now: now)
        let error = #expect(throws: AuthorityError.self) {
            try LocalAuthority(folder: folder.path, hosts: ["a.example"], now: now + 3650 * 86_400)
        }
        #expect(error?.message.contains("has expired") == true)
    }

    @Test func `is enough for a client that knows it`() async throws {
        let authority = try LocalAuthority(folder: folder.path("ca"), hosts: ["127.0.0.1"], now: now)
        let air = try AirServer(authority: authority.certificate, tls: authority.identity)
        let link = try air.add()
        let trust = ["--cacert", folder.path("ca/ca.pem")]
        #expect(try await air.curl("/i/\(link.secret)/", trust, scheme: "https").text.contains("Harbour"))
        #expect(try await air.curl("/ca.cer", trust, scheme: "https").output == authority.certificate)
        #expect(try await air.curl("/ca", trust, scheme: "https").text.contains(authority.fingerprint))
        // CURLE_PEER_FAILED_VERIFICATION
        #expect(try await air.curl("/ca", scheme: "https").status == 60)
        let shown = try openssl(["x509", "-in", "ca/ca.pem", "-noout", "-fingerprint", "-sha256"])
        #expect(shown.contains(authority.fingerprint))
    }
}
