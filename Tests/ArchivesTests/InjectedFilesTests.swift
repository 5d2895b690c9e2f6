import FerryBytes
import FerryMachO
import TestKit
import Testing

@testable import FerryArchives

private let substrate = "/Library/Frameworks/CydiaSubstrate.framework/CydiaSubstrate"

private func loose(_ name: String, _ loads: [String], id: String? = nil) throws -> Tweak {
    try Tweak(name: name, looseFiles: [PackedFile(path: name, content: .bytes(library(loads, name: id)), mode: 0o644)])
}

private func framework(_ name: String, _ loads: [String] = [], id: String? = nil) throws -> Tweak {
    let code = PackedFile(path: "\(name).framework/\(name)", content: .bytes(library(loads, name: id)), mode: 0o755)
    let info = PackedFile(path: "\(name).framework/Info.plist", content: .bytes([1]), mode: 0o644)
    return try Tweak(name: name, looseFiles: [code, info])
}

/// What each library loads after its edits.
private func loads(_ plan: InjectedFiles) throws -> [String: [String]] {
    var all: [String: [String]] = [:]
    for library in plan.libraries {
        let bytes = try #require(plan.files.first { $0.path == library.path }?.bytes)
        let image = try MachOImage(bytes[...])
        let edited = try image.edited(by: library.edits, header: bytes[...], use: image.libraryUse(in: bytes[...]))
        #expect(edited.outcomes.allSatisfy { $0 == .done })
        all[library.path] = try MachOImage(edited.bytes + bytes[edited.bytes.count...]).libraries.map(\.path)
    }
    return all
}

@Suite struct `The plan of an injection` {
    @Test func `puts libraries, frameworks and resources where an app looks for them`() throws {
        let package = try Tweak(
            try DebianPackage(
                TinyDeb.bytes {
                    $0.file(
                        "Library/MobileSubstrate/DynamicLibraries/T.dylib",
                        library([substrate, "/usr/lib/libh.dylib"])
                    )
                    $0.file("usr/lib/libh.dylib", library(["/usr/lib/libSystem.B.dylib", "/usr/lib/libdeep.dylib"]))
                    $0.file("usr/lib/libdeep.dylib", library())
                    $0.file("usr/lib/libunused.dylib", library())
                    $0.file("Library/Application Support/T.bundle/a", [1])
                }
            )
        )
        let plan = try InjectedFiles([package, try framework("CydiaSubstrate", id: "/usr/lib/libellekit.dylib")])
        #expect(
            plan.files.map(\.path) == [
                "Frameworks/T.dylib", "Frameworks/libdeep.dylib", "Frameworks/libh.dylib",
                "Frameworks/CydiaSubstrate.framework/CydiaSubstrate", "Frameworks/CydiaSubstrate.framework/Info.plist",
                "T.bundle/a",
            ]
        )
        #expect(plan.libraries.map(\.isInjected) == [true, false, false, true])
        let found = try loads(plan)
        #expect(found["Frameworks/T.dylib"] == ["@rpath/CydiaSubstrate.framework/CydiaSubstrate", "@rpath/libh.dylib"])
        #expect(found["Frameworks/libh.dylib"] == ["/usr/lib/libSystem.B.dylib", "@rpath/libdeep.dylib"])
        #expect(plan.notes.map(\.text) == ["Left out: libunused.dylib of Täst, which nothing loads."])
        #expect(
            plan.edits(isWeak: true) == [
                .addRPath("@executable_path/Frameworks"), .add("@rpath/T.dylib", isWeak: true),
                .add("@rpath/CydiaSubstrate.framework/CydiaSubstrate", isWeak: true),
            ]
        )
        #expect(
            plan.edits(forExecutableIn: "PlugIns/W.appex", isWeak: false).first
                == .addRPath("@executable_path/../../Frameworks")
        )
    }

    @Test func `names libraries from the executable where that is wished`() throws {
        let tweaks = [try loose("T.dylib", ["@rpath/K.framework/K"]), try framework("K", ["@rpath/T.dylib"])]
        let plan = try InjectedFiles(tweaks, naming: .executablePath)
        let found = try loads(plan)
        #expect(found["Frameworks/T.dylib"] == ["@loader_path/K.framework/K"])
        #expect(found["Frameworks/K.framework/K"] == ["@loader_path/../T.dylib"])
        #expect(
            plan.edits(isWeak: false) == [
                .add("@executable_path/Frameworks/T.dylib", isWeak: false),
                .add("@executable_path/Frameworks/K.framework/K", isWeak: false),
            ]
        )
        #expect(
            plan.edits(forExecutableIn: "PlugIns/W.appex/", isWeak: false).first
                == .add("@executable_path/../../Frameworks/T.dylib", isWeak: false)
        )
    }

    @Test(arguments: [
        (substrate, "CydiaSubstrate"), ("@rpath/CydiaSubstrate.framework/CydiaSubstrate", "CydiaSubstrate"),
        ("/usr/lib/libsubstrate.dylib", "CydiaSubstrate"), ("/usr/lib/libhooker.dylib", "libhooker"),
        ("/var/jb/usr/lib/libellekit.dylib", "ElleKit"),
    ])
    func `tells which hook library is needed, and takes one that is given`(path: String, name: String) throws {
        let tweak = try loose("T.dylib", [path])
        let alone = try InjectedFiles([tweak])
        #expect(alone.notes.map(\.code) == [.needsHookLibrary])
        #expect(
            alone.notes.first?.text
                == "T.dylib needs \(name) (\(path)): give it with --inject, for instance ElleKit's CydiaSubstrate.framework."
        )
        #expect(alone.libraries.map(\.edits) == [[]])
        let ellekit = try framework("CydiaSubstrate", id: "/usr/lib/libellekit.dylib")
        let both = try InjectedFiles([tweak, ellekit])
        #expect(both.notes == [])
        #expect(try loads(both)["Frameworks/T.dylib"] == ["@rpath/CydiaSubstrate.framework/CydiaSubstrate"])
        let dylib = try InjectedFiles([tweak, try loose("libellekit.dylib", [])])
        #expect(try loads(dylib)["Frameworks/T.dylib"] == ["@rpath/libellekit.dylib"])
        // An app may have it already.
        let key = path.pathParts.suffix(path.contains(".framework") ? 2 : 1).joined(separator: "/")
        #expect(try InjectedFiles([tweak], appFiles: ["Frameworks/" + key]).notes == [])
    }

    @Test(arguments: [
        ("/Library/Frameworks/X.framework/X", true), ("/var/jb/usr/lib/x.dylib", true), ("@rpath/x.dylib", true),
        ("@rpath/libswiftCore.dylib", false), ("/usr/lib/libz.1.dylib", false),
        ("/System/Library/Frameworks/UIKit.framework/UIKit", false), ("@loader_path/x.dylib", true),
    ])
    func `tells of libraries that neither the system nor the app has`(path: String, isTold: Bool) throws {
        let plan = try InjectedFiles([try loose("T.dylib", [path])])
        #expect(plan.notes.map(\.code) == (isTold ? [.needsLibrary] : []))
        #expect(plan.libraries.map(\.edits) == [[]])
    }

    @Test func `leaves the system's libraries alone, whatever a tweak is called`() throws {
        let system = "/System/Library/Frameworks/K.framework/K"
        let plan = try InjectedFiles([try loose("T.dylib", [system]), try framework("K")])
        #expect(try loads(plan)["Frameworks/T.dylib"] == [system])
    }

    @Test func `tells where a tweak is for other apps`() throws {
        let tweak = try Tweak(
            try DebianPackage(
                TinyDeb.bytes {
                    $0.file("usr/lib/TweakInject/T.dylib", library())
                    $0.file("usr/lib/TweakInject/T.plist", Array("{Filter={Bundles=(com.other);};}".utf8))
                }
            )
        )
        let plan = try InjectedFiles([tweak], identifier: "com.mine")
        #expect(plan.notes.map(\.text) == ["T.dylib of Täst says that it is for com.other, not for com.mine."])
        #expect(try InjectedFiles([tweak], identifier: "com.other").notes == [])
        #expect(try InjectedFiles([tweak]).notes == [])
    }

    @Test func `is refused where two bring one file`() throws {
        let error = #expect(throws: ArchiveError.self) {
            try InjectedFiles([try loose("T.dylib", []), try loose("T.dylib", ["/a"])])
        }
        #expect(error?.code == .duplicateName)
        #expect(error?.message == "Two of what is injected bring a file for Frameworks/T.dylib.")
    }
}
