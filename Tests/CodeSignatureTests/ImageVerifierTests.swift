import FerryBytes
import FerryMachO
import FerryPropertyList
import TestKit
import Testing

@testable import FerryCodeSignature

/// A way to spoil a signature, and all that must be said of it.
private struct Harm: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let tiny: TinyMachO
    var algorithms: [HashAlgorithm] = [.sha256]
    let codes: Set<Fault.Code>
    let spoil: @Sendable (inout SignedImage) throws -> Void

    init(
        _ name: String,
        _ codes: Set<Fault.Code>,
        _ algorithms: [HashAlgorithm] = [.sha256],
        of tiny: TinyMachO = .roomy(),
        _ spoil: @escaping @Sendable (inout SignedImage) throws -> Void = { _ in }
    ) {
        testDescription = name
        self.codes = codes
        self.algorithms = algorithms
        self.tiny = tiny
        self.spoil = spoil
    }

    /// One that changes the parts of the signature, and then signs them.
    static func parts(
        _ name: String,
        _ codes: Set<Fault.Code>,
        _ change: @escaping @Sendable (inout Parts) throws -> Void
    ) -> Harm {
        Harm(name, codes) { try $0.edit(change) }
    }

    private static let xml = PropertyList.dictionary(["a": true]).encoded(as: .xml)

    static let all: [Harm] = [
        Harm("no harm at all", []),
        Harm("encrypted code", [.encrypted], of: .roomy { $0.cryptID = 1 }),
        Harm("bytes behind the signature", [.signaturePlace]) { $0.bytes += [0] },
        Harm("a signature that begins askew", [.signaturePlace, .codeLimit, .pageHash, .signatureMalformed]) { signed in
            // LC_CODE_SIGNATURE is the last command; its data begins four bytes early and ends where it did.
            let command = try #require(try signed.image.loadCommands.last)
            let room = try signed.room
            signed.bytes.store(UInt32(room.lowerBound - 4), at: command.offset + 8, .little)
            signed.bytes.store(UInt32(room.count + 4), at: command.offset + 12, .little)
        },
        Harm("another magic number", [.signatureMalformed]) { signed in
            signed.bytes[try signed.room.lowerBound] = 0
        },
        .parts("no code directory", [.signatureMalformed]) { $0.directories = [] },
        .parts("two code directories of one hash", [.signatureMalformed]) { $0.directories.append($0.directories[0]) },
        Harm("SHA-1 alone", [.digestMissing], [.sha1]),
        Harm("no SHA-1 for iOS 10", [.digestMissing], of: .roomy { $0.minimumOS = 10 << 16 }),
        .parts("a code directory without the exec segment", [.directoryVersion]) {
            $0.directories[0].version = 0x20300
        },
        .parts("a code limit before the signature", [.codeLimit, .pageHash]) { $0.directories[0].codeLimit -= 16 },
        .parts("a code limit past the end", [.codeLimit, .slotCount]) { $0.directories[0].codeLimit = .max },
        .parts("a page too few", [.slotCount]) { $0.directories[0].codeSlots.removeLast(32) },
        Harm("another byte of code", [.pageHash]) { $0.bytes[0x1000] ^= 1 },
        Harm("another Info.plist", [.infoPlistHash]) { $0.context.infoPlist = Digests(of: [1]) },
        .parts("no hash of the Info.plist", [.infoPlistHash]) {
            $0.directories[0].specialSlots[0] = [UInt8](repeating: 0, count: 32)
        },
        Harm("another seal", [.resourcesHash]) { $0.context.resources = Digests(of: [1]) },
        Harm("no seal", [.resourcesHash]) { $0.context.resources = nil },
        .parts("other requirements", [.requirementsHash]) { $0.blobs[.requirements]?[40] ^= 1 },
        .parts("no requirements", [.requirementsHash]) { $0.blobs[.requirements] = nil },
        .parts("no entitlements where there is a hash", [.entitlementsHash]) { $0.blobs[.entitlements] = nil },
        .parts("other entitlements", [.entitlementsHash, .entitlementsForm]) {
            $0.blobs[.entitlements] = SuperBlob.blob(SuperBlob.Magic.entitlements, xml)
        },
        .parts("entitlements that differ in DER", [.entitlementsForm]) {
            $0.set(.entitlements, .entitlements, to: SuperBlob.blob(SuperBlob.Magic.entitlements, xml))
        },
        .parts("entitlements that are no property list", [.entitlementsForm]) {
            $0.set(.entitlements, .entitlements, to: SuperBlob.blob(SuperBlob.Magic.entitlements, [1, 2, 3]))
        },
        .parts("DER entitlements of version 0", [.entitlementsForm]) {
            $0.set(
                .entitlementsDER,
                .entitlementsDER,
                to: SuperBlob.blob(SuperBlob.Magic.entitlementsDER, [0x31, 0])
            )
        },
        .parts("no DER entitlements", [.entitlementsForm]) {
            $0.blobs[.entitlementsDER] = nil
            $0.directories[0].specialSlots.removeLast(2)
        },
        Harm("entitlements on a library", [.entitlementsOnLibrary], of: .roomy { $0.fileType = 6 }) { signed in
            try signed.edit {
                $0.set(.entitlements, .entitlements, to: SuperBlob.blob(SuperBlob.Magic.entitlements, xml))
            }
        },
        .parts("no main-binary flag", [.mainBinaryFlag]) { $0.directories[0].execSegment?.flags = 0 },
        Harm("the main-binary flag on a library", [.mainBinaryFlag], of: .roomy { $0.fileType = 6 }) { signed in
            try signed.edit { $0.directories[0].execSegment?.flags = 1 }
        },
        .parts("the allow-unsigned flag", [.allowUnsignedFlag]) { $0.directories[0].execSegment?.flags = 0x11 },
        .parts("an exec segment of another size", [.execSegment]) { $0.directories[0].execSegment?.limit += 1 },
        .parts("no CMS", [.messageMissing]) { $0.blobs[.signature] = nil },
        .parts("an empty CMS", [.messageMissing]) {
            $0.blobs[.signature] = SuperBlob.blob(SuperBlob.Magic.wrapper, [])
            $0.isSignedAnew = false
        },
        .parts("an ad hoc signature", []) {
            $0.blobs[.signature] = nil
            $0.directories[0].flags = 2
        },
        .parts("a CMS over another code directory", [.messageInvalid]) {
            $0.directories[0].team = "OTHER"
            $0.isSignedAnew = false
        },
        .parts("a CMS that is none", [.messageInvalid]) {
            $0.blobs[.signature] = SuperBlob.blob(SuperBlob.Magic.wrapper, [1, 2, 3])
            $0.isSignedAnew = false
        },
        .parts("a CMS that names another code directory", [.messageDigests]) {
            $0.digests = [.init(of: [1], .sha256)]
        },
        Harm(
            "a CMS that leaves out the second code directory",
            [.messageDigests],
            [.sha1, .sha256],
            of: .roomy { $0.minimumOS = 10 << 16 }
        ) { signed in
            try signed.edit { $0.digests = [.init(of: $0.directories[0].encoded(), .sha1)] }
        },
        .parts("a CMS without the chain and Apple's attributes", [.chainIncomplete, .messageDigests]) { parts in
            let authority = try TestAuthority.shared.get()
            let made = try #require(Tool("openssl")).run(
                ["cms", "-sign", "-binary", "-outform", "DER", "-signer", "leaf.pem", "-inkey", "leaf.key"],
                input: parts.directories[0].encoded(),
                in: authority.folder.path
            )
            parts.blobs[.signature] = SuperBlob.blob(SuperBlob.Magic.wrapper, made.output)
            parts.isSignedAnew = false
        },
        Harm("another identifier", [.identifier]) { $0.context.identifier = "com.other" },
    ]
}

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `A check of one image` {
    @Test(arguments: Harm.all)
    private func `finds the harm, and nothing else`(harm: Harm) throws {
        var signed = try SignedImage(harm.tiny, harm.algorithms, by: identity())
        try harm.spoil(&signed)
        let report = ImageVerifier.verify(try signed.image, in: signed.bytes[...], context: signed.context)
        if harm.testDescription.contains("askew") {
            // The magic number is not there, and that is told beside the place.
            #expect(Set(report.faults.map(\.code)) == [.signaturePlace, .signatureMalformed])
        } else {
            #expect(Set(report.faults.map(\.code)) == harm.codes)
        }
        for fault in report.faults {
            #expect(fault.place == "a")
            #expect(fault.message.hasSuffix("."))
            #expect(fault.remedy != nil || fault.isWarning)
        }
    }

    @Test func `says so of an image that was never signed`() throws {
        let bytes = TinyMachO().bytes
        let report = ImageVerifier.verify(try MachOImage(bytes[...]), in: bytes[...], context: .init(place: "a"))
        #expect(report.faults.map(\.code) == [.unsigned])
    }

    @Test func `of loose code asks for no Info.plist and no seal`() throws {
        var signed = try SignedImage(by: identity())
        signed.context.infoPlist = nil
        signed.context.resources = nil
        #expect(try signed.faultCodes == [])
    }

    @Test(
        arguments: [
            (1, 10 << 16 | 11 << 8 | 3, true), (1, 10 << 16 | 11 << 8 | 4, false), (2, 10 << 16 | 3 << 8, true),
            (2, 11 << 16, false), (3, 10 << 16, true), (3, 11 << 16, false), (4, 11 << 16, true), (4, 12 << 16, false),
            (7, 9 << 16, false), (0, 0, false),
        ] as [(UInt32, UInt32, Bool)]
    )
    func `wants SHA-1 as Apple's signer does`(platform: UInt32, minimum: UInt32, wanted: Bool) throws {
        let tiny = TinyMachO {
            $0.platform = platform
            $0.minimumOS = minimum
        }
        #expect(DigestPolicy.wantsSHA1(try MachOImage(tiny.bytes[...])) == wanted)
    }

    /// Each byte of the superblob's index and the code directory's header, and some of the rest.
    @Test func `ends at every change of the signature, without a trap`() throws {
        let signed = try SignedImage(TinyMachO(), [.sha1, .sha256], by: identity())
        let room = try signed.room
        let image = try signed.image
        let all =
            Array(room.lowerBound..<room.lowerBound + 400)
            + stride(from: room.lowerBound + 400, to: room.upperBound, by: 61)
        for index in all {
            for mask: UInt8 in [0x01, 0xFF] {
                var changed = signed.bytes
                changed[index] ^= mask
                _ = ImageVerifier.verify(image, in: changed[...], context: signed.context)
            }
        }
    }
}

@Suite(.enabled(if: TestAuthority.exists, "\(TestAuthority.absent)"))
struct `A signature that is cut or changed` {
    @Test func `is an error at every length`() throws {
        let signed = try SignedImage(by: identity())
        let whole = try signed.blobs.encoded()
        for length in 0..<whole.count {
            #expect(throws: CodeSignatureError.self, "\(length)") { try SuperBlob(parsing: whole[..<length]) }
        }
        let directory = try signed.blob(.codeDirectory)
        for length in 0..<directory.count {
            #expect(throws: CodeSignatureError.self, "\(length)") {
                try CodeDirectory(parsing: Array(directory[..<length]))
            }
        }
        let message = try signed.blob(.signature).dropFirst(8)
        for length in stride(from: 0, to: message.count, by: 7) {
            #expect(throws: CodeSignatureError.self, "\(length)") {
                try SignatureMessage.verify(message.prefix(length), over: directory)
            }
        }
    }

    @Test func `says what its changed code directory says, or that it cannot be read`() throws {
        let directory = try SignedImage(by: identity()).blob(.codeDirectory)
        for index in 0..<88 {
            for bit in 0..<8 {
                var changed = directory
                changed[index] ^= 1 << bit
                guard let read = try? CodeDirectory(parsing: changed) else { continue }
                #expect(read.codeSlots.count + read.specialSlots.joined().count <= directory.count)
            }
        }
    }

    @Test func `in its message is never right, whatever byte is another`() throws {
        let signed = try SignedImage(by: identity())
        let directory = try signed.blob(.codeDirectory)
        let message = try signed.blob(.signature).dropFirst(8)
        var accepted = 0
        for index in stride(from: message.startIndex, to: message.endIndex, by: 5) {
            var changed = Array(message)
            changed[index - message.startIndex] ^= 0x20
            if (try? SignatureMessage.verify(changed[...], over: directory)) != nil { accepted += 1 }
        }
        // A changed certificate of the chain is no part of what is signed.
        let certificates = try identity().chain.reduce(0) { $0 + $1.der.count } + (try identity().leaf.der.count)
        #expect(accepted <= certificates / 5 + 1)
    }

    @Test func `does not hold many blobs of the same bytes`() throws {
        // 64 blobs, each of nearly the whole room: as little input as possible for as much memory as possible.
        let size = 1 << 20
        var bytes: [UInt8] = []
        bytes.append(SuperBlob.Magic.superBlob, .big)
        bytes.append(UInt32(size), .big)
        bytes.append(UInt32(64), .big)
        for slot in 0..<64 {
            bytes.append(UInt32(slot), .big)
            bytes.append(UInt32(12 + 64 * 8), .big)
        }
        bytes.append(UInt32(0), .big)
        bytes.append(UInt32(size - bytes.count - 4 + 4), .big)
        bytes += [UInt8](repeating: 0, count: size - bytes.count)
        let error = #expect(throws: CodeSignatureError.self) { try SuperBlob(parsing: bytes[...]) }
        #expect(error?.code == .malformed)
    }

    @Test(arguments: [
        ("a slot twice", 1, 0), ("a blob outside", 1 << 16, 1), ("65 blobs", 1, 2),
    ])
    func `with an index that lies is refused`(name: String, offset: Int, kind: Int) throws {
        let blob = SuperBlob.blob(SuperBlob.Magic.requirements, [0, 0, 0, 0])
        var bytes = SuperBlob([.init(slot: .requirements, bytes: blob), .init(slot: .entitlements, bytes: blob)])
            .encoded()
        switch kind {
        case 0: bytes.store(UInt32(2), at: 20, .big)
        case 1: bytes.store(UInt32(offset), at: 24, .big)
        default: bytes.store(UInt32(65), at: 8, .big)
        }
        #expect(throws: CodeSignatureError.self) { try SuperBlob(parsing: bytes[...]) }
    }
}
