import FerryPropertyList
import TestKit

/// What others read in an archive: Python's `zipfile` and `plistlib`.
enum Outside {
    static let python = Tool("python3")

    /// Evaluates an expression and gives what it comes to, as JSON with sorted keys.
    ///
    /// `z` is the archive, `p(NAME)` the property list at a path below the app, `b(NAME)` its bytes, `names` all names.
    static func ask(_ path: String, _ expression: String, app: String = "Payload/A.app/") async throws -> String {
        let script = """
            import sys, json, zipfile, plistlib, struct, stat
            z = zipfile.ZipFile(sys.argv[1]); app = sys.argv[3]; names = z.namelist()
            b = lambda name: z.read(app + name)
            p = lambda name: plistlib.loads(b(name))
            mode = lambda name: oct(z.getinfo(app + name).external_attr >> 16)
            print(json.dumps(eval(sys.argv[2]), sort_keys=True, ensure_ascii=False, default=repr))
            """
        let tool = Tool(path: python?.path ?? "/usr/bin/python3")
        let result = try await onThread {
            try tool.run(["-c", script, path, expression, app], environment: ["PYTHONUTF8": "1"])
        }
        guard result.status == 0 else { throw ToolFailure(result.errors) }
        return result.text.split(separator: "\n").joined(separator: "\n")
    }
}

extension Archive {
    /// An app with something of everything that a recipe can change.
    static func rich(_ change: (inout Archive) -> Void = { _ in }) -> Archive {
        sample { archive in
            let app = "Payload/A.app"
            archive.add(
                app,
                id: "com.peer.bench",
                code: TinyMachO { $0.signatureRoom = 0x4000 }.bytes,
                [
                    "CFBundleDisplayName": "Bench", "CFBundleName": "A", "MinimumOSVersion": "15.0",
                    "UIDeviceFamily": [1, 2], "UISupportedDevices": ["iPhone9,1"],
                    "CFBundleURLTypes": [
                        ["CFBundleURLSchemes": ["bench", "other"]], ["CFBundleURLSchemes": ["last"]],
                    ],
                    "CFBundleIcons": [
                        "CFBundlePrimaryIcon": ["CFBundleIconFiles": ["AppIcon60x60"], "CFBundleIconName": "AppIcon"]
                    ],
                    "CFBundleIcons~ipad": [
                        "CFBundlePrimaryIcon": [
                            "CFBundleIconFiles": ["AppIcon60x60", "AppIcon76x76", "AppIcon83.5x83.5"],
                            "CFBundleIconName": "AppIcon",
                        ]
                    ],
                ]
            )
            archive[app + "/AppIcon60x60@2x.png"] = Array("old".utf8)
            archive[app + "/AppIcon76x76@2x~ipad.png"] = Array("old".utf8)
            let share: PropertyList = ["NSExtensionPointIdentifier": "com.apple.share-services", "Rules": [1, 2]]
            archive.add(
                app + "/PlugIns/S.appex",
                id: "com.peer.bench.share",
                code: TinyMachO { $0.seed = 5 }.bytes,
                ["NSExtension": share, "MinimumOSVersion": "15.0"]
            )
            archive.add(
                app + "/Watch/C.app",
                id: "com.peer.bench.watch",
                code: TinyMachO { $0.seed = 6 }.bytes,
                [
                    "WKWatchKitApp": true, "WKCompanionAppBundleIdentifier": "com.peer.bench",
                    "MinimumOSVersion": "8.0",
                    "UIDeviceFamily": [4],
                ]
            )
            archive.add(
                app + "/Watch/C.app/PlugIns/E.appex",
                id: "com.peer.bench.watch.ext",
                code: TinyMachO { $0.seed = 7 }.bytes,
                ["MinimumOSVersion": "8.0"]
            )
            archive.add(
                app + "/AppClips/K.app",
                id: "com.peer.bench.Clip",
                code: TinyMachO { $0.seed = 8 }.bytes,
                ["NSAppClip": [:], "MinimumOSVersion": "15.0"]
            )
            let names: PropertyList = ["CFBundleDisplayName": "Banc", "NSCameraUsageDescription": "é"]
            archive[app + "/fr.lproj/InfoPlist.strings"] = names.encoded(as: .binary)
            archive[app + "/ja.lproj/InfoPlist.strings"] = names.encoded(as: .xml)
            let old = "/* ü */\n\"CFBundleDisplayName\" = \"Bank\";\nNSCameraUsageDescription = x;\n"
            archive[app + "/de.lproj/InfoPlist.strings"] =
                [0xFF, 0xFE] + old.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
            archive[app + "/es.lproj/InfoPlist.strings"] = Array("NSCameraUsageDescription = \"y\";".utf8)
            archive[app + "/pt.lproj/InfoPlist.strings"] = Array("no strings file".utf8)
            let table: PropertyList = ["it": ["CFBundleDisplayName": "Banco"], "LocProvenance": ["it": 1]]
            archive[app + "/InfoPlist.loctable"] = table.encoded(as: .binary)
            archive[app + "/SC_Info/A.supp"] = [1]
            archive[app + "/PlugIns/S.appex/SC_Info/S.supp"] = [1]
            archive[app + "/com.apple.WatchPlaceholder/x"] = [1]
            archive["iTunesMetadata.plist"] = PropertyList.dictionary([:]).encoded(as: .xml)
            archive["META-INF/com.apple.ZipMetadata.plist"] = PropertyList.dictionary([:]).encoded(as: .xml)
            archive["WatchKitSupport2/WK"] = [1]
            change(&archive)
        }
    }
}
