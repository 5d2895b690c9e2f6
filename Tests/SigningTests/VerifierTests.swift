import FerryAppBundle
import FerryBytes
import FerryPropertyList
import Foundation
import TestKit
import Testing

@testable import FerryCodeSignature
@testable import FerrySigning

/// An app that is wrong before it is signed, and all that a device would have against it.
private struct Misbuilt: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let codes: Set<String>
    let device: TargetDevice
    let change: @Sendable (inout Archive) -> Void

    init(
        _ name: String,
        _ codes: Set<String>,
        for device: TargetDevice = .init(),
        _ change: @escaping @Sendable (inout Archive) -> Void = { _ in }
    ) {
        testDescription = name
        self.codes = codes
        self.device = device
        self.change = change
    }

    private static func code(_ change: (inout TinyMachO) -> Void) -> [UInt8] {
        TinyMachO {
            $0.signatureRoom = 0x4000
            change(&$0)
        }.bytes
    }

    private static func framework(_ name: String) -> String { Berth.framework + "\(name).framework/\(name)" }

    private static func live(_ archive: inout Archive) {
        Berth.set(&archive, Berth.app + "Info.plist") { $0["NSSupportsLiveActivities"] = true }
    }

    private static let simulator = code {
        $0.cpuType = 0x0100_0007
        $0.platform = 7
    }

    static let all: [Misbuilt] = [
        Misbuilt("nothing", []),
        Misbuilt(
            "nothing, for its device",
            [],
            for: .init(identifier: Berth.device, platform: .iOS, system: .init("15"))
        ),
        Misbuilt("nothing, for a headset, which runs apps for phones", [], for: .init(platform: .visionOS)),
        Misbuilt("another device", ["device-not-in-profile"], for: .init(identifier: "00008110-000000000000002E")),
        Misbuilt("another platform", ["wrong-platform"], for: .init(platform: .tvOS)),
        Misbuilt("an older system", ["system-too-old", "system-too-old?"], for: .init(system: .init("14.8.1"))),
        Misbuilt("an extension for a newer system", ["system-too-old?"], for: .init(system: .init("15.3"))) {
            Berth.set(&$0, Berth.widget + "/Info.plist") { $0["MinimumOSVersion"] = "16.1" }
        },
        Misbuilt("32-bit code alone", ["architecture"]) {
            $0[Berth.app + "A"] = code {
                $0.is64Bit = false
                $0.cpuType = 12
                $0.cpuSubtype = 9
            }
        },
        Misbuilt("a simulator's code alone", ["architecture", "wrong-platform"]) { $0[Berth.app + "A"] = simulator },
        Misbuilt("a simulator's code beside the right one", ["wrong-platform?"]) {
            $0[Berth.app + "A"] = TinyMachO.fat([code { _ in }, simulator])
        },
        Misbuilt("a library for Macs", ["wrong-platform"]) {
            $0[Berth.app + "x.dylib"] = code {
                $0.fileType = 6
                $0.platform = 1
            }
        },
        Misbuilt("a library for a simulator's processor", ["architecture?"]) {
            $0[Berth.app + "x.dylib"] = code {
                $0.fileType = 6
                $0.cpuType = 0x0100_0007
            }
        },
        Misbuilt("an Info.plist of a simulator's", ["wrong-platform"]) {
            Berth.set(&$0, Berth.app + "Info.plist") { $0["CFBundleSupportedPlatforms"] = ["iPhoneSimulator"] }
        },
        Misbuilt("code for a newer system than the app's", ["code-minimum-os?"]) {
            $0[Berth.app + "x.dylib"] = code {
                $0.fileType = 6
                $0.minimumOS = 17 << 16 | 2 << 8
            }
        },
        Misbuilt("an extension of nothing", ["extension-point-missing"]) {
            Berth.set(&$0, Berth.widget + "/Info.plist") { $0["NSExtension"] = nil }
        },
        Misbuilt("a watch app that does not name its system", []) {
            $0.add(
                "Payload/A.app/Watch/C.app",
                id: "com.peer.bench.c",
                code: code {
                    $0.cpuType = 12
                    $0.cpuSubtype = 12
                    $0.is64Bit = false
                    $0.platform = 4
                },
                ["WKWatchKitApp": true]
            )
        },
        Misbuilt("names that capitals tell apart", ["case-twins?"]) { $0[Berth.app + "A.txt"] = [1] },
        Misbuilt("Live Activities, all there", [], live),
        Misbuilt("Live Activities without an extension", ["live-activity-extension?"]) { archive in
            live(&archive)
            archive.entries.removeAll { $0.name.hasPrefix(Berth.widget) }
        },
        Misbuilt("Live Activities with an extension of another kind", ["live-activity-extension?"]) { archive in
            live(&archive)
            Berth.set(&archive, Berth.widget + "/Info.plist") {
                $0["NSExtension"] = ["NSExtensionPointIdentifier": "com.apple.share-services"]
            }
        },
        Misbuilt("Live Activities in an extension that is misdeclared", ["live-activity-point?"]) { archive in
            live(&archive)
            Berth.set(&archive, Berth.widget + "/Info.plist") {
                $0["NSExtension"] = ["NSExtensionPointIdentifier": "com.apple.share-services"]
            }
            archive[Berth.widget + "/A"] = code { $0.dylibs = [framework("WidgetKit")] }
        },
        Misbuilt("Live Activities that the app does not speak of", ["live-activity-key?"]) {
            $0[Berth.app + "A"] = code { $0.dylibs = [framework("ActivityKit")] }
        },
    ]
}

/// The tables of the guide: what each code stands for.
private enum Guide {
    /// The cells of each line that begins with a code; a line may have two.
    static func rows() throws -> [(code: String, cells: [String])] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/verify.md")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| `") }
            .flatMap { line in
                let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                return cells[0].split(separator: ",").map {
                    ($0.trimmingCharacters(in: CharacterSet(charactersIn: " `")), cells)
                }
            }
            .filter { !$0.0.hasPrefix("-") }
    }
}

/// Bytes of a signed archive changed by a program that is not ours, and the one thing said of it.
private struct Mispacked: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: String
    let script: String

    init(_ name: String, _ code: String, _ script: String) {
        testDescription = name
        self.code = code
        self.script = script
    }

    static let all: [Mispacked] = [
        Mispacked("bzip2", "archive-unsupported", "z.writestr('Payload/A.app/b', 'b' * 99, zipfile.ZIP_BZIP2)"),
        Mispacked("LZMA", "archive-unsupported", "z.writestr('Payload/A.app/b', 'b' * 99, zipfile.ZIP_LZMA)"),
        Mispacked("a name twice", "archive-duplicate", "z.writestr('Payload/A.app/a.txt', 'b')"),
        Mispacked("a file where a folder is", "archive-duplicate", "z.writestr('Payload/A.app/PlugIns', 'b')"),
        Mispacked("a name that climbs", "archive-escaping-name", "z.writestr('Payload/A.app/../../b', 'b')"),
        Mispacked("a name from the root", "archive-escaping-name", "z.writestr('/b', 'b')"),
        Mispacked("a link that climbs", "archive-escaping-link", "link('Payload/A.app/b', '../../b')"),
        Mispacked("a link to the root", "archive-escaping-link", "link('Payload/A.app/b', '/etc/passwd')"),
        Mispacked("another app", "archive", "z.writestr('Payload/B.app/Info.plist', 'b')"),
    ]
}

private let signed = Task { () async throws -> [UInt8] in
    let desk = try Desk(Berth.archive())
    try await desk.sign(try Hands.options())
    return try WholeFile.read(desk.output, limit: .max)
}

@Suite(.enabled(if: Hands.usable, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `A device's check` {
    @Test(arguments: Misbuilt.all)
    private func `finds what was built wrong, and nothing else`(app: Misbuilt) async throws {
        let desk = try Desk(Berth.archive(app.change))
        try await desk.sign(try Hands.options())
        let faults = try await Berth.verifier.verify(desk.output, for: app.device)
        let codes = Set(faults.map { $0.code.rawValue + ($0.isWarning ? "?" : "") })
        #expect(codes == app.codes.union([Berth.authority]), "\(faults.map(\.message))")
        for fault in faults {
            #expect(fault.place.hasPrefix("Payload/A.app"))
            #expect(fault.remedy?.isEmpty == false)
            #expect(!fault.isWarning || fault.systemAnswer == nil)
        }
    }

    @Test func `says what iOS would`() async throws {
        let desk = try Desk(Berth.archive())
        try await desk.sign(try Hands.options())
        let old = TargetDevice(identifier: "elsewhere", system: SystemVersion("9"))
        let answers = Set(try await Berth.verifier.verify(desk.output, for: old).compactMap(\.systemAnswer))
        #expect(
            answers == [
                "DeviceOSVersionTooLow", "0xe8008012 This provisioning profile cannot be installed on this device.",
            ]
        )
    }

    @Test(.enabled(if: PythonZip.exists, "\(PythonZip.absent)"), arguments: Mispacked.all)
    private func `refuses what was packed wrong`(archive: Mispacked) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(try await signed.value, to: "a.ipa")
        try await PythonZip.add(archive.script, to: path)
        let faults = try await Berth.verifier.verify(path)
        #expect(faults.map(\.code.rawValue) == [archive.code])
        #expect(faults.first?.place == path)
        #expect(faults.first?.systemAnswer != nil)
    }

    @Test(.enabled(if: PythonZip.exists, "\(PythonZip.absent)"))
    func `refuses an entry with a password, and tells of a file beside the app`() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(try await signed.value, to: "a.ipa")
        try await PythonZip.add("z.writestr('Payload/notes.txt', 'b')", to: path)
        #expect(try await Berth.codes(path) == [Berth.authority, "stray-file?"])
        try folder.write([1, 2, 3], to: "secret")
        try await PythonZip.run("zip", ["-q", "-P", "x", path, "secret"], in: folder.path)
        #expect(try await Berth.codes(path) == ["archive-encrypted"])
    }

    @Test func `finds an extension without its executable, which shows no Live Activity`() async throws {
        let desk = try Desk(
            Berth.archive { Berth.set(&$0, Berth.app + "Info.plist") { $0["NSSupportsLiveActivities"] = true } }
        )
        try await desk.sign(try Hands.options())
        var archive = try Archive(path: desk.output)
        archive[Berth.widget + "/A"] = nil
        let folder = try TemporaryFolder()
        let path = try folder.write(archive.bytes(), to: "a.ipa")
        let faults = try await Berth.verifier.verify(path)
        #expect(
            Set(faults.map(\.code.rawValue)) == [
                "bundle-executableMissing", "live-activity-extension", "sealed-file-missing", "foreign-authority",
            ]
        )
        #expect(faults.first { $0.code.rawValue == "live-activity-extension" }?.place == Berth.widget)
        #expect(
            faults.first { $0.code.rawValue == "bundle-executableMissing" }?.systemAnswer == "MissingBundleExecutable"
        )
    }

    @Test func `finds what has expired above the signer`() async throws {
        let desk = try Desk(Berth.archive())
        try await desk.sign(try Hands.options())
        let late = Verifier(threadCount: 1, now: { Hands.now + 4000 * Hands.day })
        let messages = try await late.verify(desk.output).filter { $0.code.rawValue == "certificate-expired" }.map(
            \.message
        )
        #expect(messages.contains { $0.contains("signer") && $0.contains("leaf") })
        #expect(messages.contains { $0.contains("issuer") && $0.contains("Test Developer Relations CA") })
        #expect(messages.count == 2)
    }

    @Test func `finds two extensions of one identifier`() throws {
        let app: PropertyList = ["CFBundleIdentifier": "com.a", "CFBundleExecutable": "A"]
        let widget: PropertyList = [
            "CFBundleIdentifier": "com.a.w", "CFBundleExecutable": "A",
            "NSExtension": ["NSExtensionPointIdentifier": "com.apple.share-services"],
        ]
        let folders = ["Payload/A.app", "Payload/A.app/PlugIns/V.appex", "Payload/A.app/PlugIns/W.appex"]
        let paths = folders.flatMap { [BundlePath(path: $0 + "/Info.plist"), BundlePath(path: $0 + "/A")] }
        let tree = try BundleTree(paths: paths) { ($0.contains("appex") ? widget : app).encoded(as: .xml) }
        let faults = DeviceRules(tree: tree, code: [], device: .init()).faults()
        #expect(faults.map(\.code.rawValue) == ["duplicate-identifier"])
        #expect(faults.first?.place == folders[2])
        #expect(faults.first?.message == "It has the identifier com.a.w, as has \(folders[1]).")
    }

    @Test func `is told of in the guide, each code with what iOS says`() throws {
        let rows = try Guide.rows()
        let codes = rows.map(\.code)
        #expect(Set(codes).count == codes.count)
        for (code, cells) in rows {
            #expect(cells.count == 4, "\(code)")
            #expect((Fault.Code(rawValue: code).systemAnswer ?? "–") == cells[2], "\(code)")
        }
        let found = Misbuilt.all.flatMap(\.codes).map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "?")) }
        #expect(Set(found + Mispacked.all.map(\.code)).subtracting(codes).isEmpty)
        // Every code that the sources name.
        let sources = ["CodeSignature/Fault.swift", "Signing/Verifying/Fault+Archive.swift"]
        let modules = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Modules")
        for source in sources {
            let text = try String(contentsOf: modules.appendingPathComponent(source), encoding: .utf8)
            let named = text.matches(of: /Self\("([a-z-]+)"\)/).map { String($0.1) }
            #expect(named.count > 10)
            #expect(Set(named).subtracting(codes).isEmpty, "\(Set(named).subtracting(codes))")
        }
    }

    @Test func `knows Apple's roots by their fingerprints`() {
        // Fingerprints as https://www.apple.com/certificateauthority/ has them.
        let known = [
            "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024",
            "c2b9b042dd57830e7d117dac55ac8ae19407d38e41d88f3215bc3a890444a050",
            "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179",
        ]
        #expect(AppleAuthorities.rootFingerprints == Set(known))
    }

    @Test(
        arguments: [
            ("17", "17.0"), ("17.5", "17.5"), ("17.5.1", "17.5.1"), ("", nil), ("17.", nil), ("17.5.1.2", nil),
            ("x", nil),
            ("-1", nil), ("99999", nil), ("１７", nil),
        ] as [(String, String?)]
    )
    func `reads a version`(text: String, shown: String?) {
        #expect(SystemVersion(text)?.description == shown)
    }
}
