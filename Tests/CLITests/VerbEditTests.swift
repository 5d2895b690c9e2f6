import Foundation
import TestKit
import Testing

@testable import ferry

/// What Python's `zipfile` and `plistlib` read in a signed archive.
private func seen(_ path: String, _ expression: String) async throws -> String {
    let script = """
        import sys, json, zipfile, plistlib, struct
        z = zipfile.ZipFile(sys.argv[1]); app = 'Payload/Harbour.app/'; names = z.namelist()
        b = lambda name: z.read(app + name)
        p = lambda name: plistlib.loads(b(name))
        size = lambda name: struct.unpack('>II', b(name)[16:24])
        print(json.dumps(eval(sys.argv[2]), sort_keys=True, ensure_ascii=False, default=repr))
        """
    let result = try await onThread {
        try Tool(path: "/usr/bin/python3").run(["-c", script, path, expression], environment: ["PYTHONUTF8": "1"])
    }
    guard result.status == 0 else { throw ToolFailure(result.errors) }
    return String(result.text.dropLast())
}

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry sign with changes` {
    private func sign(_ ferry: Command, _ options: [String]) async throws -> (path: String, result: Tool.Result) {
        let output = try ferry.out("signed.ipa")
        let arguments = ["sign", ferry.kit.path("Harbour.ipa"), "-o", output] + ferry.kit.hands()
        return (output, try await ferry.run(arguments + options))
    }

    /// A picture of one colour.
    private func picture(_ ferry: Command, width: Int, height: Int) async throws -> String {
        let script =
            "import zlib,struct,sys; w,h=int(sys.argv[1]),int(sys.argv[2]);"
            + "c=lambda t,d: struct.pack('>I',len(d))+t+d+struct.pack('>I',zlib.crc32(t+d));"
            + "sys.stdout.buffer.write(b'\\x89PNG\\r\\n\\x1a\\n'+c(b'IHDR',struct.pack('>IIBBBBB',w,h,8,2,0,0,0))"
            + "+c(b'IDAT',zlib.compress((b'\\0'+b'\\x20\\x80\\xff'*w)*h))+c(b'IEND',b''))"
        let made = try await onThread {
            try Tool(path: "/usr/bin/python3").run(["-c", script, "\(width)", "\(height)"])
        }
        return try ferry.home.write(made.output, to: "icon \(width).png")
    }

    @Test func `keeps, limits and checks as it is told`() async throws {
        let ferry = try Command()
        let (path, result) = try await sign(
            ferry,
            [
                "--keep-extensions", "HarbourWidget.appex", "--entitlements-mode", "profile", "--foreign-extensions",
                "drop", "--page-size", "16384", "--verify", "full",
            ]
        )
        #expect(result.status == 0, "\(result.errors)")
        // `pageSize` of the code directory, the exponent of two (XNU's cs_blobs.h), and the entitlements as XML.
        let facts =
            "[sorted({n.split('/')[3] for n in names if n.startswith(app + 'PlugIns/') and n.count('/') > 3}), "
            + "b('Harbour')[b('Harbour').index(bytes.fromhex('fade0c02')) + 39], "
            + "b('Harbour').count(b'keychain-access-groups') > 0]"
        #expect(try await seen(path, facts) == #"[["HarbourWidget.appex"], 14, true]"#)
        let odd = try await sign(ferry, ["--keep-extensions", "com.nobody"]).result
        #expect(odd.status == 3)
        #expect(odd.errors.contains("“com.nobody”"))
    }

    @Test func `has a line in the guide for every option`() throws {
        let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../docs/signing.md"
        )
        let text = try String(contentsOf: guide, encoding: .utf8)
        for option in Sign.verb.options { #expect(text.contains("`\(option.name)"), "\(option.name)") }
    }

    @Test func `injects, renames and removes libraries`() async throws {
        let ferry = try Command()
        let bytes = TinyMachO {
            $0.fileType = 6
            $0.installName = "/x/libX.dylib"
        }.bytes
        let library = try ferry.home.write(bytes, to: "libX.dylib")
        let other = try ferry.home.write(bytes, to: "libY.dylib")
        let (path, result) = try await sign(
            ferry,
            [
                "--inject", library, "--inject", "HarbourWidget.appex=\(other)", "--inject-weak", "--inject-by",
                "executable-path", "--remove-dylib", "libnone.dylib", "--rename-dylib",
                "libSystem.B.dylib=/usr/lib/system.dylib",
            ]
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("neither the app nor an extension loads libnone.dylib"))
        let widget = "PlugIns/HarbourWidget.appex/HarbourWidget"
        #expect(
            try await seen(
                path,
                "[[x in b(n) for x in [b'@executable_path/Frameworks/libX.dylib\\0', "
                    + "b'@executable_path/../../Frameworks/libY.dylib\\0', b'/usr/lib/system.dylib\\0', "
                    + "b'libSystem.B.dylib']] for n in ['Harbour', '\(widget)']] "
                    + "+ [app + 'Frameworks/lib' + x + '.dylib' in names for x in 'XY']"
            ) == "[[true, false, true, false], [false, true, true, false], true, true]"
        )
        let refused = try await sign(ferry, ["--inject", "nothing.dylib"]).result
        #expect(refused.status == 3)
        #expect(refused.errors.contains("nothing.dylib"))
        for options in [["--rename-dylib", "x"], ["--inject-weak"], ["--inject-by", "rpath"]] {
            #expect(try await sign(ferry, options).result.status == 2, "\(options)")
        }
    }

    @Test(arguments: ["--adhoc", "--unsign", "--only-modify"])
    func `needs no identity to`(kind: String) async throws {
        let ferry = try Command()
        let output = try ferry.out("out.ipa")
        let arguments = ["sign", ferry.kit.path("Harbour.ipa"), "-o", output, kind]
        let result = try await ferry.run(arguments + ["--name", "Neu"])
        #expect(result.status == 0, "\(result.errors)")
        // The blob of a signature, of which the app has none before.
        let facts = "[p('Info.plist')['CFBundleDisplayName'], b'\\xfa\\xde\\x0c\\xc0' in b('Harbour')]"
        #expect(try await seen(output, facts) == "[\"Neu\", \(kind == "--adhoc")]")
        #expect(try await ferry.run(["verify", output]).status == (kind == "--adhoc" ? 0 : 1))
        let planned = try await ferry.run(["inspect", ferry.kit.path("Harbour.ipa"), "--plan", kind, "--json"])
        #expect(planned.status == 0, "\(planned.errors)")
        let signed = ["sign", ferry.kit.path("Harbour.ipa"), "-o", output, "--p12", ferry.kit.path("dev.p12")]
        let bare = try await ferry.run(signed)
        #expect(bare.status == 2)
        #expect(bare.errors.contains("--profile FILE is missing"))
        let both = try await ferry.run(arguments + ["--p12", "x.p12"])
        #expect(both.status == 2)
        #expect(both.errors.contains("exclude each other"))
    }

    @Test func `does what each option says`() async throws {
        let ferry = try Command()
        let file = try ferry.home.write([1, 2], to: "file.bin")
        let (path, result) = try await sign(
            ferry,
            [
                "--name", "Größe", "--app-version", "3.0", "--build", "99", "--min-os", "14.0", "--devices", "ipad",
                "--icon", try await picture(ferry, width: 256, height: 256), "--remove-url-schemes", "all",
                "--remove-supported-devices", "--file-sharing", "on", "--document-browser", "off", "--full-screen",
                "on",
                "--pro-motion", "on", "--game-mode", "off", "--appearance", "dark", "--set", "A.B=5", "--set",
                "HarbourWidget.appex:C=[1]", "--set", "CFBundleName=7", "--unset", "LSRequiresIPhoneOS",
                "--drop-extensions", "com.example.harbour.share", "--drop-watch-apps", "--drop-app-clips", "--add",
                "New/x.bin=\(file)", "--remove", "Sounds", "--remove-placeholders", "--remove-store-files",
                "--unique-id", "always", "--bundle-id", "org.mine",
            ]
        )
        #expect(result.status == 0, "\(result.errors)")
        let keys =
            "{k: p('Info.plist').get(k) for k in ['CFBundleDisplayName', 'CFBundleShortVersionString', "
            + "'CFBundleVersion', 'MinimumOSVersion', 'UIDeviceFamily', 'CFBundleURLTypes', 'UIFileSharingEnabled', "
            + "'UISupportsDocumentBrowser', 'UIRequiresFullScreen', 'CADisableMinimumFrameDurationOnPhone', "
            + "'GCSupportsGameMode', 'UIUserInterfaceStyle', 'A', 'CFBundleName', 'LSRequiresIPhoneOS']}"
        #expect(
            try await seen(path, keys) == #"{"A": {"B": 5}, "CADisableMinimumFrameDurationOnPhone": true, "#
                + #""CFBundleDisplayName": "Größe", "CFBundleName": "7", "CFBundleShortVersionString": "3.0", "#
                + #""CFBundleURLTypes": null, "CFBundleVersion": "99", "GCSupportsGameMode": false, "#
                + #""LSRequiresIPhoneOS": null, "MinimumOSVersion": "14.0", "UIDeviceFamily": [2], "#
                + #""UIFileSharingEnabled": true, "UIRequiresFullScreen": true, "UISupportsDocumentBrowser": false, "#
                + #""UIUserInterfaceStyle": "Dark"}"#
        )
        #expect(try await seen(path, "p('de.lproj/InfoPlist.strings')['CFBundleDisplayName']") == "\"Größe\"")
        #expect(
            try await seen(path, "[size('AppIcon60x60@2x.png'), size('AppIcon60x60@3x.png')]")
                == "[[120, 120], [180, 180]]"
        )
        #expect(try await seen(path, "p('PlugIns/HarbourWidget.appex/Info.plist')['C']") == "[1]")
        #expect(try await seen(path, "[n for n in names if 'Sounds/' in n and n[-1] != '/' or 'Share' in n]") == "[]")
        #expect(try await seen(path, "list(b('New/x.bin'))") == "[1, 2]")
        let id = try await seen(path, "p('Info.plist')['CFBundleIdentifier']")
        #expect(id.hasPrefix("\"org.mine.x") && id.count == "\"org.mine.x12345\"".count)
        let verified = try await ferry.run(["verify", path])
        #expect(verified.status == 0, "\(verified.text)")
    }

    @Test func `takes a recipe, and options win`() async throws {
        let ferry = try Command()
        try ferry.home.write([7], to: "recipes/file.bin")
        let recipe = #"{"name": "Recipe", "build": "5", "add": {"x.bin": "file.bin"}, "set": {"A": 1, "B": 1}}"#
        let path = try ferry.home.write(Array(recipe.utf8), to: "recipes/r.json")
        let (output, result) = try await sign(ferry, ["--recipe", path, "--name", "Option", "--set", "B=2"])
        #expect(result.status == 0, "\(result.errors)")
        let keys = "[p('Info.plist')[k] for k in ['CFBundleDisplayName', 'CFBundleVersion', 'A', 'B']]"
        #expect(try await seen(output, keys) == #"["Option", "5", 1, 2]"#)
        #expect(try await seen(output, "list(b('x.bin'))") == "[7]")
    }

    @Test(
        arguments: [
            (["--set", "A"], 2, "“A” is not KEY=VALUE"), (["--set", "A..B=1"], 2, "one of its parts is empty"),
            (["--add", "x"], 2, "“x” is not PATH=FILE"), (["--appearance", "drak"], 2, "Did you mean dark?"),
            (["--devices", "ipod"], 2, "--devices"), (["--file-sharing", "yes"], 2, "is not on or off"),
            (["--remove", "nothing"], 3, "no such file or folder"),
            (["--add", "Harbour=password.txt"], 3, "password.txt"),
            (["--recipe", "missing.json"], 1, "missing.json"), (["--icon", "missing.png"], 1, "missing.png"),
            (["--entitlements", "com.no=missing.plist"], 1, "missing.plist"),
        ] as [([String], Int32, String)]
    )
    func `refuses what it cannot do`(options: [String], status: Int32, words: String) async throws {
        let ferry = try Command()
        let (_, result) = try await sign(ferry, options)
        #expect(result.status == status)
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(ferry.files(in: "out") == [])
    }

    @Test func `refuses a picture that is too small or no square`() async throws {
        let ferry = try Command()
        for (width, height) in [(100, 100), (300, 200)] {
            let icon = try await picture(ferry, width: width, height: height)
            let (_, result) = try await sign(ferry, ["--icon", icon])
            #expect(result.status == 3)
            #expect(result.errors.contains("Give a square PNG"), "\(result.errors)")
        }
    }

    @Test func `names the nearest key of a recipe`() async throws {
        let ferry = try Command()
        let path = try ferry.home.write(Array(#"{"nmae": "x"}"#.utf8), to: "r.json")
        let (_, result) = try await sign(ferry, ["--recipe", path])
        #expect(result.status == 1)
        #expect(result.errors.contains("r.json: nmae: no recipe has such a key"))
        #expect(result.errors.contains("Did you mean “name”?"))
    }

    @Test func `has its options under headings in help`() async throws {
        let help = try await Command().run(["help", "sign"]).text
        for heading in ["Identity and profiles", "Changes to the app", "Single keys", "Extensions and files"] {
            #expect(help.contains("\n\(heading)\n"), "\(heading)")
        }
    }
}

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry inspect --plan` {
    private let options = [
        "--name", "Mine", "--bundle-id", "org.mine", "--remove", "Sounds", "--drop-extensions", "HarbourShare.appex",
    ]

    @Test func `shows what would change, and writes nothing`() async throws {
        let ferry = try Command()
        let arguments = ["inspect", ferry.kit.path("Harbour.ipa"), "--plan"] + ferry.kit.hands() + options
        let result = try await ferry.run(arguments)
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.contains("CFBundleDisplayName Harbour → Mine"), "\(result.text)")
        #expect(lines.contains("id com.example.harbour.widget → org.mine.widget"))
        #expect(lines.contains("Payload/Harbour.app/PlugIns/HarbourShare.appex: left out"))
        #expect(lines.contains("Payload/Harbour.app/Sounds"))

        let data = try await ferry.run(arguments + ["--json"])
        #expect(try await Python.lines(data.output) == 1)
        #expect(try await Python.value(data.output, "bundles.0.identifier") == "org.mine")
        #expect(try await Python.value(data.output, "bundles.0.infoPlist.0.key") == "CFBundleDisplayName")
        #expect(try await Python.value(data.output, "bundles.0.infoPlist.0.new") == "Mine")
    }

    @Test func `refuses as ferry sign does, and asks for what that asks for`() async throws {
        let ferry = try Command()
        let path = ferry.kit.path("Harbour.ipa")
        let refused = try await ferry.run(["inspect", path, "--plan"] + ferry.kit.hands() + ["--remove", "Harbour"])
        #expect(refused.status == 3)
        #expect(refused.errors.contains("the executable of Payload/Harbour.app"))
        let missing = try await ferry.run(["inspect", path, "--plan"])
        #expect(missing.status == 2)
        #expect(missing.errors.contains("--p12 or --certificate with --key is missing"))
        let alone = try await ferry.run(["inspect", path, "--name", "x"])
        #expect(alone.status == 2)
        #expect(alone.errors.contains("Give --plan"))
    }
}
