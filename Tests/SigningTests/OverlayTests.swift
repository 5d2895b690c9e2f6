import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryPropertyList
import FerryZip
import TestKit
import Testing

@testable import FerrySigning

#if canImport(Glibc)
import Glibc
#endif

/// Plans and seals with edits of our own, and writes what comes out.
private struct OverlayDesk {
    let desk: Desk
    let workers = Workers(count: 2)

    init(_ archive: Archive) throws {
        desk = try Desk(archive)
    }

    func sign(_ change: (inout Overlay) -> Void) async throws {
        var overlay = Overlay()
        change(&overlay)
        let request = SigningRequest(input: desk.input, output: desk.output, options: try Hands.options())
        let plan = try await SigningPlan.make(request, now: Hands.now, overlay: overlay, workers: workers)
        let sealed = try await Sealer(plan: plan, workers: workers, time: Hands.now) { _, _ in }.run()
        let file = try NewFile(path: desk.output)
        try writeArchive(sealed.items, from: plan.contents.source, to: file.descriptor, path: desk.output)
        try file.commit()
    }

    func refusal(_ change: (inout Overlay) -> Void) async throws -> SignError? {
        await #expect(throws: SignError.self) { try await sign(change) }
    }
}

@Suite(.enabled(if: Hands.usable, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `An overlay` {
    private let app = "Payload/A.app/"

    @Test func `adds code, files and links, removes and replaces, and all of it is signed and sealed`() async throws {
        let desk = try OverlayDesk(.sample())
        let library = TinyMachO {
            $0.fileType = 6
            $0.seed = 9
        }.bytes
        let info: PropertyList = ["CFBundleIdentifier": "com.peer.g", "CFBundleExecutable": "G"]
        try await desk.sign { overlay in
            overlay.add(app + "Frameworks/new.dylib", .file(library))
            overlay.add(app + "Frameworks/G.framework/G", .file(library), permissions: 0o755)
            overlay.add(app + "Frameworks/G.framework/Info.plist", .file(info.encoded(as: .xml)))
            overlay.add(app + "notes/ü.txt", .file(Array("new".utf8)), permissions: 0o600)
            overlay.add(app + "notes/link", .link("ü.txt"))
            overlay.replace(app + "a.txt", with: Array("other".utf8))
            overlay.remove(app + "en.lproj")
            overlay.remove(app + "PlugIns/W.appex")
        }
        #expect(try await desk.desk.faults() == [])
        let made = try Archive(path: desk.desk.output)
        #expect(made[app + "a.txt"] == Array("other".utf8))
        #expect(made[app + "notes/link"] == Array("ü.txt".utf8))
        let names = made.entries.map(\.name)
        #expect(!names.contains { $0.contains("en.lproj") || $0.contains("PlugIns") })
        let modes = Dictionary(uniqueKeysWithValues: made.entries.map { ($0.name, $0.mode) })
        #expect(modes[app + "notes/link"] == 0o120777)
        #expect(modes[app + "notes/ü.txt"] == 0o100600)
        let signed = try await Hands.signer.inspect(desk.desk.output).code
        for name in ["Frameworks/new.dylib", "Frameworks/G.framework/G", "A"] {
            let file = signed.first { $0.path == app + name }
            #expect(file?.images.first?.signature?.team == TestAuthority.team, "\(name)")
        }
        #expect(names.contains(app + "Frameworks/G.framework/_CodeSignature/CodeResources"))
    }

    @Test(arguments: [nil, 0x4000, 0x10])
    func `changes load commands of code that is there`(room: Int?) async throws {
        let desk = try OverlayDesk(
            .sample {
                $0["Payload/A.app/A"] =
                    TinyMachO {
                        $0.signatureRoom = room
                        $0.headerPad = 0x400
                        $0.textSize = 0x40000
                    }.bytes
            }
        )
        try await desk.sign { overlay in
            overlay.edit(app + "A", [.add("@rpath/one.dylib", isWeak: true)])
            overlay.edit(app + "A", [.add("@executable_path/Frameworks/two.dylib", isWeak: true)])
        }
        #expect(try await desk.desk.faults() == [])
        let code = try await Hands.signer.inspect(desk.desk.output).code
        let dylibs = code.first { $0.path == app + "A" }?.images.first?.dylibs
        #expect(dylibs == ["@rpath/one.dylib", "@executable_path/Frameworks/two.dylib"])
        // All but the header and the signature is as it was.
        let old = try #require(try Archive(path: desk.desk.input)[app + "A"])
        let new = try #require(try Archive(path: desk.desk.output)[app + "A"])
        #expect(old[0x1000..<0x40000] == new[0x1000..<0x40000])
    }

    @Test func `changes load commands of every slice, and of code that it adds`() async throws {
        let slice = TinyMachO { $0.headerPad = 0x400 }
        var other = slice
        other.cpuSubtype = 2
        other.seed = 7
        let fat = TinyMachO.fat([slice.bytes, other.bytes])
        let desk = try OverlayDesk(.sample { $0["Payload/A.app/A"] = fat })
        let library = TinyMachO {
            $0.fileType = 6
            $0.headerPad = 0x400
        }.bytes
        try await desk.sign { overlay in
            overlay.add(app + "n.dylib", .file(library))
            overlay.edit(app + "n.dylib", [.add("@rpath/one.dylib", isWeak: true)])
            overlay.edit(app + "A", [.add("@rpath/one.dylib", isWeak: true)])
        }
        #expect(try await desk.desk.faults() == [])
        let code = try await Hands.signer.inspect(desk.desk.output).code
        #expect(
            code.first { $0.path == app + "A" }?.images.map(\.dylibs) == [["@rpath/one.dylib"], ["@rpath/one.dylib"]]
        )
        #expect(code.first { $0.path == app + "n.dylib" }?.images.map(\.dylibs) == [["@rpath/one.dylib"]])
    }

    @Test func `refuses edits of what is no code, has no room, or cannot be named`() async throws {
        let desk = try OverlayDesk(.sample())
        let error = try await desk.refusal { overlay in
            overlay.edit(app + "a.txt", [.add("x", isWeak: false)])
            overlay.edit(app + "A", [.add(String(repeating: "x", count: 1000), isWeak: false)])
            overlay.edit(app + "x.dylib", [.add("", isWeak: false)])
            overlay.edit(app + "PlugIns/W.appex/W", [.addRPath("x")])
        }
        #expect(error?.reasons.count == 4, "\(error?.message ?? "")")
        let message = error?.message ?? ""
        for words in ["a.txt: its load", "A.app/A: arm64: the new load", "x.dylib: arm64: an empty", "W.appex/W: its"] {
            #expect(message.contains(words), "\(words) in \(message)")
        }
        #expect(try desk.desk.leftovers() == [])
    }

    /// What is added, and words of why it is refused.
    private static let conflicts: [(name: String, words: String)] = [
        ("A", "the executable of Payload/A.app"),
        ("PlugIns/W.appex/A", "the executable of Payload/A.app/PlugIns/W.appex"),
        ("Info.plist", "signing writes it"),
        ("embedded.mobileprovision", "signing writes it"),
        ("_CodeSignature/x", "signing writes it"),
        ("../x", "climbs out"),
        ("b/../../../x", "climbs out"),
        ("b//x", "an empty part"),
        ("b\\x", "a backslash"),
        ("b/", "an empty part"),
        ("b\u{1}", "a control character"),
        ("sub/.DS_Store", "always left out"),
        (String(repeating: "x", count: 256), "more than 255 bytes"),
        ("A.TXT", "differs only in capitals"),
        ("frameworks/x", "differs only in capitals"),
        ("a.txt/x", "is a file, not a folder"),
        ("link/x", "is a symbolic link, not a folder"),
        ("Frameworks", "a folder of this name"),
        ("en.lproj/x", "removed or dropped"),
        ("twice", "added twice"),
        ("both", "added as a file, and as the folder"),
    ]

    @Test(arguments: conflicts)
    private func `refuses what cannot be added`(conflict: (name: String, words: String)) async throws {
        let desk = try OverlayDesk(.sample())
        let error = try await desk.refusal { overlay in
            overlay.remove(app + "en.lproj")
            overlay.add(app + conflict.name, .file([1]))
            if conflict.name == "twice" { overlay.add(app + conflict.name, .file([1])) }
            if conflict.name == "both" { overlay.add(app + "both/x", .file([1])) }
        }
        #expect(error?.code == .refused)
        #expect(error?.message.contains(conflict.words) == true, "\(error?.message ?? "")")
        #expect(try desk.desk.leftovers() == [])
    }

    @Test(arguments: [
        "Payload", "Payload/A.app", "Payload/A.app/A", "Payload/A.app/Info.plist", "Payload/A.app/no", "",
    ])
    func `refuses to remove what the app needs or lacks`(path: String) async throws {
        let desk = try OverlayDesk(.sample())
        let error = try await desk.refusal { $0.remove(path) }
        #expect(error?.code == .refused)
        #expect(error?.message.contains("cannot be removed") == true)
    }
}
