import FerryAppBundle
import FerryCodeSignature
import FerryPropertyList
import FerrySigning
import TestKit
import Testing

@Suite(.enabled(if: Hands.usable, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `A plan` {
    @Test func `refuses with every reason at once`() async throws {
        let desk = try Desk(
            .sample {
                $0.add(
                    "Payload/A.app/Frameworks/E.framework",
                    id: "com.peer.e",
                    code: TinyMachO { $0.cryptID = 1 }.bytes
                )
                $0["Payload/A.app/Frameworks/E.framework/full.dylib"] =
                    TinyMachO {
                        $0.fileType = 6
                        $0.headerPad = 4
                    }.bytes
            }
        )
        var options = SigningOptions(
            identity: try Hands.identity("leaf"),
            profiles: [try Hands.profile("com.peer.bench", signers: ["stranger"], expiresInDays: 5000)]
        )
        options.pageSize = 1000
        options.device = "00000000-0000000000000000"
        let error = await #expect(throws: SignError.self) {
            try await desk.sign(options, with: Hands.signer(daysLater: 1000))
        }
        #expect(error?.code == .refused)
        let wanted = [
            "The certificate “Apple Development: leaf Ünal” expired 63", "Pages of 1000 bytes",
            "the certificate that signs is not the one that it names", "the device 00000000-0000000000000000",
            "none of the profiles is for com.peer.bench.w; there is “Test com.peer.bench” for com.peer.bench",
            "Payload/A.app/Frameworks/E.framework/A: the code is encrypted by the App Store",
            "full.dylib: LC_CODE_SIGNATURE needs 16 bytes",
        ]
        let message = error?.message ?? ""
        for words in wanted { #expect(message.contains(words), "\(words) in \(message)") }
        #expect(error?.reasons.count == wanted.count)
        #expect(message.contains("\(desk.input): \(wanted.count) reasons keep it from being signed:"))
        #expect(error?.reasons.allSatisfy { $0.remedy != nil } == true)
        #expect(try desk.leftovers() == [])
    }

    @Test func `refuses what has expired or no team, and warns of what soon will`() async throws {
        let desk = try Desk(.sample())
        var options = try Hands.options()
        options.profiles = [try Hands.profile(expiresInDays: 10)]
        let signed = try await desk.sign(options)
        #expect(signed.warnings.contains { $0.contains("expires in 10 days") })
        let error = await #expect(throws: SignError.self) {
            try await desk.sign(options, with: Hands.signer(daysLater: 11))
        }
        #expect(error?.code == .refused)
        #expect(error?.message.contains("it expired at") == true)
        #expect(error?.remedy == "Renew it on developer.apple.com.")
        // The one of before is still there.
        #expect(try desk.leftovers() == ["out.ipa"])
        #expect(try await desk.faults() == [])
    }

    @Test(arguments: ["embedded.mobileprovision", ".DS_Store", "._A", "Thumbs.db", "Info.plist"])
    func `refuses an executable in the place of something else`(name: String) async throws {
        let desk = try Desk(
            .sample {
                $0["Payload/A.app/PlugIns/W.appex/" + name] = TinyMachO().bytes
                let info: PropertyList = [
                    "CFBundleIdentifier": "com.peer.bench.w", "CFBundleExecutable": .string(name),
                ]
                $0["Payload/A.app/PlugIns/W.appex/Info.plist"] = info.encoded(as: .binary)
            }
        )
        let error = await #expect(throws: SignError.self) { try await desk.sign(try Hands.options()) }
        #expect(error?.code == .refused)
        #expect(error?.message.contains("Payload/A.app/PlugIns/W.appex/" + name) == true, "\(error?.message ?? "")")
        #expect(try desk.leftovers() == [])
    }

    @Test(arguments: [("in.ipa", "missing.ipa"), ("out", "out")])
    func `says which file it cannot read`(other: String, name: String) async throws {
        let desk = try Desk(.sample())
        let path = desk.folder.path(name)
        let request = SigningRequest(input: path, output: desk.output, options: try Hands.options())
        let error = await #expect(throws: SignError.self) { try await Hands.signer.sign(request).archive }
        #expect(error?.code == .input)
        #expect(error?.message.hasPrefix(path + ": cannot") == true)
        #expect(try desk.leftovers() == [])
    }

    @Test(arguments: [
        ForeignExtensions.reparent, .keep, .drop, .fail,
    ])
    func `treats an extension of another's identifier as it is told`(choice: ForeignExtensions) async throws {
        let desk = try Desk(.sample { $0.add("Payload/A.app/PlugIns/O.appex", id: "org.other.o") })
        var options = try Hands.options()
        options.foreignExtensions = choice
        guard choice != .fail else {
            let error = await #expect(throws: SignError.self) { try await desk.sign(options) }
            #expect(error?.code == .refused)
            #expect(error?.message.contains("org.other.o") == true)
            return
        }
        let signed = try await desk.sign(options)
        let identifiers = signed.bundles.map(\.identifier)
        let expected: [ForeignExtensions: String] = [.reparent: "com.peer.bench.o", .keep: "org.other.o"]
        #expect(identifiers.filter { $0.hasSuffix(".o") } == (expected[choice].map { [$0] } ?? []))
        #expect(signed.warnings.contains { $0.contains("org.other.o") }, "\(signed.warnings)")
        // Who wanted it so is not told that it failed; who checks the archive is.
        #expect(try await desk.faults() == (choice == .keep ? ["id-not-under-host"] : []))
    }
}

@Suite(.enabled(if: Hands.usable, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `A signature of an archive` {
    @Test func `tells what it does, in order`() async throws {
        let desk = try Desk(.sample())
        let signing = Hands.signer.sign(
            SigningRequest(input: desk.input, output: desk.output, options: try Hands.options())
        )
        var steps: [String] = []
        var last = 0
        var total = 0
        for await event in signing.events {
            switch event {
            case .planned(let title, let identifier, let version, let bytes):
                steps.append("planned \(title) \(identifier) \(version ?? "-")")
                #expect(bytes > 4 * 4096)
            case .progress(let completed, let all):
                if steps.last != "progress" { steps.append("progress") }
                #expect(completed >= last)
                (last, total) = (completed, all)
            case .warning: steps.append("warning")
            case .phase(let phase): steps.append(phase.rawValue)
            }
        }
        #expect(
            steps == [
                "planning", "planned Bench com.peer.bench 1.2", "sealing", "progress", "repacking", "verifying",
                "placing",
            ]
        )
        #expect(last == total)
        let archive = try await signing.archive
        #expect(archive.bundles.map(\.path).last == "Payload/A.app")
        #expect(archive.signedFileCount == 4)
        #expect(archive.bundles.map(\.profile) == [nil, "Test *", "Test *"])
    }

    @Test func `of equal input differs only in its time`() async throws {
        let first = try Desk(.sample())
        let second = try Desk(.sample())
        let options = try Hands.options("rsa")
        try await first.sign(options)
        try await second.sign(options)
        #expect(try first.folder.read("out/out.ipa") == second.folder.read("out/out.ipa"))

        let later = try Desk(.sample())
        try await later.sign(options, with: Hands.signer(daysLater: 1))
        let (one, other) = (try Archive(path: first.output), try Archive(path: later.output))
        #expect(one.entries.map(\.name) == other.entries.map(\.name))
        let changed = zip(one.entries, other.entries).filter { $0.bytes != $1.bytes }.map(\.0.name)
        // The code, and the seals that name nested code.
        #expect(
            Set(changed) == [
                "Payload/A.app/A", "Payload/A.app/PlugIns/W.appex/A", "Payload/A.app/Frameworks/F.framework/A",
                "Payload/A.app/x.dylib", "Payload/A.app/_CodeSignature/CodeResources",
            ]
        )
    }

    @Test func `takes the old signature's place when it is signed again`() async throws {
        let first = try Desk(.sample())
        let options = try Hands.options("rsa")
        try await first.sign(options)
        let second = try Desk(first.folder.read("out/out.ipa"))
        try await second.sign(options)
        #expect(try await second.faults() == [])
        let (one, other) = (try Archive(path: first.output), try Archive(path: second.output))
        #expect(one.entries.map(\.name) == other.entries.map(\.name))
        #expect(zip(one.entries, other.entries).allSatisfy { $0.bytes == $1.bytes && $0.mode == $1.mode })
    }

    @Test func `may take the place of its own input`() async throws {
        let desk = try Desk(.sample())
        let request = SigningRequest(input: desk.input, output: desk.input, options: try Hands.options())
        _ = try await Hands.signer.sign(request).archive
        #expect(try await Hands.signer.verify(desk.input) == [])
    }

    @Test(arguments: [nil, 4096, 16384])
    func `has the pages that were asked for, or those of the input`(pageSize: Int?) async throws {
        let desk = try Desk(.sample())
        var options = try Hands.options()
        options.pageSize = pageSize
        try await desk.sign(options)
        let inspection = try await Hands.signer.inspect(desk.output)
        // Never signed before, for iOS 15: large pages.
        #expect(Set(inspection.code.flatMap { $0.images.compactMap(\.signature?.pageSize) }) == [pageSize ?? 16384])
        #expect(try await desk.faults() == [])

        // What was signed keeps its pages.
        let again = try Desk(desk.folder.read("out/out.ipa"))
        try await again.sign(try Hands.options())
        let kept = try await Hands.signer.inspect(again.output)
        #expect(Set(kept.code.flatMap { $0.images.compactMap(\.signature?.pageSize) }) == [pageSize ?? 16384])
    }
}
