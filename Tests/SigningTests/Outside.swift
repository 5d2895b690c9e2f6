import FerryPropertyList
import TestKit

/// What others read in an archive: Python's `zipfile` and `plistlib`.
enum Outside {
    static let python = Tool("python3")

    /// What takes Python more than a line, from `<mach-o/loader.h>`, `<mach-o/fat.h>` and XNU's `cs_blobs.h`.
    private static let judges = """
        def unsealed(bundle):
            seal, wrong = p(bundle + '_CodeSignature/CodeResources')['files2'], []
            code = p(bundle + 'Info.plist')['CFBundleExecutable']
            for name in names:
                part = name[len(app + bundle):]
                if not name.startswith(app + bundle) or name.endswith('/') or part in (code, 'Info.plist', 'PkgInfo'): continue
                if part.startswith('_CodeSignature/'): continue
                data, kind = z.read(name), z.getinfo(name).external_attr >> 28
                want = {'symlink': data.decode()} if kind == 10 else hashlib.sha256(data).digest()
                got = seal.get(part, {})
                if want != (got if kind == 10 else got.get('hash2')): wrong.append(part)
            return wrong + [part for part in seal if app + bundle + part not in names]
        def slices(data):
            if data[:4] != b'\\xca\\xfe\\xba\\xbe': return [data]
            entries = struct.iter_unpack('>5I', data[8:8 + 20 * struct.unpack('>I', data[4:8])[0]])
            return [data[entry[2]:entry[2] + entry[3]] for entry in entries]
        def segment(image):
            place, text, signature = 32 if image[0] == 0xCF else 28, None, None
            for _ in range(struct.unpack('<I', image[16:20])[0]):
                number, size = struct.unpack('<II', image[place:place + 8])
                if number in (1, 0x19) and image[place + 8:place + 14] == b'__TEXT':
                    text = struct.unpack('<Q', image[place + 48:place + 56]) if number > 1 else struct.unpack('<I', image[place + 36:place + 40])
                if number == 0x1D: signature = struct.unpack('<I', image[place + 8:place + 12])[0]
                place += size
            directory = signature + struct.unpack('>I', image[signature + 16:signature + 20])[0]
            return [text[0], *struct.unpack('>QQ', image[directory + 72:directory + 88])]
        segments = lambda name: [segment(image) for image in slices(b(name))]
        """

    /// Evaluates an expression and gives what it comes to, as JSON with sorted keys.
    ///
    /// `z` is the archive, `p(NAME)` the property list at a path below the app, `b(NAME)` its bytes, `names` all names.
    /// `unsealed(BUNDLE)` are the files of a bundle whose SHA-256 is not the one in its seal, and `segments(NAME)` has for
    /// each slice of a Mach-O file how long `__TEXT` is, and `execSegLimit` and `execSegFlags` of its code directory.
    static func ask(_ path: String, _ expression: String, app: String = "Payload/A.app/") async throws -> String {
        let script = """
            import sys, json, zipfile, plistlib, struct, stat, hashlib
            z = zipfile.ZipFile(sys.argv[1]); app = sys.argv[3]; names = z.namelist()
            b = lambda name: z.read(app + name)
            p = lambda name: plistlib.loads(b(name))
            mode = lambda name: oct(z.getinfo(app + name).external_attr >> 16)
            \(judges)
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
