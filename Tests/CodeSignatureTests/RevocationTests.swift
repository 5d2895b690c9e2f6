import Foundation
import TestKit
import Testing

@testable import FerryCodeSignature

/// An authority with a responder that it appointed, one that it did not, and an issuer of the same name.
private struct Office: Sendable {
    static let shared = Result { try Office() }
    let workshop: Workshop
    let leaf: Certificate
    let issuer: Certificate

    init() throws {
        workshop = try Workshop()
        let responder = ["extendedKeyUsage=OCSPSigning"]
        try workshop.issue("root", "/CN=Root", extensions: [Workshop.authority])
        try workshop.issue("inter", "/CN=Inter", by: "root", extensions: [Workshop.authority], start: "20200101000000Z")
        try workshop.issue("leaf", "/CN=Leaf", by: "inter", serial: 4711, extensions: Workshop.development)
        try workshop.issue("responder", "/CN=Responder", by: "inter", extensions: responder)
        try workshop.issue("unappointed", "/CN=Nobody", by: "inter", extensions: Workshop.development)
        try workshop.issue("elsewhere", "/CN=Inter", extensions: [Workshop.authority])
        try workshop.issue("stranger", "/CN=Responder", by: "elsewhere", extensions: responder)
        leaf = try Certificate(der: workshop.file("leaf.der"))
        issuer = try Certificate(der: workshop.file("inter.der"))
    }

    func question(_ nonce: [UInt8]? = nil) throws -> RevocationQuestion {
        try RevocationQuestion(about: leaf, issuedBy: issuer, nonce: nonce)
    }

    var now: Int64 { Int64(Date().timeIntervalSince1970) }
}

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `A question about revocation` {
    @Test(arguments: [nil, [1, 2, 3, 4, 5, 6, 7, 8]] as [[UInt8]?])
    func `is one that openssl reads`(nonce: [UInt8]?) throws {
        let office = try Office.shared.get()
        let question = try office.question(nonce)
        let name = "question-\(nonce == nil ? 0 : 1).der"
        try office.workshop.folder.write(question.bytes, to: name)
        let shown = String(
            decoding: try office.workshop.run(["ocsp", "-reqin", name, "-req_text", "-noverify"]),
            as: UTF8.self
        )
        #expect(shown.contains("Serial Number: 1267"))
        #expect(shown.contains("Hash Algorithm: sha1"))
        #expect(shown.contains("OCSP Nonce") == (nonce != nil))
    }

    @Test(
        arguments: [
            ("good", "inter"), ("good", "responder"), ("revoked:keyCompromise", "inter"), ("revoked", "responder"),
            ("", "inter"),
        ]
    )
    func `is answered by the authority or whom it appointed`(state: String, signer: String) throws {
        let office = try Office.shared.get()
        let question = try office.question([9, 9, 9, 9])
        let index = state.isEmpty ? [:] : [4711: state]
        let answer = try office.workshop.answer(question.bytes, issuer: "inter", signer: signer, index: index)
        let status = try question.status(in: answer, at: office.now)
        switch (state, status) {
        case ("good", .good(let since, let until)):
            #expect(abs(since - office.now) < 120)
            #expect(until == since + 86400)
        case ("revoked:keyCompromise", .revoked(1_577_934_245, "keyCompromise")),
            ("revoked", .revoked(1_577_934_245, nil)),
            ("", .unknown):
            break
        default: Issue.record("\(state): \(status)")
        }
    }

    @Test(arguments: ["unappointed", "stranger", "elsewhere", "leaf"])
    func `is not answered by anybody else`(signer: String) throws {
        let office = try Office.shared.get()
        let question = try office.question()
        let answer = try office.workshop.answer(question.bytes, issuer: "inter", signer: signer, index: [4711: "good"])
        let error = #expect(throws: CodeSignatureError.self) { try question.status(in: answer, at: office.now) }
        #expect(error?.code == .revocation)
        #expect(error?.message.contains("not signed by the authority") == true, "\(error?.message ?? "")")
        #expect(error?.remedy != nil)
    }

    @Test(
        arguments: [
            (-3600, ["-ndays", "1"], "from the future"),
            (2 * 86400, ["-ndays", "1"], "out of date"),
            (2 * 86400, [], "out of date"),
            (86400, ["-ndays", "1"], nil),
            (3600, [], nil),
            (-200, [], nil),
        ] as [(Int64, [String], String?)]
    )
    func `is judged by its date`(later: Int64, more: [String], words: String?) throws {
        let office = try Office.shared.get()
        let question = try office.question()
        let answer = try office.workshop.answer(
            question.bytes,
            issuer: "inter",
            signer: "inter",
            index: [4711: "good"],
            more: more
        )
        guard let words else {
            _ = try question.status(in: answer, at: office.now + later)
            return
        }
        let error = #expect(throws: CodeSignatureError.self) { try question.status(in: answer, at: office.now + later) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func `is not answered by what was said of another, or to another question`() throws {
        let office = try Office.shared.get()
        let other = try Certificate(der: office.workshop.file("responder.der"))
        let about = try RevocationQuestion(about: other, issuedBy: office.issuer)
        let answer = try office.workshop.answer(about.bytes, issuer: "inter", signer: "inter", index: [:])
        let error = #expect(throws: CodeSignatureError.self) {
            try office.question().status(in: answer, at: office.now)
        }
        #expect(error?.message == "the answer is about another certificate.")
        let mine = try office.question([1, 1, 1, 1])
        let repeated = try office.workshop.answer(
            office.question([2, 2, 2, 2]).bytes,
            issuer: "inter",
            signer: "inter",
            index: [4711: "good"]
        )
        let nonce = #expect(throws: CodeSignatureError.self) { try mine.status(in: repeated, at: office.now) }
        #expect(nonce?.message.contains("nonce") == true)
        // One without a nonce will do: most responders have their answers ready.
        let plain = try office.workshop.answer(
            office.question().bytes,
            issuer: "inter",
            signer: "inter",
            index: [4711: "good"]
        )
        #expect(throws: Never.self) { try mine.status(in: plain, at: office.now) }
    }

    @Test func `is not answered by garbage, in bounded time and without a trap`() throws {
        let office = try Office.shared.get()
        let question = try office.question([7, 7, 7, 7])
        let whole = try office.workshop.answer(
            question.bytes,
            issuer: "inter",
            signer: "responder",
            index: [4711: "revoked"]
        )
        let now = office.now
        // tryLater, as RFC 6960 §4.2.1 encodes it.
        let error = #expect(throws: CodeSignatureError.self) {
            try question.status(in: [0x30, 0x03, 0x0A, 0x01, 0x03], at: now)
        }
        #expect(error?.message == "the responder does not answer: trylater.")
        for length in 0..<whole.count {
            #expect(throws: CodeSignatureError.self) { try question.status(in: Array(whole[..<length]), at: now) }
        }
        for index in whole.indices {
            var changed = whole
            changed[index] ^= 0x15
            // What is outside of the signature may change; the answer may not.
            if let status = try? question.status(in: changed, at: now) {
                #expect(status == .revoked(at: 1_577_934_245, reason: nil), "byte \(index)")
            }
        }
    }
}
