import FerryAppBundle
import FerryPropertyList
import FerrySigning
import Foundation
import TestKit
import Testing

/// One recipe, what an expression of Python's comes to on the output, and warnings that it gives.
private struct Edit: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let json: String
    /// Expressions and what each comes to.
    let seen: [(expression: String, value: String)]
    let warning: String?

    init(_ json: String, _ seen: [(String, String)], warning: String? = nil) {
        testDescription = json
        self.json = json
        self.seen = seen
        self.warning = warning
    }

    private static let keys =
        "[p(x + 'Info.plist').get(k) for x in ['', 'PlugIns/S.appex/', 'Watch/C.app/', "
        + "'Watch/C.app/PlugIns/E.appex/', 'AppClips/K.app/', 'Frameworks/F.framework/'] for k in [KEY]]"

    private static func everywhere(_ key: String) -> String { keys.replacing("KEY", with: "'\(key)'") }

    static let all: [Edit] = [
        Edit(
            #"{"name": "Größe \"2\""}"#,
            [
                (everywhere("CFBundleDisplayName"), #"["Größe \"2\"", null, null, null, null, null]"#),
                (
                    "[p(x + '.lproj/InfoPlist.strings')['CFBundleDisplayName'] for x in ['fr', 'ja']]",
                    #"["Größe \"2\"", "Größe \"2\""]"#
                ),
                (
                    "[b('fr.lproj/InfoPlist.strings')[:6].decode(), b('ja.lproj/InfoPlist.strings')[:5].decode()]",
                    #"["bplist", "<?xml"]"#
                ),
                ("p('fr.lproj/InfoPlist.strings')['NSCameraUsageDescription']", "\"é\""),
                (
                    "b('de.lproj/InfoPlist.strings').decode('utf-16').splitlines()",
                    #"["/* ü */", "\"CFBundleDisplayName\" = \"Größe \\\"2\\\"\";", "NSCameraUsageDescription = x;"]"#
                ),
                (
                    "b('es.lproj/InfoPlist.strings').decode().splitlines()",
                    #"["NSCameraUsageDescription = \"y\";", "\"CFBundleDisplayName\" = \"Größe \\\"2\\\"\";"]"#
                ),
                ("b('pt.lproj/InfoPlist.strings').decode()", "\"no strings file\""),
                (
                    "p('InfoPlist.loctable')",
                    #"{"LocProvenance": {"it": 1}, "it": {"CFBundleDisplayName": "Größe \"2\""}}"#
                ),
                ("p('Info.plist')['CFBundleName']", "\"A\""),
            ],
            warning: "pt.lproj/InfoPlist.strings: the name in it stays as it was"
        ),
        Edit(
            #"{"version": "9.8", "build": "76"}"#,
            [
                (everywhere("CFBundleShortVersionString"), #"["9.8", "9.8", "9.8", "9.8", "9.8", "1.2"]"#),
                (everywhere("CFBundleVersion"), #"["76", "76", "76", "76", "76", "3"]"#),
                ("b('Info.plist')[:6].decode()", "\"bplist\""),
            ]
        ),
        Edit(
            #"{"minimumOS": "14.0", "devices": ["ipad"], "removeSupportedDevices": true}"#,
            [
                (everywhere("MinimumOSVersion"), #"["14.0", "14.0", "8.0", "8.0", "14.0", null]"#),
                (everywhere("UIDeviceFamily"), "[[2], [2], [4], null, [2], null]"),
                ("'UISupportedDevices' in p('Info.plist')", "false"),
            ]
        ),
        Edit(#"{"removeURLSchemes": "all"}"#, [("'CFBundleURLTypes' in p('Info.plist')", "false")]),
        Edit(
            #"{"removeURLSchemes": ["Other", "last"]}"#,
            [("p('Info.plist')['CFBundleURLTypes']", #"[{"CFBundleURLSchemes": ["bench"]}]"#)]
        ),
        Edit(
            #"{"fileSharing": true, "documentBrowser": true, "fullScreen": false, "proMotion": true, "gameMode": true, "appearance": "dark"}"#,
            [
                (
                    "[p('Info.plist')[k] for k in ['UIFileSharingEnabled', 'UISupportsDocumentBrowser', "
                        + "'UIRequiresFullScreen', 'CADisableMinimumFrameDurationOnPhone', 'GCSupportsGameMode', "
                        + "'LSSupportsGameMode', 'UIUserInterfaceStyle']]",
                    #"[true, true, false, true, true, true, "Dark"]"#
                ),
                ("'UIFileSharingEnabled' in p('PlugIns/S.appex/Info.plist')", "false"),
            ]
        ),
        Edit(
            #"""
            {"set": {"New.Key": 5, "Real": 1.5, "List": [1, "a", {"b": true}], "When": {"$date": "2026-01-31T00:00:00Z"},
             "Bytes": {"$data": "aGk="}, "com.peer.bench.share:NSExtension.Rules.1": "two", "W.appex:Own": "w",
             "*:All": true, "com.peer.f:Loose": 1, "A\\.B": 1},
             "unset": ["CFBundleName", "com.peer.bench.share:NSExtension.NSExtensionPointIdentifier", "Missing"]}
            """#,
            [
                (
                    "[p('Info.plist').get(k) for k in ['New', 'Real', 'List', 'Bytes', 'CFBundleName', 'A.B']]",
                    #"[{"Key": 5}, 1.5, [1, "a", {"b": true}], "b'hi'", null, 1]"#
                ),
                ("str(p('Info.plist')['When'])", "\"2026-01-31 00:00:00\""),
                (
                    "[type(p('Info.plist')[k]).__name__ for k in ['Real', 'When', 'Bytes']]",
                    #"["float", "datetime", "bytes"]"#
                ),
                ("p('PlugIns/S.appex/Info.plist')['NSExtension']", #"{"Rules": [1, "two"]}"#),
                ("p('PlugIns/W.appex/Info.plist')['Own']", "\"w\""),
                (everywhere("All"), "[true, true, true, true, true, null]"),
                ("p('Frameworks/F.framework/Info.plist')['Loose']", "1"),
            ],
            warning: "there is no Missing to unset"
        ),
        Edit(
            #"{"dropExtensions": "all"}"#,
            [
                (
                    "sorted(n for n in names if '.appex/Info.plist' in n)",
                    #"["Payload/A.app/Watch/C.app/PlugIns/E.appex/Info.plist"]"#
                ),
                ("[k for k in p('_CodeSignature/CodeResources')['files2'] if k.startswith('PlugIns')]", "[]"),
            ]
        ),
        Edit(
            #"{"dropExtensions": ["com.peer.bench.share"], "dropWatchApps": true, "dropAppClips": true}"#,
            [
                (
                    "sorted(n[len(app):-11] for n in names if n.endswith('/Info.plist'))",
                    #"["", "Frameworks/F.framework", "PlugIns/W.appex"]"#
                ),
                ("[n for n in names if n.startswith('WatchKit')]", "[]"),
            ]
        ),
        Edit(
            #"{"keepExtensions": ["S.appex"]}"#,
            [("sorted(n.split('/')[-2] for n in names if '.appex/Info.plist' in n)", #"["E.appex", "S.appex"]"#)]
        ),
        Edit(
            #"{"removeStoreFiles": true, "removePlaceholders": true}"#,
            [
                ("[n for n in names if 'SC_Info' in n or 'iTunes' in n or 'Placeholder' in n or 'META' in n]", "[]"),
                ("'WatchKitSupport2/WK' in names", "true"),
            ]
        ),
        Edit(
            #"{"remove": ["a.txt", "en.lproj/", "link"], "set": {"X": 1}}"#,
            [("[n for n in names if 'a.txt' in n or 'en.lproj' in n or n.endswith('link')]", "[]")]
        ),
    ]
}

@Suite(.enabled(if: Hands.usable && Outside.python != nil, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `An app by a recipe` {
    private func options(_ json: String, folder: String? = nil) throws -> SigningOptions {
        var options = try Hands.options()
        options.recipe = try SigningRecipe(json: Array(json.utf8), folder: folder)
        return options
    }

    @Test(arguments: Edit.all)
    private func `is as others read it`(edit: Edit) async throws {
        let desk = try Desk(.rich())
        let signed = try await desk.sign(try options(edit.json))
        #expect(try await desk.faults() == [])
        for (expression, value) in edit.seen {
            #expect(try await Outside.ask(desk.output, expression) == value, "\(expression)")
        }
        if let warning = edit.warning {
            #expect(signed.warnings.contains { $0.contains(warning) }, "\(signed.warnings)")
        } else {
            #expect(signed.warnings == [])
        }
        if Oracle.exists {
            let faults = try await onThread {
                try Oracle.faults(desk.output, original: nil, id: signed.identifier, team: TestAuthority.team)
            }
            #expect(faults == [])
        }
    }

    @Test func `keeps every byte of what no option names`() async throws {
        let desk = try Desk(.rich())
        try await desk.sign(try options(#"{"name": "New"}"#))
        let (before, after) = (try Archive(path: desk.input), try Archive(path: desk.output))
        for name in ["a.txt", "en.lproj/a.strings", "link", "SC_Info/A.supp", "PlugIns/S.appex/Info.plist"] {
            #expect(before["Payload/A.app/" + name] == after["Payload/A.app/" + name], "\(name)")
        }
        #expect(before["iTunesMetadata.plist"] == after["iTunesMetadata.plist"])
    }

    @Test func `has an icon of every size that it declares`() async throws {
        let desk = try Desk(.rich())
        var options = try options(#"{"icon": "icon.png"}"#)
        options.iconImage = { side in Array("PNG \(side)".utf8) }
        try await desk.sign(options)
        #expect(try await desk.faults() == [])
        let icons = "{n[len(app):]: b(n[len(app):]).decode() for n in names if n.startswith(app + 'AppIcon')}"
        #expect(
            try await Outside.ask(desk.output, icons)
                == #"{"AppIcon60x60@2x.png": "PNG 120", "AppIcon60x60@3x.png": "PNG 180", "#
                + #""AppIcon76x76@2x~ipad.png": "PNG 152", "AppIcon83.5x83.5@2x~ipad.png": "PNG 167"}"#
        )
        let declared = "[p('Info.plist')[k]['CFBundlePrimaryIcon'] for k in ['CFBundleIcons', 'CFBundleIcons~ipad']]"
        #expect(
            try await Outside.ask(desk.output, declared) == #"[{"CFBundleIconFiles": ["AppIcon60x60"]}, "#
                + #"{"CFBundleIconFiles": ["AppIcon60x60", "AppIcon76x76", "AppIcon83.5x83.5"]}]"#
        )
    }

    @Test func `that declared no icon declares one`() async throws {
        let desk = try Desk(.sample())
        var options = try options(#"{"icon": "icon.png", "devices": ["iphone", "ipad"]}"#)
        options.iconImage = { side in Array("PNG \(side)".utf8) }
        try await desk.sign(options)
        #expect(
            try await Outside.ask(
                desk.output,
                "[p('Info.plist')['CFBundleIcons'], p('Info.plist')['CFBundleIcons~ipad']]"
            )
                == #"[{"CFBundlePrimaryIcon": {"CFBundleIconFiles": ["AppIcon60x60"]}}, "#
                + #"{"CFBundlePrimaryIcon": {"CFBundleIconFiles": ["AppIcon60x60", "AppIcon76x76"]}}]"#
        )
        #expect(try await Outside.ask(desk.output, "len([n for n in names if 'AppIcon' in n])") == "3")
    }

    @Test func `takes files, folders and code from the disk`() async throws {
        let desk = try Desk(.rich())
        let folder = desk.folder
        try folder.write(Array("new".utf8), to: "files/one.txt")
        try folder.write([1], to: "files/.DS_Store")
        try folder.write(TinyMachO { $0.fileType = 6 }.bytes, to: "files/sub/x.dylib")
        #expect(chmod(folder.path("files/one.txt"), 0o640) == 0)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("files/sub/up"),
            withDestinationPath: "../one.txt"
        )
        let recipe =
            #"{"add": {"Extra": "files", "a.txt": "files/one.txt", "Frameworks/y.dylib": "files/sub/x.dylib"}}"#
        let signed = try await desk.sign(try options(recipe, folder: folder.path))
        #expect(try await desk.faults() == [])
        #expect(signed.signedFileCount == 10)
        #expect(
            try await Outside.ask(
                desk.output,
                "[b('Extra/one.txt').decode(), b('a.txt').decode(), b('Extra/sub/up').decode()]"
            )
                == #"["new", "new", "../one.txt"]"#
        )
        #expect(
            try await Outside.ask(desk.output, "[mode(n) for n in ['Extra/one.txt', 'a.txt', 'Extra/sub/up']]")
                == #"["0o100640", "0o100640", "0o120777"]"#
        )
        #expect(try await Outside.ask(desk.output, "[n for n in names if 'DS_Store' in n]") == "[]")
    }

    /// Recipes that cannot be, and why.
    private static let refusals: [(json: String, words: [String])] = [
        (
            #"{"add": {"PlugIns/W.appex/x": "f"}, "dropExtensions": "all"}"#,
            ["W.appex/x: it is added, and what it lies in"]
        ),
        (#"{"add": {"A": "f"}}"#, ["the executable of Payload/A.app"]),
        (#"{"add": {"../x": "f", "b/../../x": "f"}}"#, ["Payload/A.app/../x", "climbs out", "b/../../x"]),
        (#"{"add": {"A.TXT": "f"}}"#, ["differs only in capitals"]),
        (#"{"add": {"x": "missing"}}"#, ["missing: cannot open"]),
        (#"{"add": {"x": "out-link"}}"#, ["out-link/link: cannot follow"]),
        (#"{"remove": ["A"]}"#, ["the executable of Payload/A.app"]),
        (#"{"remove": ["../../etc"]}"#, ["nothing can be removed there"]),
        (#"{"remove": ["nothing.txt"]}"#, ["no such file or folder"]),
        (#"{"dropExtensions": ["com.peer.no"]}"#, ["no extension or inner app “com.peer.no”"]),
        (#"{"keepExtensions": ["com.peer.no"]}"#, ["no extension or inner app “com.peer.no”"]),
        (#"{"keepExtensions": ["W.appex"], "dropExtensions": "all"}"#, ["to be kept and to be dropped"]),
        (#"{"set": {"com.peer.no:X": 1}}"#, ["there is no bundle “com.peer.no” in the app"]),
        (#"{"set": {"W.appex:X": 1}, "dropExtensions": "all"}"#, ["“W.appex” any more: it is dropped"]),
        (#"{"set": {"CFBundleIdentifier": "x"}}"#, ["CFBundleIdentifier cannot be changed by itself"]),
        (#"{"set": {"CFBundleName.x": 1}}"#, ["there is a string before “x”"]),
        (#"{"set": {"UIDeviceFamily.7": 1}}"#, ["no place in the array"]),
        (#"{"name": "", "version": "\n", "minimumOS": "new"}"#, ["its name", "its version", "its minimum OS"]),
        (#"{"icon": "x.png"}"#, ["nobody scales its picture"]),
        (#"{"entitlements": {"com.peer.no": {}}}"#, ["no app or extension is called that"]),
        (#"{"entitlements": {"app": "missing"}}"#, ["missing: cannot open"]),
        (
            #"{"entitlements": {"W.appex": {"aps-environment": "production"}}}"#,
            ["com.peer.bench.w: the entitlement aps"]
        ),
    ]

    @Test(arguments: refusals)
    private func `is refused by the plan with every reason`(refusal: (json: String, words: [String])) async throws {
        let desk = try Desk(.rich())
        try desk.folder.write([1], to: "f")
        try desk.folder.write([1], to: "out-link/x")
        try FileManager.default.createSymbolicLink(
            atPath: desk.folder.path("out-link/link"),
            withDestinationPath: "../../etc/passwd"
        )
        let options = try options(refusal.json, folder: desk.folder.path)
        let error = await #expect(throws: SignError.self) { try await desk.sign(options) }
        #expect(error?.code == .refused)
        for words in refusal.words { #expect(error?.message.contains(words) == true, "\(error?.message ?? "")") }
        #expect(try desk.leftovers() == [])
    }

    @Test func `with a foreign extension re-parents, keeps, drops or refuses it`() async throws {
        for (wish, id) in [("reparent", "com.peer.bench.w"), ("keep", "org.else.w"), ("drop", nil)]
            as [(String, String?)]
        {
            let desk = try Desk(.sample { $0.add("Payload/A.app/PlugIns/W.appex", id: "org.else.w") })
            try await desk.sign(try options(#"{"foreignExtensions": "\#(wish)"}"#))
            let seen = try await Outside.ask(
                desk.output,
                "[plistlib.loads(z.read(n))['CFBundleIdentifier'] for n in names if n.endswith('.appex/Info.plist')]"
            )
            #expect(seen == (id.map { "[\"\($0)\"]" } ?? "[]"))
        }
        let desk = try Desk(.sample { $0.add("Payload/A.app/PlugIns/W.appex", id: "org.else.w") })
        let options = try options(#"{"foreignExtensions": "fail", "bundleID": "com.new"}"#)
        await #expect(throws: SignError.self) { try await desk.sign(options) }
    }
}
