import FerryBytes
import TestKit
import Testing

@testable import FerryCodeSignature

private typealias Element = (tag: UInt8, content: ArraySlice<UInt8>)

private func elements(_ content: ArraySlice<UInt8>) throws -> [Element] {
    var reader = DER.Reader(content)
    var all: [Element] = []
    while !reader.isAtEnd { all.append(try reader.next()) }
    return all
}

private func encoded(_ elements: [Element]) -> ArraySlice<UInt8> {
    elements.reduce(into: []) { $0 += DER.element($1.tag, $1.content) }[...]
}

/// Replaces the values of one signed attribute in a message, and signs the attributes anew by the `openssl` program.
private func message(_ old: [UInt8], attribute: [UInt8], value: [UInt8], key: String) throws -> [UInt8] {
    var info = try elements(try elements(old[...])[0].content)
    var wrapped = try elements(info[1].content)
    var signed = try elements(wrapped[0].content)
    var signers = try elements(signed[signed.count - 1].content)
    // SignerInfo { version, sid, digestAlgorithm, [0] signedAttrs, signatureAlgorithm, signature }, RFC 5652 §5.3
    var signer = try elements(signers[0].content)
    var attributes = try elements(signer[3].content)
    for index in attributes.indices {
        var parts = try elements(attributes[index].content)
        guard Array(parts[0].content) == attribute else { continue }
        parts[1].content = value[...]
        attributes[index].content = encoded(parts)
    }
    signer[3].content = encoded(attributes)
    let authority = try TestAuthority.shared.get()
    let made = try #require(Tool("openssl")).run(
        ["dgst", "-sha256", "-sign", authority.folder.path(key + ".key")],
        input: DER.element(0x31, signer[3].content)
    )
    signer[5].content = made.output[...]
    signers[0].content = encoded(signer)
    signed[signed.count - 1].content = encoded(signers)
    wrapped[0].content = encoded(signed)
    info[1].content = encoded(wrapped)
    return DER.element(0x30, encoded(info))
}

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `A message by a signer who means harm` {
    private static let signingTime: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x05]
    private static let plist: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x09, 0x01]
    private static let digests: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x09, 0x02]

    /// Values of other types than the attribute's: to OpenSSL they are members of a union of pointers.
    @Test(
        arguments: [
            [0x01, 0x01, 0xFF], [0x05, 0x00], [0x02, 0x01, 0x07], [0x06, 0x01, 0x2A], [0x30, 0x00], [0x17, 0x01, 0x30],
            [],
        ] as [[UInt8]]
    )
    func `may have anything for an attribute`(value: [UInt8]) throws {
        let signed = try SignedImage(by: identity())
        let directory = try signed.blob(.codeDirectory)
        let old = Array(try signed.blob(.signature).dropFirst(8))
        // The way to change a message works: with the time that was there, all is right.
        let same = try message(
            old,
            attribute: Self.signingTime,
            value: DER.element(0x17, "250615150640Z".utf8),
            key: "leaf"
        )
        #expect(try SignatureMessage.verify(same[...], over: directory).signingTime == SignedImage.time)
        for attribute in [Self.signingTime, Self.plist, Self.digests] {
            let changed = try message(old, attribute: attribute, value: value, key: "leaf")
            guard let read = try? SignatureMessage.verify(changed[...], over: directory) else { continue }
            if attribute == Self.signingTime { #expect(read.signingTime == nil || value.first == 0x17) }
            if attribute == Self.plist { #expect(read.cdHashes == nil) }
        }
    }
}
