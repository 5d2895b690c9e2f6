import FerryBytes
import FerryMachO
import FerryPropertyList
import TestKit
import Testing

@testable import FerryCodeSignature

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `A signature that we make` {
    private static let kinds: [(String, [HashAlgorithm])] = [
        ("rsa", [.sha256]), ("leaf", [.sha256]), ("rsa", [.sha1, .sha256]), ("leaf", [.sha1, .sha256]),
    ]

    @Test(arguments: kinds, [4096, 16384])
    func `has no fault`(kind: (name: String, algorithms: [HashAlgorithm]), pageSize: Int) throws {
        let tiny = TinyMachO { $0.minimumOS = kind.algorithms.count == 2 ? 10 << 16 : 15 << 16 }
        let signed = try SignedImage(tiny, kind.algorithms, pageSize: pageSize, by: identity(kind.name))
        let report = ImageVerifier.verify(try signed.image, in: signed.bytes[...], context: signed.context)
        #expect(report.faults == [])
        #expect(report.directories.map(\.algorithm) == kind.algorithms)
        #expect(report.directories.allSatisfy { $0.team == TestAuthority.team && $0.pageSize == pageSize })
        #expect(report.message?.signer.commonName == "Apple Development: \(kind.name) Ünal")
        #expect(report.message?.signingTime == SignedImage.time)
        #expect(report.message?.certificates.count == 3)
        #expect(!report.isAdHoc)
    }

    @Test(arguments: kinds)
    func `is right for openssl, up to the root`(name: String, algorithms: [HashAlgorithm]) throws {
        let signed = try SignedImage(TinyMachO(), algorithms, by: identity(name))
        let folder = try TemporaryFolder()
        try folder.write(try signed.blob(.codeDirectory), to: "cd")
        try folder.write(try signed.blob(.signature).dropFirst(8), to: "cms")
        let authority = try TestAuthority.shared.get()
        let verified = try #require(Tool("openssl")).run(
            ["cms", "-verify", "-binary", "-inform", "DER", "-in", "cms", "-content", "cd", "-purpose", "any"]
                + ["-CAfile", authority.folder.path("root.pem"), "-out", "/dev/null"],
            in: folder.path
        )
        #expect(verified.status == 0, "\(verified.errors)")
    }

    /// What `openssl cms -cmsout -print` shows is openssl's reading, and the digests are `openssl dgst`'s.
    @Test func `names every code directory in Apple's two attributes`() throws {
        let signed = try SignedImage(TinyMachO(), [.sha1, .sha256], by: identity())
        let openssl = try #require(Tool("openssl"))
        let folder = try TemporaryFolder()
        try folder.write(try signed.blob(.signature).dropFirst(8), to: "cms")
        let shown = try openssl.run(["cms", "-cmsout", "-noout", "-print", "-inform", "DER", "-in", folder.path("cms")])
        let signer = try #require(shown.text.firstRange(of: "signedAttrs:")).upperBound
        let attributes = shown.text[signer...]
        let end = try #require(attributes.firstRange(of: "signatureAlgorithm:")).lowerBound
        let names = attributes[..<end].split(separator: "\n").compactMap { line in
            line.firstRange(of: "object: ").map {
                String(line[$0.upperBound...].drop { $0 != "(" }.dropFirst().dropLast())
            }
        }
        // DER sorts a SET by its encoding; each is there once.
        #expect(
            names.sorted() == [
                "1.2.840.113549.1.9.3", "1.2.840.113549.1.9.4", "1.2.840.113549.1.9.5", "1.2.840.113635.100.9.1",
                "1.2.840.113635.100.9.2",
            ]
        )
        #expect(shown.text.contains("Jun 15 15:06:40 2025 GMT"))

        func digest(_ slot: SuperBlob.Slot, _ algorithm: String) throws -> String {
            let result = try openssl.run(["dgst", "-r", algorithm], input: try signed.blob(slot))
            return String(result.text.prefix { $0 != " " })
        }
        let (sha1, sha256) = (
            try digest(.codeDirectory, "-sha1"), try digest(.alternateCodeDirectory, "-sha256")
        )
        let parsed = try openssl.run(["asn1parse", "-inform", "DER", "-in", folder.path("cms")]).text
        let lines = parsed.split(separator: "\n")
        let second = try #require(lines.firstIndex { $0.hasSuffix(":1.2.840.113635.100.9.2") })
        let values = lines[(second + 1)...(second + 7)].map { line in
            line.split(separator: ":").last.map { $0.trimmingPrefix { $0 == " " } } ?? ""
        }
        #expect(values[2] == "sha1")
        #expect(values[3] == sha1.uppercased())
        #expect(values[5] == "sha256")
        #expect(values[6] == sha256.uppercased())

        let message = try SignatureMessage.verify(
            try signed.blob(.signature).dropFirst(8),
            over: try signed.blob(.codeDirectory)
        )
        #expect(message.cdHashes?.map(\.hex) == [sha1, String(sha256.prefix(40))])
    }

    @Test(arguments: kinds, [4096, 16384])
    func `fills its room as computed`(kind: (name: String, algorithms: [HashAlgorithm]), pageSize: Int) throws {
        for linkEditSize in [16, 64, 40_000] {
            let tiny = TinyMachO { $0.linkEditSize = linkEditSize }
            let signed = try SignedImage(tiny, kind.algorithms, pageSize: pageSize, by: identity(kind.name))
            let room = try signed.room
            let length = Int(try ByteReader(signed.bytes).integer(at: room.lowerBound + 4, as: UInt32.self, .big))
            // An elliptic curve's signature may be some bytes shorter than the longest.
            let slack = kind.name == "rsa" ? 15 : 15 + 32
            #expect((0...slack).contains(room.count - length))
            #expect(signed.bytes[(room.lowerBound + length)...].allSatisfy { $0 == 0 })
        }
    }

    @Test func `fits its room, however long the curve's numbers come out`() throws {
        let identity = try identity()
        // One in 128 numbers is a byte shorter, and each is a fresh draw.
        for _ in 0..<200 {
            let room = try identity.messageRoom(for: [.sha256])
            let message = try SignatureMessage.sign(
                [1],
                digests: [.init(of: [1], .sha256)],
                by: identity,
                at: SignedImage.time
            )
            #expect(message.count + 8 <= room)
        }
    }

    @Test func `is refused where the room is too small, not cut`() throws {
        let identity = try identity("rsa")
        let tiny = TinyMachO()
        let image = try MachOImage(tiny.bytes[...])
        let recipe = try SignatureRecipe(
            identifier: "a",
            image: image,
            algorithms: [.sha256],
            pageSize: 4096,
            entitlements: nil,
            isBundleExecutable: false,
            identity: identity
        )
        let slots = [UInt8](repeating: 1, count: 64)
        let size = recipe.size(codeLimit: 0x1040)
        func sign(_ room: Int) throws -> [UInt8] {
            try recipe.signature(
                codeSlots: [slots],
                codeLimit: 0x1040,
                room: room,
                infoPlist: nil,
                resources: nil,
                identity: identity,
                time: 0
            )
        }
        #expect(try sign(size).count == size)
        let error = #expect(throws: CodeSignatureError.self) { try sign(size - 16) }
        #expect(error?.code == .room)
    }

    @Test func `of equal input is equal but for its time`() throws {
        let identity = try identity("rsa")
        #expect(try SignedImage(by: identity).bytes == SignedImage(by: identity).bytes)
    }

    @Test(arguments: [(true, 0x11), (false, 0x01)] as [(Bool, UInt64)])
    func `lets a debugger in only where get-task-allow is true`(isAllowed: Bool, flags: UInt64) throws {
        let signed = try SignedImage(entitlements: ["get-task-allow": .boolean(isAllowed)], by: identity())
        let directory = try CodeDirectory(parsing: try signed.blob(.codeDirectory))
        #expect(directory.execSegment == .init(base: 0, limit: 0x1000, flags: flags))
        #expect(directory.flags == 0)
        #expect(try signed.faultCodes == [])
    }

    @Test func `of a library has neither entitlements nor the main-binary flag`() throws {
        let library = TinyMachO { $0.fileType = 6 }
        let signed = try SignedImage(library, entitlements: ["a": true], by: identity())
        #expect(try signed.blobs[.entitlements] == nil)
        #expect(try signed.blobs[.entitlementsDER] == nil)
        let directory = try CodeDirectory(parsing: try signed.blob(.codeDirectory))
        #expect(directory.execSegment?.flags == 0)
        #expect(directory.specialSlots.count == 3)
        #expect(try signed.faultCodes == [])
    }
}
