import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryPropertyList
import FerrySample
import Foundation
import TestKit
import Testing

@testable import FerrySigning

@Suite(
    .enabled(if: Hands.usable && PythonZip.exists, "\(TestAuthority.absent), or \(PythonZip.absent)"),
    .timeLimit(.minutes(10))
)
struct `A comparison of two apps` {
    private static let names = """
        import json, sys, zipfile
        a, b = ({i.filename: z.read(i) for i in z.infolist() if not i.is_dir()} for z in map(zipfile.ZipFile, sys.argv[1:]))
        print(json.dumps([sorted(b.keys() - a.keys()), sorted(a.keys() - b.keys()), sorted(n for n in a if n in b and a[n] != b[n])]))
        """

    private static func write(_ archive: Archive, _ name: String, _ folder: TemporaryFolder) throws -> String {
        try folder.write(archive.bytes(), to: name)
    }

    @Test func `names the files that Python's zipfile finds to be others`() async throws {
        let desk = try Desk(
            Berth.archive {
                $0["Payload/A.app/old.txt"] = [1]
                $0["Payload/A.app/_CodeSignature/CodeResources"] = [2]
            }
        )
        var options = try Hands.options()
        options.bundleIdentifier = "com.other"
        try await desk.sign(options)
        var after = try Archive(path: desk.output)
        after["Payload/A.app/old.txt"] = nil
        after["Payload/A.app/new.txt"] = [1, 2, 3]
        let path = try Self.write(after, "after.ipa", desk.folder)
        let comparison = try await Berth.verifier.compare(desk.input, with: path)
        let judged = try await PythonZip.run("python3", ["-c", Self.names, desk.input, path])
        let names = try JSONDecoder().decode([[String]].self, from: Data(judged.utf8))
        #expect(comparison.addedFiles.map(\.path) == names[0])
        #expect(comparison.removedFiles.map(\.path) == names[1])
        #expect(comparison.changedFiles.map(\.path) == names[2])
        #expect(
            comparison.addedFiles.contains { $0.path == "Payload/A.app/new.txt" && $0.size == 3 && $0.oldSize == nil }
        )
        #expect(comparison.removedFiles == [.init(path: "Payload/A.app/old.txt", oldSize: 1, size: nil)])
        #expect(names.allSatisfy { !$0.isEmpty })
    }

    @Test func `tells keys, entitlements, profiles and signatures one by one`() async throws {
        let desk = try Desk(Berth.archive())
        var options = try Hands.options()
        options.bundleIdentifier = "com.other"
        try await desk.sign(options)
        let comparison = try await Berth.verifier.compare(desk.input, with: desk.output)
        let app = try #require(comparison.bundles.first { $0.path == "Payload/A.app" })
        #expect(app.oldIdentifier == "com.peer.bench")
        #expect(app.identifier == "com.other")
        #expect(app.infoPlist.map(\.key) == ["CFBundleIdentifier"])
        #expect(app.infoPlist.first?.old == "com.peer.bench")
        #expect(app.infoPlist.first?.new == "com.other")
        let own = app.entitlements.first { $0.key == "application-identifier" }
        #expect(own?.old == nil)
        #expect(own?.new == .string(TestAuthority.team + ".com.other"))
        #expect(app.profile.first { $0.key == "name" }?.new == "Test *")
        // The framework changed in nothing but its signature.
        #expect(comparison.bundles.map(\.path) == ["Payload/A.app", "Payload/A.app/PlugIns/W.appex"])
        let code = try #require(comparison.code.first { $0.path == "Payload/A.app/A" })
        #expect(code.architecture == "arm64")
        #expect(code.changes.first { $0.key == "signature.identifier" }?.new == "com.other")
        #expect(code.changes.first { $0.key == "signature.team" }?.new == .string(TestAuthority.team))
        #expect(code.changes.first { $0.key == "signature.flags" }?.new == ["main-binary"])
        #expect(comparison.code.count == 4)
    }

    @Test func `tells load commands and slices that come and go`() async throws {
        let folder = try TemporaryFolder()
        let plain = TinyMachO().bytes
        let edited = TinyMachO {
            $0.dylibs = ["@rpath/tweak.dylib"]
            $0.minimumOS = 16 << 16 | 1 << 8
            $0.platform = 11
        }.bytes
        let other = TinyMachO { $0.cpuSubtype = 2 }.bytes
        let before = try Self.write(Berth.archive { $0[Berth.app + "A"] = plain }, "a.ipa", folder)
        let after = try Self.write(
            Berth.archive { $0[Berth.app + "A"] = TinyMachO.fat([edited, other]) },
            "b.ipa",
            folder
        )
        let comparison = try await Berth.verifier.compare(before, with: after)
        #expect(comparison.code.map(\.architecture) == ["arm64", "arm64e"])
        #expect(comparison.code.map(\.isNew) == [false, true])
        let changes = Dictionary(uniqueKeysWithValues: comparison.code[0].changes.map { ($0.key, $0) })
        #expect(Set(changes.keys) == ["dylibs", "minimumOS", "platform"])
        #expect(changes["dylibs"]?.old == [])
        #expect(changes["dylibs"]?.new == ["@rpath/tweak.dylib"])
        #expect(changes["minimumOS"]?.new == "16.1")
        #expect(changes["platform"]?.old == "iOS")
        #expect(changes["platform"]?.new == "visionOS")
        let back = try await Berth.verifier.compare(after, with: before)
        #expect(back.code.map(\.isDropped) == [false, true])
        #expect(comparison.changedFiles.map(\.path) == ["Payload/A.app/A"])
        #expect(comparison.bundles.isEmpty)
    }

    @Test func `finds an app the same as itself, packed anew or on the disk`() async throws {
        let folder = try TemporaryFolder()
        let path = try Self.write(Berth.archive(), "a.ipa", folder)
        let same = try await Berth.verifier.compare(path, with: path)
        #expect(same.isSame)
        try await PythonZip.run("unzip", ["-q", path, "-d", folder.path("x")])
        let disk = try await Berth.verifier.compare(path, with: folder.path("x/Payload/A.app"))
        #expect(disk.isSame, "\(disk)")
        try await PythonZip.run("zip", ["-qry", "../b.ipa", "Payload"], in: folder.path("x"))
        #expect(try await Berth.verifier.compare(path, with: folder.path("b.ipa")).isSame)
    }

    @Test func `takes an app whose folder has another name for the same app`() async throws {
        let folder = try TemporaryFolder()
        var renamed = Berth.archive()
        for index in renamed.entries.indices {
            renamed.entries[index].name = renamed.entries[index].name.replacingOccurrences(of: "A.app", with: "B.app")
        }
        renamed["Payload/B.app/a.txt"] = [9]
        let before = try Self.write(Berth.archive(), "a.ipa", folder)
        let comparison = try await Berth.verifier.compare(before, with: Self.write(renamed, "b.ipa", folder))
        #expect(comparison.changedFiles == [.init(path: "Payload/B.app/a.txt", oldSize: 17, size: 1)])
        #expect(comparison.addedFiles.isEmpty)
        #expect(comparison.removedFiles.isEmpty)
        #expect(comparison.bundles.isEmpty)
    }

    @Test func `names a bundle that is new or gone`() async throws {
        let folder = try TemporaryFolder()
        let without = Berth.archive { archive in archive.entries.removeAll { $0.name.hasPrefix(Berth.widget) } }
        let (few, many) = (try Self.write(without, "a.ipa", folder), try Self.write(Berth.archive(), "b.ipa", folder))
        let added = try await Berth.verifier.compare(few, with: many)
        #expect(added.bundles.map(\.path) == [Berth.widget])
        #expect(added.bundles.map(\.isNew) == [true])
        #expect(added.bundles.first?.identifier == "com.peer.bench.w")
        let dropped = try await Berth.verifier.compare(many, with: few)
        #expect(dropped.bundles.map(\.isDropped) == [true])
        #expect(dropped.removedFiles.map(\.path) == [Berth.widget + "/A", Berth.widget + "/Info.plist"])
    }

    @Test func `warns of another team, whose app iOS does not install over the old one`() async throws {
        let desk = try Desk(Berth.archive())
        try await desk.sign(try Hands.options())
        let year = 365 * Hands.day
        let other = try ThrowawayIdentity(notBefore: Hands.now - year, notAfter: Hands.now + year)
        let profile = try SampleProfile(
            team: other.team,
            certificates: [other.leafDER],
            creation: Hands.now - Hands.day,
            expiration: Hands.now + year
        ).signed(by: other.authority)
        let options = SigningOptions(
            identity: try Identity(pkcs12: other.p12(password: Secret("x")), password: Secret("x")),
            profiles: [try ProvisioningProfile(bytes: profile)]
        )
        let path = desk.folder.path("out/other.ipa")
        _ = try await Hands.signer.sign(SigningRequest(input: desk.input, output: path, options: options)).archive
        let comparison = try await Berth.verifier.compare(desk.output, with: path)
        #expect(
            comparison.warnings == [
                "The application identifier was \(TestAuthority.team).com.peer.bench and is \(other.team).com.peer.bench: "
                    + "iOS refuses to install the one over the other (MismatchedApplicationIdentifierEntitlement). "
                    + "Remove the old app from the device first."
            ]
        )
    }

    @Test func `of what is no app fails, and says which of the two it is`() async throws {
        let folder = try TemporaryFolder()
        let path = try Self.write(Berth.archive(), "a.ipa", folder)
        let page = try folder.write(Array("<html>".utf8), to: "page.ipa")
        for (before, after) in [(path, page), (page, path)] {
            let error = await #expect(throws: SignError.self) {
                _ = try await Berth.verifier.compare(before, with: after)
            }
            #expect(error?.message.contains(page) == true)
        }
    }
}
