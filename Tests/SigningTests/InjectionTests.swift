import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryPropertyList
import FerrySigning
import Foundation
import TestKit
import Testing

/// An app of linked code, and what is put into it.
private struct Injected {
    static let app = "Payload/A.app/"
    let desk: Desk

    /// Made once, as each is compiled and linked.
    private static let program = Result { try AppleTools.link("int main(void) { return 1; }", against: [], pad) }
    private static let library = Result { try AppleTools.link("int t(void) { return 2; }", against: [], named("T")) }
    private static let bound = Result {
        try AppleTools.link(
            "int a(void); int b(void); int main(void) { return a() + b(); }",
            against: [("liba.dylib", "int a(void) { return 1; }"), ("libb.dylib", "int b(void) { return 2; }")],
            pad
        )
    }
    private static let pad = ["-headerpad", "0x800"]

    private static func named(_ name: String) -> [String] {
        pad + ["-dylib", "-install_name", "/Library/MobileSubstrate/DynamicLibraries/\(name).dylib"]
    }

    init(_ change: (inout Archive) throws -> Void = { _ in }) throws {
        let program = try Self.program.get()
        let bound = try Self.bound.get()
        var archive = Archive.sample { archive in
            archive["Payload/A.app/A"] = bound
            archive["Payload/A.app/PlugIns/W.appex/A"] = program
        }
        try change(&archive)
        desk = try Desk(archive)
        try desk.folder.write(try Self.library.get(), to: "libT.dylib")
    }

    func recipe(_ json: String) throws -> SigningRecipe {
        try SigningRecipe(json: Array(json.utf8), folder: desk.folder.path)
    }

    @discardableResult
    func sign(_ json: String, _ change: (inout SigningOptions) -> Void = { _ in }) async throws -> SignedArchive {
        var options = try Hands.options()
        options.recipe = try recipe(json)
        change(&options)
        return try await desk.sign(options)
    }

    func refusal(_ json: String) async throws -> String {
        do {
            try await sign(json)
            return "signed"
        } catch let error as SignError {
            #expect(error.code == .refused)
            #expect(try desk.leftovers() == [])
            return error.message
        }
    }

    /// The libraries and run paths of a file of the output, as llvm-objdump shows them.
    func loads(_ name: String) async throws -> [String] {
        let bytes = try #require(try Archive(path: desk.output)[Self.app + name])
        return try await Self.loads(bytes)
    }

    static func loads(_ bytes: [UInt8]) async throws -> [String] {
        try await onThread {
            let folder = try TemporaryFolder()
            try folder.write(bytes, to: "code")
            let shown = try #require(AppleTools.objdump)
                .run(["--macho", "--private-headers", folder.path("code")]).text
            // `cmd LC_LOAD_WEAK_DYLIB`, then `name PATH (offset 24)`, or `path PATH (offset 12)`.
            var loads: [String] = []
            var command = ""
            for line in shown.split(separator: "\n") {
                let words = line.split(separator: " ").map(String.init)
                guard words.count >= 2 else { continue }
                if words[0] == "cmd" { command = words[1] }
                guard words[0] == "name" || words[0] == "path", words.last?.hasSuffix(")") == true else { continue }
                switch command {
                case "LC_LOAD_DYLIB": loads.append(words[1])
                case "LC_LOAD_WEAK_DYLIB": loads.append(words[1] + " weak")
                case "LC_RPATH": loads.append("rpath " + words[1])
                default: break
                }
            }
            return loads
        }
    }
}

@Suite(
    .enabled(if: Hands.usable && AppleTools.exist, "\(AppleTools.absent)"),
    .timeLimit(.minutes(10))
)
struct `Injection` {
    private static let own = ["@rpath/liba.dylib", "@rpath/libb.dylib"]

    /// What is asked for, and what app and extension load afterwards.
    private static let cases: [(json: String, app: [String], extension: [String])] = [
        (
            #"{"inject": ["libT.dylib"]}"#, own + ["rpath @executable_path/Frameworks", "@rpath/libT.dylib"], []
        ),
        (
            #"{"inject": [{"file": "libT.dylib", "weak": true}], "injectBy": "executable-path"}"#,
            own + ["@executable_path/Frameworks/libT.dylib weak"], []
        ),
        (
            #"{"inject": [{"file": "libT.dylib", "into": "com.peer.bench.w"}]}"#, own,
            ["rpath @executable_path/../../Frameworks", "@rpath/libT.dylib"]
        ),
        (
            #"{"inject": [{"file": "libT.dylib", "into": "W.appex"}], "injectBy": "executable-path"}"#, own,
            ["@executable_path/../../Frameworks/libT.dylib"]
        ),
        (
            #"{"inject": [{"file": "libT.dylib", "into": "all"}]}"#,
            own + ["rpath @executable_path/Frameworks", "@rpath/libT.dylib"],
            ["rpath @executable_path/../../Frameworks", "@rpath/libT.dylib"]
        ),
        // Twice is once.
        (
            #"{"inject": ["libT.dylib", {"file": "libT.dylib", "into": "app", "weak": true}]}"#,
            own + ["rpath @executable_path/Frameworks", "@rpath/libT.dylib"], []
        ),
        (#"{"renameDylibs": {"liba.dylib": "@rpath/other.dylib"}}"#, ["@rpath/other.dylib", own[1]], []),
        // Nothing is bound to what comes after it, but to itself: something must keep its number.
        (#"{"removeDylibs": ["libb.dylib"]}"#, [own[0], "@rpath/removed.2 weak"], []),
        (
            #"{"removeDylibs": ["@rpath/liba.dylib"], "inject": ["libT.dylib"]}"#,
            ["@rpath/removed.1 weak", own[1], "rpath @executable_path/Frameworks", "@rpath/libT.dylib"], []
        ),
    ]

    @Test(arguments: cases.indices)
    func `changes what the app and its extension load, as llvm-objdump reads it`(number: Int) async throws {
        let (json, app, inExtension) = Self.cases[number]
        let injected = try Injected()
        try await injected.sign(json)
        #expect(try await injected.loads("A") == app)
        #expect(try await injected.loads("PlugIns/W.appex/A") == inExtension)
        #expect(try await injected.desk.faults() == [])
        let library = try Archive(path: injected.desk.output)[Injected.app + "Frameworks/libT.dylib"]
        #expect((library != nil) == json.contains("inject\""))
        if Oracle.exists {
            let output = injected.desk.output
            let found = try await onThread {
                try Oracle.faults(output, original: nil, id: "com.peer.bench", team: TestAuthority.team)
            }
            #expect(found == [])
        }
    }

    @Test func `signs what it injects, and reads it back`() async throws {
        let injected = try Injected()
        let signed = try await injected.sign(#"{"inject": ["libT.dylib"]}"#)
        #expect(signed.signedFileCount == 5)
        let code = try await Hands.signer.inspect(injected.desk.output).code
        let library = code.first { $0.path == Injected.app + "Frameworks/libT.dylib" }
        #expect(library?.images.first?.signature?.team == TestAuthority.team)
        // The second time, the library is there, and is loaded.
        try FileManager.default.removeItem(atPath: injected.desk.input)
        try FileManager.default.moveItem(atPath: injected.desk.output, toPath: injected.desk.input)
        let again = try await injected.sign(#"{"inject": ["libT.dylib"]}"#)
        #expect(
            try await injected.loads("A") == Self.own + ["rpath @executable_path/Frameworks", "@rpath/libT.dylib"]
        )
        #expect(again.warnings.contains { $0.contains("loads @rpath/libT.dylib already") })
        #expect(again.warnings.contains { $0.contains("gives way to what is injected") })
        #expect(try await injected.desk.faults() == [])
    }

    @Test func `takes a framework with its files, also in place of the app's own`() async throws {
        let injected = try Injected()
        let library = try injected.desk.folder.read("libT.dylib")
        let info: PropertyList = ["CFBundleIdentifier": "com.new.f", "CFBundleExecutable": "F"]
        try injected.desk.folder.write(library, to: "F.framework/F")
        try injected.desk.folder.write(info.encoded(as: .xml), to: "F.framework/Info.plist")
        try injected.desk.folder.write(Array("hi".utf8), to: "F.framework/deep/x.txt")
        try injected.desk.folder.write(Array("old".utf8), to: "F.framework/_CodeSignature/CodeResources")
        try await injected.sign(#"{"inject": ["F.framework"]}"#)
        #expect(try await injected.desk.faults() == [])
        #expect(try await injected.loads("A").last == "@rpath/F.framework/F")
        let output = injected.desk.output
        let seen = try await Outside.ask(
            output,
            "[p('Frameworks/F.framework/Info.plist')['CFBundleIdentifier'], "
                + "b('Frameworks/F.framework/deep/x.txt').decode(), mode('Frameworks/F.framework/F'), "
                + "sorted(p('Frameworks/F.framework/_CodeSignature/CodeResources')['files2'])]"
        )
        #expect(seen == #"["com.new.f", "hi", "0o100755", ["deep/x.txt"]]"#)
    }

    @Test(arguments: ["", #", "removeDylibs": ["libb.dylib"]"#, #", "renameDylibs": {"libb.dylib": "@rpath/c.dylib"}"#])
    func `leaves extensions alone that go with a framework which gives way`(more: String) async throws {
        let inner = "Payload/A.app/Frameworks/F.framework/PlugIns/I.appex"
        let injected = try Injected { archive in
            archive.add(inner, id: "com.peer.bench.i", ["NSExtension": ["NSExtensionPointIdentifier": "com.apple.x"]])
        }
        let library = try injected.desk.folder.read("libT.dylib")
        try injected.desk.folder.write(library, to: "F.framework/F")
        try await injected.sign(#"{"inject": [{"file": "F.framework", "into": "all"}]"# + more + "}")
        #expect(try await injected.desk.faults() == [])
        let output = try Archive(path: injected.desk.output)
        #expect(!output.entries.contains { $0.name.hasPrefix(inner) })
        #expect(try await injected.loads("A").last == "@rpath/F.framework/F")
        #expect(try await injected.loads("PlugIns/W.appex/A").last == "@rpath/F.framework/F")
    }

    @Test(arguments: [#""libT.dylib""#, #"{"file": "libT.dylib", "into": "all"}"#])
    func `says nothing of what is asked for twice`(second: String) async throws {
        let injected = try Injected()
        let signed = try await injected.sign(#"{"inject": ["libT.dylib", \#(second)]}"#)
        #expect(signed.warnings.filter { $0.contains("already") } == [])
        #expect(
            try await injected.loads("A") == Self.own + ["rpath @executable_path/Frameworks", "@rpath/libT.dylib"]
        )
    }

    /// What is asked for, and words of why it is refused.
    private static let refusals: [(json: String, words: [String])] = [
        (#"{"inject": ["nothing.dylib"]}"#, ["nothing.dylib", "No such file"]),
        (#"{"inject": ["text.dylib"]}"#, ["text.dylib", "nothing to inject"]),
        (#"{"inject": [{"file": "libT.dylib", "into": "com.nobody"}]}"#, ["“com.nobody”", "no app or extension"]),
        (
            #"{"inject": [{"file": "libT.dylib", "into": "com.peer.bench.w"}], "dropExtensions": "all"}"#,
            ["“com.peer.bench.w”", "that stays"]
        ),
        (#"{"inject": ["mac.dylib"]}"#, ["mac.dylib: it has no code that", "arm64 for iOS", "arm64 for macOS"]),
        (#"{"inject": ["intel.dylib"]}"#, ["intel.dylib: it has no code that", "only x86_64"]),
        (#"{"inject": ["libT.dylib"], "add": {"Frameworks/libT.dylib": "libT.dylib"}}"#, ["it is added twice"]),
        (#"{"inject": ["libT.dylib", "other/libT.dylib"]}"#, ["bring a file for Frameworks/libT.dylib"]),
        (#"{"renameDylibs": {"liba.dylib": ""}}"#, ["an empty name"]),
        (#"{"removeDylibs": ["libb.dylib", ""]}"#, ["to be removed or renamed, and its name is empty"]),
        (#"{"renameDylibs": {"": "@rpath/x"}}"#, ["to be removed or renamed, and its name is empty"]),
        (#"{"renameDylibs": {"liba.dylib": "@rpath/libb.dylib"}}"#, ["would all be loaded as @rpath/libb.dylib"]),
    ]

    @Test(arguments: refusals.indices)
    func `is refused with the reason`(number: Int) async throws {
        let (json, words) = Self.refusals[number]
        let injected = try Injected()
        let folder = injected.desk.folder
        try folder.write(Array("no code at all, though it is long enough".utf8), to: "text.dylib")
        try folder.write(
            TinyMachO {
                $0.fileType = 6
                $0.platform = 1
            }.bytes,
            to: "mac.dylib"
        )
        try folder.write(
            TinyMachO {
                $0.fileType = 6
                $0.cpuType = 0x0100_0007
                $0.cpuSubtype = 3
                $0.platform = 7
            }.bytes,
            to: "intel.dylib"
        )
        try folder.write(try folder.read("libT.dylib"), to: "other/libT.dylib")
        let message = try await injected.refusal(json)
        for words in words { #expect(message.contains(words), "\(words) in \(message)") }
    }

    @Test(arguments: [false, true])
    func `is refused where the header has no room, by how many bytes, slice by slice`(isFat: Bool) async throws {
        let roomy = TinyMachO { $0.headerPad = 0x400 }
        var tight = TinyMachO { $0.headerPad = 40 }
        tight.cpuSubtype = 2
        let code = isFat ? TinyMachO.fat([roomy.bytes, tight.bytes]) : tight.bytes
        let injected = try Injected { $0["Payload/A.app/A"] = code }
        try injected.desk.folder.write(
            TinyMachO.fat([
                TinyMachO { $0.fileType = 6 }.bytes,
                TinyMachO {
                    $0.fileType = 6
                    $0.cpuSubtype = 2
                }.bytes,
            ]),
            to: "libU.dylib"
        )
        // LC_RPATH takes 12 + 28 bytes, LC_LOAD_DYLIB 24 + 18 and 6 more; of 40, 16 are kept for LC_CODE_SIGNATURE.
        let message = try await injected.refusal(#"{"inject": ["libU.dylib"]}"#)
        #expect(message.contains("A.app/A: arm64e: the new load commands need 64 bytes more than the 24 that are free"))
    }

    @Test func `is told where nothing loads what is to go`() async throws {
        let injected = try Injected()
        let signed = try await injected.sign(
            #"{"removeDylibs": ["libnone.dylib"], "renameDylibs": {"libgone.dylib": "@rpath/x"}}"#
        )
        for name in ["libnone.dylib", "libgone.dylib"] {
            #expect(signed.warnings.contains { $0.contains("neither the app nor an extension loads \(name)") })
        }
    }

    @Test(.enabled(if: SharedFolder.exists, "\(SharedFolder.absent)"), arguments: ["app", "all"])
    func `takes a package that somebody published`(target: String) async throws {
        let injected = try Injected()
        let deb = SharedFolder.corpus("feather-ellekit.deb")
        let json = #"{"inject": [{"file": "\#(deb)", "into": "\#(target)"}]}"#
        try await injected.sign(json)
        #expect(try await injected.desk.faults() == [])
        #expect(try await injected.loads("A").last == "@rpath/CydiaSubstrate.framework/CydiaSubstrate")
        #expect(try await injected.loads("PlugIns/W.appex/A").isEmpty == (target == "app"))
        let preview = try await Hands.signer.preview(
            SigningRequest(
                input: injected.desk.input,
                output: "",
                options: {
                    var options = try Hands.options()
                    options.recipe = try injected.recipe(json)
                    return options
                }()
            )
        )
        #expect(preview.changedCode.contains(Injected.app + "A"))
        #expect(preview.addedFiles.contains(Injected.app + "Frameworks/CydiaSubstrate.framework/CydiaSubstrate"))
    }
}
