import FerryBytes
import FerryMachO
import FerryPropertyList
import Foundation
import TestKit
import Testing

@testable import FerryCodeSignature

/// An identity of the tests' own authority.
func identity(_ name: String = "leaf") throws -> Identity {
    try Identity(pkcs12: TestAuthority.shared.get().file(name + ".p12"), password: Secret(TestAuthority.password))
}

/// An image that was signed for the tests, and what belongs to it.
struct SignedImage {
    static let identifier = "com.test.app"
    static let infoPlist = Digests(of: Array("Info.plist".utf8))
    static let resources = Digests(of: Array("CodeResources".utf8))
    static let time: Int64 = 1_750_000_000

    var bytes: [UInt8]
    let identity: Identity
    var context = ImageVerifier.Context(
        place: "a",
        infoPlist: infoPlist,
        resources: resources,
        identifier: identifier
    )

    /// Signs a whole image as the executable of a bundle.
    init(
        _ tiny: TinyMachO = .roomy(),
        _ algorithms: [HashAlgorithm] = [.sha256],
        pageSize: Int = 4096,
        entitlements: PropertyList.Dictionary? = ["application-identifier": "T.com.test.app", "get-task-allow": false],
        by identity: Identity
    ) throws {
        self.identity = identity
        let image = try MachOImage(tiny.bytes[...])
        let recipe = try SignatureRecipe(
            identifier: Self.identifier,
            image: image,
            algorithms: algorithms,
            pageSize: pageSize,
            entitlements: entitlements,
            isBundleExecutable: true,
            identity: identity
        )
        let layout = try image.signatureLayout(
            in: tiny.bytes[...],
            needed: recipe.size(codeLimit: try #require(image.expectedCodeLimit))
        )
        bytes = Array(tiny.bytes[..<layout.contentEnd])
        for edit in layout.edits {
            bytes.replaceSubrange(edit.offset..<edit.offset + edit.bytes.count, with: edit.bytes)
        }
        bytes += [UInt8](repeating: 0, count: layout.codeLimit - bytes.count)
        let slots = bytes.withUnsafeBytes { code in
            algorithms.map { PageHasher.slots(of: code, pageSize: pageSize, with: Digester($0)) }
        }
        bytes += try recipe.signature(
            codeSlots: slots,
            codeLimit: layout.codeLimit,
            room: layout.signatureSize,
            infoPlist: Self.infoPlist,
            resources: Self.resources,
            identity: identity,
            time: Self.time
        )
    }

    var image: MachOImage {
        get throws { try MachOImage(bytes[...]) }
    }

    /// The area of the signature.
    var room: Range<Int> {
        get throws {
            let region = try #require(try image.codeSignature)
            return region.offset..<region.end
        }
    }

    var blobs: SuperBlob {
        get throws { try SuperBlob(parsing: bytes[try room]) }
    }

    func blob(_ slot: SuperBlob.Slot) throws -> [UInt8] {
        try #require(try blobs[slot])
    }

    /// The codes of all faults, warnings too.
    var faultCodes: Set<Fault.Code> {
        get throws {
            Set(ImageVerifier.verify(try image, in: bytes[...], context: context).faults.map(\.code))
        }
    }

    /// Puts another signature into the room.
    mutating func put(_ signature: [UInt8]) throws {
        let room = try room
        try #require(signature.count <= room.count)
        bytes.replaceSubrange(room, with: signature + [UInt8](repeating: 0, count: room.count - signature.count))
    }
}

/// A signature taken apart.
struct Parts {
    var directories: [CodeDirectory]
    var blobs: [SuperBlob.Slot: [UInt8]]
    /// Whether the message is made anew over the changed code directories.
    var isSignedAnew = true
    /// What the message says of the code directories, in place of the truth.
    var digests: [SignatureMessage.DirectoryDigest]?

    /// Puts a blob in, and its hash into every code directory.
    mutating func set(_ slot: SuperBlob.Slot, _ special: CodeDirectory.SpecialSlot, to blob: [UInt8]) {
        blobs[slot] = blob
        for index in directories.indices {
            let algorithm = directories[index].algorithm
            while directories[index].specialSlots.count < special.rawValue {
                directories[index].specialSlots.append([UInt8](repeating: 0, count: algorithm.size))
            }
            directories[index].specialSlots[special.rawValue - 1] = algorithm.digest(blob)
        }
    }
}

extension SignedImage {
    /// Takes the signature apart, lets `change` have its way, and puts it together again.
    mutating func edit(_ change: (inout Parts) throws -> Void) throws {
        let old = try blobs
        var parts = Parts(
            directories: try old.blobs.filter { $0.slot.isCodeDirectory }.map { try CodeDirectory(parsing: $0.bytes) },
            blobs: Dictionary(uniqueKeysWithValues: old.blobs.map { ($0.slot, $0.bytes) })
        )
        try change(&parts)
        for slot in parts.blobs.keys where slot.isCodeDirectory { parts.blobs[slot] = nil }
        var digests: [SignatureMessage.DirectoryDigest] = []
        for (index, directory) in parts.directories.enumerated() {
            let encoded = directory.encoded()
            digests.append(.init(of: encoded, directory.algorithm))
            parts.blobs[.init(rawValue: index == 0 ? 0 : 0xFFF + UInt32(index))] = encoded
        }
        if parts.isSignedAnew, parts.blobs[.signature] != nil, let primary = parts.blobs[.codeDirectory] {
            let message = try SignatureMessage.sign(
                primary,
                digests: parts.digests ?? digests,
                by: identity,
                at: Self.time
            )
            parts.blobs[.signature] = SuperBlob.blob(SuperBlob.Magic.wrapper, message)
        }
        try put(SuperBlob(parts.blobs.map { .init(slot: $0.key, bytes: $0.value) }).encoded())
    }
}

extension TinyMachO {
    /// One with more room for a signature than any needs.
    static func roomy(_ change: (inout TinyMachO) -> Void = { _ in }) -> TinyMachO {
        TinyMachO {
            $0.signatureRoom = 0x8000
            change(&$0)
        }
    }
}
