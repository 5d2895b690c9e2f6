import FerryBytes
import Foundation
import TestKit
import Testing

@testable import FerryCodeSignature

private let password = TestAuthority.password

/// `openssl` on files of the authority.
private func openssl(_ arguments: [String]) throws -> [UInt8] {
    let result = try #require(Tool("openssl")).run(arguments, in: try TestAuthority.shared.get().folder.path)
    try #require(result.status == 0, "\(result.errors)")
    return result.output
}

extension [UInt8] {
    /// Where `part` stands, each time.
    fileprivate func places(of part: [UInt8]) -> [Int] {
        indices.filter { self[$0...].starts(with: part) }
    }

    /// The same with `new`, of equal length, in the place of a part.
    fileprivate func with(_ new: [UInt8], at place: Int) -> [UInt8] {
        var changed = self
        changed.replaceSubrange(place..<place + new.count, with: new)
        return changed
    }
}

/// 70,000 rounds as an INTEGER in DER, which is nowhere else in a file, and numbers that take as many bytes.
private let usual: [UInt8] = [0x02, 0x03, 0x01, 0x11, 0x70]
private let tooMany: [UInt8] = [0x02, 0x03, 0x7F, 0xFF, 0xFF]
private let negative: [UInt8] = [0x02, 0x03, 0xFF, 0x00, 0x00]
/// 4,900,000: alone it is no more than what is let through.
private let nearly: [UInt8] = [0x02, 0x03, 0x4A, 0xC4, 0xA0]

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `A file that asks for endless hashing of its password` {
    private static let kinds: [[String]] = [
        [], ["-keypbe", "PBE-SHA1-3DES", "-certpbe", "PBE-SHA1-3DES"], ["-keypbe", "aes-128-cbc", "-certpbe", "NONE"],
        ["-keypbe", "NONE", "-certpbe", "aes-128-cbc"],
    ]

    private func container(_ kind: [String]) throws -> [UInt8] {
        try openssl(
            ["pkcs12", "-export", "-inkey", "leaf.key", "-in", "leaf.pem", "-iter", "70000"]
                + ["-passout", "pass:" + password] + kind
        )
    }

    private func refusal(ofPKCS12 bytes: [UInt8]) -> CodeSignatureError? {
        #expect(throws: CodeSignatureError.self) { try KeyPair(pkcs12: bytes, password: Secret(password)) }
    }

    @Test(arguments: kinds)
    func `is refused, whichever part of PKCS12 asks`(kind: [String]) throws {
        let bytes = try container(kind)
        _ = try KeyPair(pkcs12: bytes, password: Secret(password))
        let places = bytes.places(of: usual)
        #expect(places.count == (kind.contains("NONE") ? 2 : 3), "the check, the certificates, the key")
        for place in places {
            #expect(refusal(ofPKCS12: bytes.with(tooMany, at: place))?.message.contains("more than 5000000") == true)
            #expect(refusal(ofPKCS12: bytes.with(negative, at: place))?.message.contains("without end") == true)
        }
    }

    @Test func `is refused where only its parts together ask for too much`() throws {
        let bytes = try container([])
        let places = bytes.places(of: usual)
        let changed = bytes.with(nearly, at: places[0]).with(nearly, at: places[1])
        #expect(refusal(ofPKCS12: changed)?.message.contains("hashed 9870000 times") == true)
    }

    /// How `openssl` writes a key, and what is changed in it to what.
    @Test(
        arguments: [
            (["-v2", "aes256", "-iter", "70000"], usual, tooMany),
            (["-v2", "aes256", "-iter", "70000"], usual, negative),
            (["-v1", "PBE-SHA1-3DES", "-iter", "70000"], usual, tooMany),
            // N 16,384, r 8, p 1: of these the last becomes 127.
            (["-scrypt"], [2, 2, 0x40, 0, 2, 1, 8, 2, 1, 1], [2, 2, 0x40, 0, 2, 1, 8, 2, 1, 127]),
        ] as [([String], [UInt8], [UInt8])]
    )
    func `is refused where it is PEM`(options: [String], old: [UInt8], new: [UInt8]) throws {
        let arguments = ["pkcs8", "-topk8", "-in", "leaf.key", "-passout", "pass:" + password] + options
        let certificate = try TestAuthority.shared.get().file("leaf.pem")
        let key = try openssl(arguments)
        _ = try KeyPair(pemCertificates: certificate, pemKey: key, password: Secret(password))
        let der = try openssl(arguments + ["-outform", "DER"])
        let place = try #require(der.places(of: old).first)
        let changed = Data(der.with(new, at: place)).base64EncodedString(options: [.lineLength64Characters])
        let text = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n\(changed)\n-----END ENCRYPTED PRIVATE KEY-----\n"
        let error = #expect(throws: CodeSignatureError.self) {
            try KeyPair(pemCertificates: certificate, pemKey: Array(text.utf8), password: Secret(password))
        }
        #expect(error?.message.contains("more than 5000000") == true)
    }
}
