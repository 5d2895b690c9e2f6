import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryPropertyList
import FerrySigning
import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Hands.usable, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `Without an identity` {
    private let app = "Payload/A.app/"

    /// An archive that was signed, with entitlements.
    private func signed(_ change: (inout Archive) -> Void = { _ in }) async throws -> Desk {
        let desk = try Desk(.sample(change))
        var options = try Hands.options()
        options.entitlements = ["com.example.anything": true]
        options.profiles = [try Hands.profile(granting: ["com.example.anything"])]
        try await desk.sign(options)
        try FileManager.default.removeItem(atPath: desk.input)
        try FileManager.default.moveItem(atPath: desk.output, toPath: desk.input)
        return desk
    }

    @Test func `an ad-hoc signature is nobody's, and keeps what the app is entitled to`() async throws {
        let desk = try await signed()
        var options = SigningOptions(.adHoc)
        options.bundleIdentifier = "org.other"
        let archive = try await desk.sign(options)
        #expect(archive.identifier == "org.other")
        #expect(try await desk.faults() == [])
        // `CS_SuperBlob`, `CS_CodeDirectory` as XNU's cs_blobs.h has them, read by Python.
        let seen = try await Outside.ask(
            desk.output,
            """
            (lambda d, s: (lambda blobs: [
                hex(struct.unpack('>I', blobs[0][12:16])[0]),
                blobs[0x10000].hex(), blobs[2].hex(),
                {k: v for k, v in plistlib.loads(blobs[5][8:]).items() if k != 'get-task-allow'},
            ])({t: d[s + o:s + o + struct.unpack('>I', d[s + o + 4:s + o + 8])[0]]
                for t, o in struct.iter_unpack('>II', d[s + 12:s + 12 + 8 * struct.unpack('>I', d[s + 8:s + 12])[0]])})
            )(b('A'), b('A').index(bytes.fromhex('fade0cc0')))
            """
        )
        let team = TestAuthority.team
        #expect(
            seen == "[\"0x2\", \"fade0b0100000008\", \"fade0c010000000c00000000\", {\"application-identifier\": "
                + "\"\(team).org.other\", \"com.apple.developer.team-identifier\": \"\(team)\", "
                + "\"com.example.anything\": true}]"
        )
    }

    @Test func `an ad-hoc signature takes the entitlements that are given, and profiles where there are any`()
        async throws
    {
        let desk = try await signed()
        var options = SigningOptions(.adHoc)
        options.entitlements = ["a.b": [1, 2]]
        try await desk.sign(options)
        let inspection = try await Hands.signer.inspect(desk.output)
        let executable = inspection.code.first { $0.path == app + "A" }
        #expect(executable?.images.first?.signature?.isAdHoc == true)
        #expect(inspection.bundles.first?.entitlements == ["a.b": [1, 2]])
        options.entitlements = nil
        options.profiles = [try Hands.profile()]
        let archive = try await desk.sign(options)
        #expect(archive.bundles.last?.droppedEntitlements.keys.sorted() == ["com.example.anything"])
    }

    @Test func `signatures, seals and profiles are taken out, and the app can be signed again`() async throws {
        let desk = try await signed()
        var options = SigningOptions(.removed)
        options.recipe.displayName = "Bare"
        let archive = try await desk.sign(options)
        #expect(archive.signedFileCount == 0)
        let seen = try await Outside.ask(
            desk.output,
            "[[n for n in names if 'CodeSignature' in n or 'mobileprovision' in n], "
                + "p('Info.plist')['CFBundleDisplayName'], [n for n in names if b'\\xfa\\xde\\x0c\\xc0' in z.read(n)]]"
        )
        #expect(seen == #"[[], "Bare", []]"#)
        for file in try await Hands.signer.inspect(desk.output).code {
            #expect(file.images.allSatisfy { $0.signature == nil }, "\(file.path)")
        }
        try FileManager.default.removeItem(atPath: desk.input)
        try FileManager.default.moveItem(atPath: desk.output, toPath: desk.input)
        try await desk.sign(try Hands.options())
        #expect(try await desk.faults() == [])
    }

    @Test func `only what is asked for changes, and old signatures stay`() async throws {
        let desk = try await signed()
        var options = SigningOptions(.left)
        options.recipe.version = "9.9"
        try await desk.sign(options)
        let before = try Archive(path: desk.input)
        let after = try Archive(path: desk.output)
        #expect(before.entries.map(\.name) == after.entries.map(\.name))
        for entry in before.entries {
            #expect(
                (after[entry.name] == entry.bytes) != entry.name.hasSuffix(".app/Info.plist")
                    || entry.name.contains("PlugIns")
            )
        }
        #expect(
            try await Outside.ask(
                desk.output,
                "[p(x + 'Info.plist')['CFBundleShortVersionString'] for x in ['', 'PlugIns/W.appex/']]"
            ) == #"["9.9", "9.9"]"#
        )
    }

    @Test(arguments: ["adHoc", "removed", "left"])
    func `what is encrypted is only refused where it would be signed`(kind: String) async throws {
        let desk = try Desk(.sample { $0["Payload/A.app/A"] = TinyMachO { $0.cryptID = 1 }.bytes })
        let signatures: SigningOptions.Signatures =
            switch kind {
            case "adHoc": .adHoc
            case "removed": .removed
            default: .left
            }
        do {
            try await desk.sign(SigningOptions(signatures))
            #expect(kind != "adHoc")
        } catch {
            #expect(kind == "adHoc")
            #expect(error.message.contains("encrypted by the App Store"))
        }
    }

    /// What lies where code should.
    private static let noCode: [[UInt8]] = [[], Array("text".utf8), Array(TinyMachO().bytes.prefix(0x100))]

    @Test(arguments: ["A", "Frameworks/F.framework/A", "PlugIns/W.appex/A"], noCode)
    func `an executable that is no code goes through where nothing is signed`(
        name: String,
        bytes: [UInt8]
    ) async throws {
        var archive = Archive.sample()
        let index = try #require(archive.entries.firstIndex { $0.name == app + name })
        archive.entries[index] = Archive.Entry(name: app + name, mode: 0o100644, bytes: bytes)
        for signatures in [SigningOptions.Signatures.removed, .left] {
            let desk = try Desk(archive)
            try await desk.sign(SigningOptions(signatures))
            let output = try Archive(path: desk.output)
            #expect(output[app + name] == bytes)
            #expect(output.entries.first { $0.name == app + name }?.mode == 0o100755)
        }
        await #expect(throws: SignError.self) { try await Desk(archive).sign(SigningOptions(.adHoc)) }
    }

    @Test func `what cannot be read is found all the same`() async throws {
        let desk = try Desk(.sample())
        var bytes = try desk.folder.read("in.ipa")
        let place = try #require(bytes.firstRange(of: Array("a.txt".utf8))).upperBound + 4
        bytes[place] ^= 0xFF
        try desk.folder.write(bytes, to: "in.ipa")
        for signatures in [SigningOptions.Signatures.adHoc, .removed, .left] {
            await #expect(throws: SignError.self) { try await desk.sign(SigningOptions(signatures)) }
        }
        #expect(try desk.leftovers() == [])
    }
}
