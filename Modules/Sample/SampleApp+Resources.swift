import FerryPropertyList

extension SampleApp {
    // MARK: Info.plist

    private func common(
        _ identifier: String,
        name: String,
        kind: String
    ) -> PropertyList.Dictionary {
        [
            "CFBundleDevelopmentRegion": "en",
            "CFBundleExecutable": .string(name),
            "CFBundleIdentifier": .string(identifier),
            "CFBundleInfoDictionaryVersion": "6.0",
            "CFBundleName": .string(name),
            "CFBundlePackageType": .string(kind),
            "CFBundleShortVersionString": .string(version),
            "CFBundleSupportedPlatforms": ["iPhoneOS"],
            "CFBundleVersion": .string(build),
            "DTPlatformName": "iphoneos",
            "DTPlatformVersion": "17.0",
            "DTSDKName": "iphoneos17.0",
            "MinimumOSVersion": .string(minimumOS),
            "UIDeviceFamily": [1, 2],
        ]
    }

    var appInfo: [UInt8] {
        var info = common(bundleIdentifier, name: "Harbour", kind: "APPL")
        info["CFBundleDisplayName"] = .string(displayName)
        info["LSRequiresIPhoneOS"] = true
        info["UILaunchScreen"] = [:]
        info["UIRequiredDeviceCapabilities"] = ["arm64"]
        info["CFBundleURLTypes"] = [
            ["CFBundleURLName": .string(bundleIdentifier), "CFBundleURLSchemes": ["harbour"]]
        ]
        if supportsLiveActivities {
            info["NSSupportsLiveActivities"] = true
        }
        if parts.contains(.icons) {
            info["CFBundleIcons"] = ["CFBundlePrimaryIcon": ["CFBundleIconFiles": ["AppIcon60x60"]]]
        }
        if parts.contains(.localizations) {
            info["CFBundleLocalizations"] = ["en", "de", "ja"]
        }
        changeInfo(&info)
        return PropertyList.dictionary(info).encoded(as: .binary)
    }

    var frameworkInfo: [UInt8] {
        let info = common(bundleIdentifier + ".tide", name: "Tide", kind: "FMWK")
        return PropertyList.dictionary(info).encoded(as: .binary)
    }

    func extensionFiles(_ binary: Binary, _ name: String, identifier: String, point: String) -> [File] {
        var info = common(bundleIdentifier + identifier, name: name, kind: "XPC!")
        info["CFBundleDisplayName"] = .string(displayName)
        info["NSExtension"] = ["NSExtensionPointIdentifier": .string(point)]
        let encoded = PropertyList.dictionary(info).encoded(as: .binary)
        return [File(Self.path + "/PlugIns/\(name).appex/Info.plist", encoded), self.binary(binary)]
    }

    // MARK: Resources

    var localizations: [File] {
        let languages: [(code: String, name: String, greeting: String)] = [
            ("en", "Harbour", "The ferry has landed."), ("de", "Hafen", "Die Fähre hat angelegt."),
            ("ja", "港", "フェリーが着きました。"),
        ]
        var files = languages.flatMap { language in
            let folder = Self.path + "/\(language.code).lproj"
            let shown = language.code == "en" ? displayName : language.name
            let names: PropertyList = ["CFBundleDisplayName": .string(shown)]
            let texts: PropertyList = ["landed": .string(language.greeting), "harbour": .string(language.name)]
            return [
                File(folder + "/InfoPlist.strings", names.encoded(as: .binary)),
                File(folder + "/Localizable.strings", texts.encoded(as: .binary)),
            ]
        }
        var random = SampleRandom(seed: seed, name: "nib")
        files.append(File(Self.path + "/Base.lproj/Main.nib", Array("NIBArchive".utf8) + random.content(2000)))
        return files
    }

    var resources: [File] {
        var files = [
            "データ.txt", "Übersicht für Lotsen.txt", "Гавань.txt", "منارة.txt", "항구.txt", "emoji 🌊.txt", "a&b<c>.txt",
        ].map { name in
            File(Self.path + "/Logbook/" + name, Array(String(repeating: name + "\n", count: 40).utf8))
        }
        files.append(File(Self.path + "/Logbook/empty.bin", []))

        // What the Mach-O files leave: half in charts, which deflate well, half in sounds, which do not.
        let left = max(16 << 10, approximateBytes / 100 * 26)
        let count = min(max(left / (64 << 10), 2), 4000)
        var random = SampleRandom(seed: seed, name: "resources")
        for index in 0..<count {
            let digits = String(index)
            let number = String(repeating: "0", count: max(0, 3 - digits.count)) + digits
            files.append(File(Self.path + "/Charts/chart-\(number).json", chart(left / count / 2, &random)))
            files.append(File(Self.path + "/Sounds/horn-\(number).caf", random.noise(left / count / 2)))
        }
        return files
    }

    /// Depths along a line, as JSON of about `count` bytes.
    private func chart(_ count: Int, _ random: inout SampleRandom) -> [UInt8] {
        var lines: [String] = []
        var length = 0
        var depth = 20
        repeat {
            let bits = random.next()
            depth = max(1, depth + Int(bits & 7) - 3)
            let line = #"{"mark": \#(lines.count), "depth": \#(depth), "light": "\#(bits & 8 == 0 ? "red" : "green")"}"#
            length += line.utf8.count + 2
            lines.append(line)
        } while length < count
        return Array(("[" + lines.joined(separator: ",\n") + "]\n").utf8)
    }
}
