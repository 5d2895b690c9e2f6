import FerryAppBundle
import FerryBytes
import FerryMachO
import FerryPropertyList
import Foundation
import TestKit
import Testing

@testable import FerryCodeSignature
@testable import FerrySigning

/// A way to damage a signed archive, and all that must be said of it.
private struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let codes: Set<String>
    let spoil: @Sendable (inout Archive) throws -> Void

    init(_ name: String, _ codes: Set<String>, _ spoil: @escaping @Sendable (inout Archive) throws -> Void) {
        testDescription = name
        self.codes = codes
        self.spoil = spoil
    }

    private static let app = "Payload/A.app/"

    private static func flip(_ archive: inout Archive, _ name: String, at offset: Int) throws {
        var bytes = try #require(archive[app + name])
        bytes[offset < 0 ? bytes.count + offset : offset] ^= 1
        archive[app + name] = bytes
    }

    /// Changes the code directory of an executable and signs it anew.
    private static func resign(
        _ archive: inout Archive,
        _ name: String,
        by signer: String = "leaf",
        _ change: (inout CodeDirectory) -> Void
    ) throws {
        var bytes = try #require(archive[app + name])
        let room = try #require(try MachOImage(bytes[...]).codeSignature)
        let old = try SuperBlob(parsing: bytes[room.offset..<room.end])
        var directory = try CodeDirectory(parsing: try #require(old[.codeDirectory]))
        change(&directory)
        let primary = directory.encoded()
        let message = try SignatureMessage.sign(
            primary,
            digests: [.init(of: primary, .sha256)],
            by: Hands.identity(signer),
            at: Hands.now
        )
        let new = SuperBlob(
            old.blobs.map { blob in
                switch blob.slot {
                case .codeDirectory: .init(slot: blob.slot, bytes: primary)
                case .signature: .init(slot: blob.slot, bytes: SuperBlob.blob(SuperBlob.Magic.wrapper, message))
                default: blob
                }
            }
        ).encoded()
        try #require(new.count <= room.size)
        bytes.replaceSubrange(
            room.offset..<room.end,
            with: new + [UInt8](repeating: 0, count: room.size - new.count)
        )
        archive[app + name] = bytes
    }

    static let all: [Damage] = [
        Damage("none", []) { _ in },
        Damage("a byte of code", ["page-hash"]) { try flip(&$0, "A", at: 0xFFF) },
        Damage("a byte of the framework's code", ["page-hash", "sealed-file-changed"]) {
            try flip(&$0, "Frameworks/F.framework/A", at: 0xFFF)
        },
        Damage("a byte of a loose library", ["page-hash", "sealed-file-changed"]) {
            try flip(&$0, "x.dylib", at: 0xFFF)
        },
        Damage("a byte of a resource", ["sealed-file-changed"]) { try flip(&$0, "a.txt", at: 3) },
        Damage("a missing file", ["sealed-file-missing"]) { $0[app + "a.txt"] = nil },
        Damage("a missing optional file", []) { $0[app + "en.lproj/a.strings"] = nil },
        Damage("an extra file", ["file-not-sealed"]) { $0[app + "extra.txt"] = [1] },
        Damage("an extra file in the extension", ["file-not-sealed"]) { $0[app + "PlugIns/W.appex/extra.txt"] = [1] },
        Damage("a link that points elsewhere", ["sealed-file-changed"]) { $0[app + "link"] = Array("A".utf8) },
        Damage("another Info.plist", ["info-plist-hash", "sealed-file-changed"]) { archive in
            let info = try PropertyList.parse(try #require(archive[app + "Info.plist"])[...]).value
            archive[app + "Info.plist"] = info.encoded(as: .xml)
        },
        Damage("another seal", ["resources-hash"]) { $0[app + "_CodeSignature/CodeResources"]?.append(10) },
        Damage("no seal", ["seal-missing", "resources-hash"]) { $0[app + "_CodeSignature/CodeResources"] = nil },
        Damage("a seal that is none", ["seal-missing", "resources-hash"]) {
            $0[app + "_CodeSignature/CodeResources"] = [1, 2, 3]
        },
        Damage("a wrong special slot", ["requirements-hash"]) {
            try resign(&$0, "A") { $0.specialSlots[1][0] ^= 1 }
        },
        Damage("a broken CMS", ["cms-invalid"]) { archive in
            let bytes = try #require(archive[app + "A"])
            let room = try #require(try MachOImage(bytes[...]).codeSignature)
            let length = Int(try ByteReader(bytes).integer(at: room.offset + 4, as: UInt32.self, .big))
            // The CMS is the last blob, and the signature the last thing in it.
            try flip(&archive, "A", at: room.offset + length - 1)
        },
        Damage("no main-binary flag", ["main-binary-flag"]) { try resign(&$0, "A") { $0.execSegment?.flags = 0 } },
        Damage("no main-binary flag on the extension", ["main-binary-flag", "sealed-file-changed"]) {
            try resign(&$0, "PlugIns/W.appex/A") { $0.execSegment?.flags = 0 }
        },
        Damage("another's signature", ["signer-not-in-profile", "several-signers"]) {
            try resign(&$0, "A", by: "stranger") { _ in }
        },
        Damage("another's profile", ["signer-not-in-profile", "sealed-file-changed"]) {
            $0[app + "embedded.mobileprovision"] = try Hands.profile(signers: ["stranger"]).bytes
        },
        Damage("no profile", ["profile-missing", "sealed-file-missing"]) { $0[app + "embedded.mobileprovision"] = nil },
        Damage("a profile that is none", ["profile-missing", "sealed-file-changed"]) {
            $0[app + "embedded.mobileprovision"] = [1]
        },
        Damage("a profile for another app", ["profile-mismatch", "sealed-file-changed"]) {
            $0[app + "embedded.mobileprovision"] = try Hands.profile("com.other").bytes
        },
        Damage("an executable that may not be run", ["permissions"]) { archive in
            let index = try #require(archive.entries.firstIndex { $0.name == app + "A" })
            archive.entries[index].mode = 0o100644
        },
        Damage("an executable without a signature", ["unsigned", "application-identifier"]) {
            $0[app + "A"] = TinyMachO().bytes
        },
        Damage("an executable that is a script", ["mach-o"]) { $0[app + "A"] = Array("#!/bin/sh\nexit 0\n".utf8) },
        Damage("an executable that is cut", ["mach-o"]) { $0[app + "A"]?.removeLast(100) },
        Damage(
            "an extension of another's identifier",
            [
                "id-not-under-host", "identifier", "info-plist-hash", "sealed-file-changed", "application-identifier",
            ]
        ) {
            let info: PropertyList = ["CFBundleIdentifier": "org.other", "CFBundleExecutable": "A"]
            $0[app + "PlugIns/W.appex/Info.plist"] = info.encoded(as: .xml)
        },
        Damage("an Info.plist that is none", ["bundle-infoPlistUnreadable"]) { $0[app + "Info.plist"] = [1, 2, 3] },
        Damage("two apps", ["archive"]) { $0.add("Payload/B.app", id: "com.b") },
    ]

    /// Signed once.
    static let signed = Task { () async throws -> Archive in
        let desk = try Desk(.sample())
        try await desk.sign(try Hands.options())
        return try Archive(path: desk.output)
    }
}

@Suite(.enabled(if: Hands.usable, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `A check of an archive` {
    @Test(arguments: Damage.all)
    private func `finds the damage, and nothing else`(damage: Damage) async throws {
        var archive = try await Damage.signed.value
        try damage.spoil(&archive)
        let folder = try TemporaryFolder()
        let path = try folder.write(archive.bytes(), to: "a.ipa")
        let faults = try await Hands.signer.verify(path)
        #expect(Set(faults.map(\.code.rawValue)) == damage.codes, "\(faults.map(\.message))")
        for fault in faults {
            #expect(fault.place.contains("Payload/") || fault.place == path)
            #expect(!fault.isWarning)
        }
    }

    @Test func `tells apart what has expired`() async throws {
        let desk = try Desk(.sample())
        var options = try Hands.options()
        options.profiles = [try Hands.profile(expiresInDays: 30)]
        try await desk.sign(options)
        #expect(try await desk.faults(with: Hands.signer(daysLater: 29)) == [])
        #expect(try await desk.faults(with: Hands.signer(daysLater: 31)) == ["profile-expired"])
        #expect(
            try await desk.faults(with: Hands.signer(daysLater: 400)) == ["profile-expired", "certificate-expired"]
        )
        #expect(try await desk.faults(with: Hands.signer(daysLater: -30)) == ["certificate-expired"])
    }

    @Test(arguments: [0, 1, 21, 22, 100, 3000])
    func `of a file that is cut is a fault of the archive`(length: Int) async throws {
        let bytes = try await Damage.signed.value.bytes()
        let folder = try TemporaryFolder()
        let path = try folder.write(bytes[..<length], to: "a.ipa")
        let faults = try await Hands.signer.verify(path)
        #expect(faults.map(\.code.rawValue) == ["archive"])
        #expect(faults.map(\.place) == [path])
    }

    @Test func `never traps, whatever byte of it is another`() async throws {
        let bytes = try await Damage.signed.value.bytes()
        var generator = SeededGenerator(seed: 11)
        let folder = try TemporaryFolder()
        for round in 0..<60 {
            var changed = bytes
            for _ in 0..<3 {
                changed[Int.random(in: changed.indices, using: &generator)] ^= UInt8.random(
                    in: 1...255,
                    using: &generator
                )
            }
            let path = try folder.write(changed, to: "a.ipa")
            #expect(try await Hands.signer.verify(path).isEmpty == false, "round \(round), seed \(generator.seed)")
        }
    }
}
