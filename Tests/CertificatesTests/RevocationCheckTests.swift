import FerryBytes
import FerryCodeSignature
import FerryWeb
import Foundation
import TestKit
import Testing

@testable import FerryCertificates

/// What a finding says, in a word.
private func word(_ finding: RevocationCheck.Finding?) -> String {
    switch finding {
    case .status(.good): "good"
    case .status(.revoked(let at, let reason)): "revoked \(at) \(reason ?? "-")"
    case .status(.unknown): "unknown"
    case .failure(let error): error.message
    case .notAskable: "notAskable"
    case nil: "nothing"
    }
}

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `A check of revocation` {
    private static func check(_ timeout: Duration = .seconds(20), later: Int64 = 0) -> RevocationCheck {
        let web = WebFetch(timeout: timeout)
        return RevocationCheck(
            fetch: { try await web.fetch($0) },
            now: { Int64(Date().timeIntervalSince1970) + later }
        )
    }

    @Test(
        arguments: [
            ("good", "good"), ("revoked:cessationOfOperation", "revoked 1577934245 cessationOfOperation"),
            ("", "unknown"),
        ]
    )
    func `posts a question, and tells the answer`(state: String, expected: String) async throws {
        let world = try World()
        let workshop = world.workshop
        world.pages.set("/ocsp") { request in
            guard request.method == "POST", request.headers["content-type"] == "application/ocsp-request",
                let body = try? workshop.answer(
                    request.body,
                    issuer: "inter",
                    signer: "inter",
                    index: state.isEmpty ? [:] : [4711: state]
                )
            else { return HTTPServer.Response(400) }
            return HTTPServer.Response(200, [("Content-Type", "application/ocsp-response")], body: body)
        }
        let findings = try await Self.check().findings(about: world.chain("leaf", ["inter", "root"]))
        // The intermediate names no responder; the root is nobody's to revoke.
        #expect(findings.map { word($0) } == [expected, "notAskable"])
        #expect(world.pages.asked == ["/ocsp"])
    }

    @Test(
        arguments: [
            ("expired", "the answer is out of date."),
            ("stranger", "the answer is not signed by the authority"),
            ("garbage", "the answer is none of OCSP"),
            ("trylater", "the responder does not answer: trylater."),
            ("redirect", "it leads on more than 3 times"),
            ("huge", "the answer has more than 262144 bytes"),
            ("gone", "the server answers with status 404"),
            ("silent", "there was no whole answer within 0.4 seconds"),
        ]
    )
    func `says why there is no answer`(what: String, words: String) async throws {
        let world = try World()
        let workshop = world.workshop
        try workshop.issue("stranger", "/CN=Somebody", extensions: ["extendedKeyUsage=OCSPSigning"])
        let here = world.pages.server.url("/ocsp")
        world.pages.set("/ocsp") { request in
            func answer(_ signer: String) -> HTTPServer.Response {
                let body = try? workshop.answer(request.body, issuer: "inter", signer: signer, index: [4711: "good"])
                return HTTPServer.Response(200, body: body ?? [])
            }
            return switch what {
            case "expired": answer("inter")
            case "stranger": answer("stranger")
            case "garbage": HTTPServer.Response(200, body: Array("<html></html>".utf8))
            case "trylater": HTTPServer.Response(200, body: [0x30, 0x03, 0x0A, 0x01, 0x03])
            case "redirect": HTTPServer.Response(307, [("Location", here)])
            case "huge": HTTPServer.Response(200, body: [UInt8](repeating: 0x30, count: 400 << 10))
            case "silent": HTTPServer.Response(200, body: [0x30]).with { $0.pauseAfter = 0 }
            default: HTTPServer.Response(404)
            }
        }
        let check = Self.check(
            what == "silent" ? .milliseconds(400) : .seconds(20),
            later: what == "expired" ? 3 * 86400 : 0
        )
        let findings = try await check.findings(about: world.chain("leaf", ["inter", "root"]))
        let said = word(findings.first)
        #expect(said.hasPrefix("\(here): \(words)"), "\(said)")
    }

    @Test func `asks nobody about a certificate whose issuer is not known`() async throws {
        let world = try World()
        let findings = try await Self.check().findings(about: world.chain())
        #expect(findings.map { word($0) } == ["notAskable"])
        #expect(world.pages.asked == [])
    }
}
