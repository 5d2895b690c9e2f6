import FerryMachO
import Foundation
import TestKit
import Testing

@testable import FerryCodeSignature

/// Files of an archive whose signature Apple's own tool made.
private struct AppleMade {
    let executable: [UInt8]
    let image: MachOImage
    let blobs: SuperBlob

    static let usable = SharedFolder.exists && Tool("unzip") != nil

    static func file(_ name: String) throws -> [UInt8] {
        let unzip = try #require(Tool("unzip"))
        let archive = SharedFolder.corpus("fastlane-very-capable-app.ipa")
        return try unzip.run(["-p", archive, "Payload/very-capable-app.app/" + name]).output
    }

    init() throws {
        executable = try Self.file("very-capable-app")
        // Its slices are signed alike; the last is for 64-bit devices.
        let file = try MachOFile(executable)
        let slice = try #require(file.slices.last)
        image = slice.image
        let room = try #require(image.codeSignature)
        let start = slice.offset + room.offset
        blobs = try SuperBlob(parsing: executable[start..<start + room.size])
    }
}

@Suite(.enabled(if: AppleMade.usable, "\(SharedFolder.absent), or unzip is missing"))
struct `A signature that Apple's tool made` {
    @Test func `has no fault in its pages, slots and message`() throws {
        let app = try AppleMade()
        let context = ImageVerifier.Context(
            place: "very-capable-app",
            infoPlist: Digests(of: try AppleMade.file("Info.plist")),
            resources: Digests(of: try AppleMade.file(ResourceSeal.path))
        )
        for slice in try MachOFile(app.executable).slices {
            let bytes = app.executable[slice.offset..<slice.offset + slice.image.count]
            let report = ImageVerifier.verify(slice.image, in: bytes, context: context)
            #expect(report.faults.filter { !$0.isWarning } == [])
            #expect(report.message != nil)
        }
    }

    @Test func `is written back byte for byte`() throws {
        let app = try AppleMade()
        #expect(SuperBlob(app.blobs.blobs).blobs == app.blobs.blobs)
        for blob in app.blobs.blobs where blob.slot.isCodeDirectory {
            let directory = try CodeDirectory(parsing: blob.bytes)
            // Only from this version on does our writer lay out all that Apple's did.
            guard directory.version == 0x20400 else { continue }
            #expect(directory.encoded() == blob.bytes)
        }
    }

    @Test func `has the designated requirement that we would write`() throws {
        let app = try AppleMade()
        let report = ImageVerifier.verify(
            app.image,
            in: app.executable[...].suffix(app.image.count),
            context: .init(place: "a")
        )
        let directory = try CodeDirectory(parsing: try #require(app.blobs[.codeDirectory]))
        let primary = try #require(app.blobs[.codeDirectory])
        let signature = try #require(app.blobs[.signature])
        let message = try SignatureMessage.verify(signature.dropFirst(8), over: primary)
        let ours = try DesignatedRequirement.encoded(
            identifier: directory.identifier,
            leaf: message.signer,
            chain: []
        )
        #expect(ours == app.blobs[.requirements])
        #expect(directory.team == nil || directory.team == message.signer.organizationalUnit)
        #expect(!report.isAdHoc)
    }

    @Test(arguments: [0x0000, 0x1000, 0x3FFF])
    func `is at fault once a byte of code is another`(offset: Int) throws {
        var app = try AppleMade().executable
        let slice = try #require(try MachOFile(app).slices.last)
        app[slice.offset + offset] ^= 1
        let image = slice.image
        let report = ImageVerifier.verify(
            image,
            in: app[slice.offset..<slice.offset + image.count],
            context: .init(place: "a")
        )
        #expect(report.faults.contains { $0.code == .pageHash })
    }
}
