import FerryAppBundle
import FerryPropertyList
import Testing

@Suite struct `A bundle tree` {
    @Test func `finds every bundle at any depth, and signs the deepest first`() throws {
        let files = app {
            $0.add("Payload/A.app/Watch/W.app", id: "com.peer.bench.w", ["WKWatchKitApp": true])
            $0.add("Payload/A.app/Watch/W.app/PlugIns/E.APPEX", id: "com.peer.bench.w.e")
            $0.add("Payload/A.app/Frameworks/F.framework", id: "org.f")
            $0.add("Payload/A.app/Watch/W.app/PlugIns/E.APPEX/Frameworks/G.framework", id: "org.g")
            $0["Payload/A.app/Res/Kit.bundle/x.txt"] = [1]
        }
        let tree = try files.tree()
        #expect(
            tree.bundles.map(\.path) == [
                "Payload/A.app", "Payload/A.app/Frameworks/F.framework", "Payload/A.app/Res/Kit.bundle",
                "Payload/A.app/Watch/W.app", "Payload/A.app/Watch/W.app/PlugIns/E.APPEX",
                "Payload/A.app/Watch/W.app/PlugIns/E.APPEX/Frameworks/G.framework",
            ]
        )
        #expect(
            tree.root.deepestFirst().map(\.name) == ["F.framework", "G.framework", "E.APPEX", "W.app", "A.app"]
        )
        let extensions = try #require(tree.bundle(at: "Payload/A.app/Watch/W.app/PlugIns/E.APPEX"))
        #expect(extensions.kind == .appExtension)
        #expect(extensions.container == "Payload/A.app/Watch/W.app")
        #expect(extensions.executable == "Payload/A.app/Watch/W.app/PlugIns/E.APPEX/A")
        #expect(tree.bundle(at: "Payload/A.app/Frameworks/F.framework")?.container == "Payload/A.app")
        #expect(tree.root.container == nil)
        #expect(tree.problems().isEmpty)
        #expect(tree.warnings.isEmpty)
    }

    @Test(
        arguments: [
            ([], "Payload: there is no app in the archive; it is empty."),
            (["NotAnApp.txt"], "Payload: there is no app in the archive; it holds NotAnApp.txt."),
            (["Payload/"], "Payload: there is no app in the archive; it is empty."),
            (
                ["Payload/readme.txt", "x/y"],
                "Payload: there is no app in the archive; it holds Payload/readme.txt, x."
            ),
            (["Payload/A.app"], "Payload: there is no app in the archive; it holds Payload/A.app."),
            (
                ["__MACOSX/P/._A.app", "Old/Payload/A.app/Info.plist"],
                "Payload: there is no app in it; one lies at Old/Payload/A.app."
            ),
            (
                ["Payload/A.app/A", "Payload/x", "Payload/B.APP/B"],
                "Payload/A.app: there is another app beside it: Payload/B.APP."
            ),
        ]
    )
    func `names what is there instead of one app`(paths: [String], message: String) {
        let error = #expect(throws: AppBundleError.self) {
            try BundleTree(paths: paths.map { BundlePath(path: $0, isDirectory: $0.hasSuffix("/")) }) { _ in [] }
        }
        #expect(error?.message == message)
        #expect(error?.remedy != nil)
    }

    @Test func `tells every fault at once`() throws {
        var files = app(nil) {
            $0.add("Payload/A.app/PlugIns/B.appex", id: "com.peer.bench.b", executable: "Nope", exists: false)
            $0.add("Payload/A.app/PlugIns/C.appex", id: "com.peer.bench.c", executable: nil)
            $0.add("Payload/A.app/PlugIns/D.appex", id: "com.peer.bench.d", executable: "../A", exists: false)
            $0.add("Payload/A.app/PlugIns/E.appex", id: "com.peer bench.e")
            $0["Payload/A.app/PlugIns/F.appex/Info.plist"] = Array("<html><body>404</body></html>".utf8)
            $0["Payload/A.app/PlugIns/G.appex/G"] = [1]
            $0["Payload/A.app/PlugIns/H.appex/Info.plist"] = PropertyList.array([]).encoded(as: .xml)
        }
        files["Payload/A.app/x"] = [1]
        let tree = try files.tree(adding: [
            BundlePath(path: "../evil.txt"), BundlePath(path: "/etc/evil.txt"), BundlePath(path: "Payload/A.app/x/y"),
            BundlePath(path: "Payload/A.app/Info.plist"), BundlePath(path: "Payload//z"), BundlePath(path: "./z"),
        ])
        let plugIns = "Payload/A.app/PlugIns/"
        #expect(
            tree.problems().map { "\($0.code) \($0.message)" } == [
                "unsafePath ../evil.txt: the path climbs out of the archive.",
                "unsafePath ./z: the path has a part that is only a dot.",
                "unsafePath /etc/evil.txt: the path is absolute.",
                "unsafePath Payload//z: the path has an empty part.",
                "duplicatePath Payload/A.app/Info.plist: the archive has it twice, and which one counts depends on the "
                    + "reader.",
                "duplicatePath Payload/A.app/x: it is a file and a folder at once.",
                "identifierMissing Payload/A.app/Info.plist: there is no CFBundleIdentifier.",
                "executableMissing \(plugIns)B.appex: its executable “Nope” is not there.",
                "executableUnnamed \(plugIns)C.appex: its Info.plist names no executable.",
                "executableIllegal \(plugIns)D.appex/Info.plist: CFBundleExecutable is “../A”, which is no plain name.",
                "identifierIllegal \(plugIns)E.appex/Info.plist: the bundle identifier “com.peer bench.e” is not legal.",
                "infoPlistUnreadable \(plugIns)F.appex/Info.plist: the Info.plist cannot be read. It is no property "
                    + "list: it begins with <html>.",
                "infoPlistMissing \(plugIns)G.appex: it has no Info.plist.",
                "infoPlistUnreadable \(plugIns)H.appex/Info.plist: the Info.plist holds an array, not a dictionary.",
            ]
        )
        #expect(tree.problems().allSatisfy { $0.remedy?.hasSuffix(".") == true })
    }

    @Test(arguments: ["", ".", "..", "/bin/sh", "a/b", "../../A", "A\u{0}"])
    func `takes no path for an executable`(name: String) throws {
        var files = Files()
        files.add("Payload/A.app", id: "a.b", executable: name, exists: false)
        files["Payload/A.app/A"] = [1]
        let tree = try files.tree()
        #expect(tree.root.executable == nil)
        #expect(!tree.root.isCode)
        #expect(tree.problems().map(\.code) == [name.isEmpty ? .executableUnnamed : .executableIllegal])
    }

    @Test func `takes a framework without executable for a folder of resources, and says so`() throws {
        let files = app {
            $0.add("Payload/A.app/Frameworks/R.framework", id: "a.r", executable: "R", exists: false)
            $0.add("Payload/A.app/Frameworks/S.framework", id: "a.s", executable: nil)
            $0["Payload/A.app/Frameworks/T.framework/x.txt"] = [1]
            $0["Payload/A.app/Frameworks/U.framework/Info.plist"] = Array("oops".utf8)
            $0.add("Payload/A.app/Kit.bundle", id: "a.k", executable: nil)
            $0["Payload/A.app/Other.bundle/x.txt"] = [1]
        }
        let tree = try files.tree()
        #expect(tree.problems().isEmpty)
        #expect(tree.root.deepestFirst().map(\.name) == ["A.app"])
        #expect(
            tree.warnings.map { "\($0)".replacing("Payload/A.app/Frameworks/", with: "") } == [
                "R.framework: its executable “R” is not there; it is taken for a folder of resources",
                "S.framework: its Info.plist names no executable; it is taken for a folder of resources",
                "T.framework: it has no Info.plist. It is taken for a folder of resources.",
                "U.framework/Info.plist: the Info.plist cannot be read. It is no property list: it begins with oops. "
                    + "It is taken for a folder of resources.",
            ]
        )
    }

    @Test(
        arguments: [
            ("Payload/A.app/Watch/W.app", ["WKWatchKitApp": true]),
            ("Payload/A.app/Watch/W.app", ["CFBundleSupportedPlatforms": ["WatchOS"]]),
            ("Payload/A.app/com.apple.WatchPlaceholder/W.app", [:]),
            ("Payload/A.app/PlugIns/E.appex/_WatchKitStub/W.app", [:]),
        ] as [(String, PropertyList.Dictionary)]
    )
    func `lets a watch stub do without executable`(path: String, info: PropertyList.Dictionary) throws {
        let files = app {
            $0.add("Payload/A.app/PlugIns/E.appex", id: "com.peer.bench.e")
            $0.add(path, id: "com.peer.bench.e.w", executable: "W", exists: false, info)
        }
        let tree = try files.tree()
        #expect(tree.problems().isEmpty)
        #expect(tree.warnings.map(\.path) == [path])
        #expect(tree.bundle(at: path)?.isCode == false)
    }

    @Test func `takes no symbolic link for a file`() throws {
        var files = app { $0.add("Payload/A.app/PlugIns/B.appex", id: "com.peer.bench.b", exists: false) }
        files["Payload/A.app/A"] = nil
        files["Payload/A.app/PlugIns/B.appex/Info.plist"] = nil
        let tree = try files.tree(adding: [
            BundlePath(path: "Payload/A.app/A", isSymbolicLink: true),
            BundlePath(path: "Payload/A.app/PlugIns/B.appex/Info.plist", isSymbolicLink: true),
        ])
        #expect(tree.problems().map(\.code) == [.executableMissing, .infoPlistUnreadable])
        #expect(tree.problems().allSatisfy { $0.message.contains("symbolic link") })
    }

    @Test func `names what lies beside the app, to be left out`() throws {
        var files = app()
        for path in [
            "Payload/.DS_Store", "Payload/notes.txt", "Payload/Old/x", "__MACOSX/Payload/._A.app",
            "SwiftSupport/iphoneos/a.dylib", "iTunesMetadata.plist",
        ] { files[path] = [1] }
        let tree = try files.tree(adding: [BundlePath(path: "Payload/", isDirectory: true)])
        #expect(tree.strays == ["Payload/.DS_Store", "Payload/Old/x", "Payload/notes.txt"])
        #expect(tree.problems().isEmpty)
    }

    @Test(
        arguments: [
            ("Payload/.DS_Store", true), ("__MACOSX/a", true), ("__MACOSX/", true), ("Payload/A.app/._x", true),
            (".DS_Store", true), ("a/Thumbs.db", true), ("Payload/A.app/DS_Store", false), ("a/__MACOSX/b", false),
            ("", false), ("/", false), ("Payload/A.app/.hidden", false),
        ]
    )
    func `knows junk`(path: String, isJunk: Bool) {
        #expect(BundlePath.isJunk(path) == isJunk)
    }

    @Test func `takes names with spaces and letters of every script`() throws {
        var files = Files()
        files.add("Payload/My App ü 😀.app", id: "a.b", executable: "My App ü 😀")
        let tree = try files.tree()
        #expect(tree.root.executable == "Payload/My App ü 😀.app/My App ü 😀")
        #expect(tree.root.isCode)
        #expect(tree.problems().isEmpty)
    }

    @Test func `finds an executable whose accents are composed otherwise in the archive`() throws {
        var files = Files()
        files.add("Payload/A.app", id: "a.b", executable: "\u{FC}", exists: false)
        files["Payload/A.app/u\u{308}"] = [1]
        let tree = try files.tree()
        #expect(tree.root.isCode)
        #expect(tree.root.executable.map { Array($0.utf8) } == Array("Payload/A.app/u\u{308}".utf8))
    }

    @Test func `parts paths at every slash, whatever follows it`() throws {
        let files = app { $0.add("Payload/A.app/PlugIns/\u{338}E.appex", id: "com.peer.bench.e") }
        let tree = try files.tree()
        #expect(tree.bundles.map { Array($0.name.utf8) } == [Array("A.app".utf8), Array("\u{338}E.appex".utf8)])
        #expect(tree.problems().isEmpty)
    }

    @Test(.timeLimit(.minutes(10))) func `has a limit for how deep and how many`() throws {
        let deep = app { $0["Payload/A.app/" + String(repeating: "B.bundle/", count: 16) + "x"] = [1] }
        #expect(throws: AppBundleError.self) { try deep.tree() }
        let endless = [BundlePath(path: "Payload/" + String(repeating: "A.app/", count: 10_000) + "x")]
        let error = #expect(throws: AppBundleError.self) { try BundleTree(paths: endless) { _ in [] } }
        #expect(error?.code == .tooManyBundles)
        #expect((error?.message.utf8.count ?? .max) < 500)
        let many = (0...BundleTree.maximumBundleCount).map { BundlePath(path: "Payload/A.app/\($0).bundle/x") }
        #expect(throws: AppBundleError.self) { try BundleTree(paths: many) { _ in [] } }
        let evil = (0..<10_000).map { BundlePath(path: "../\($0)") } + [BundlePath(path: "Payload/A.app/x")]
        #expect(try BundleTree(paths: evil) { _ in [] }.problems().count < 200)
        let apps = (0..<10_000).flatMap {
            [BundlePath(path: "Payload/\($0).app/x"), BundlePath(path: "Payload/0.app/\($0)")]
        }
        #expect(throws: AppBundleError.self) { try BundleTree(paths: apps) { _ in [] } }
    }

    @Test func `passes on why an Info.plist could not be had`() throws {
        let tree = try BundleTree(paths: [BundlePath(path: "Payload/A.app/Info.plist")]) { _ in throw Files.NotThere() }
        #expect(tree.problems().map(\.message).first?.contains("NotThere") == true)
    }
}

@Suite struct `An Info.plist` {
    private let keys: PropertyList.Dictionary = [
        "CFBundleIdentifier": "a.b", "CFBundleName": "N", "CFBundleShortVersionString": "1.2", "CFBundleVersion": "34",
        "MinimumOSVersion": "15.0", "CFBundleSupportedPlatforms": ["iPhoneOS"], "Custom": 5,
        "NSExtension": ["NSExtensionPointIdentifier": "com.apple.widgetkit-extension"],
    ]

    @Test(arguments: [PropertyList.Format.xml, .binary])
    func `keeps its form and every other key`(format: PropertyList.Format) throws {
        var info = try InfoPlist(bytes: PropertyList.dictionary(keys).encoded(as: format))
        info.identifier = "x.y"
        let (value, after) = try PropertyList.parse(info.encoded())
        var expected = keys
        expected["CFBundleIdentifier"] = "x.y"
        #expect(after == format)
        #expect(value == .dictionary(expected))
        #expect(value.dictionary?.keys == keys.keys)
        #expect(info.isChanged)
    }

    @Test func `stays byte for byte while nothing is changed, and when a change is taken back`() throws {
        let bytes = Array("<!-- c --><plist><dict><key>CFBundleIdentifier</key><string>a</string></dict></plist>".utf8)
        var info = try InfoPlist(bytes: bytes)
        #expect(info.encoded() == bytes)
        info.identifier = "b"
        #expect(info.encoded() != bytes)
        info.identifier = "a"
        #expect(info.encoded() == bytes)
    }

    @Test func `says what people ask of it`() throws {
        let info = try InfoPlist(bytes: PropertyList.dictionary(keys).encoded(as: .binary))
        #expect(info.identifier == "a.b")
        #expect(info.displayName == "N")
        #expect(info.version == "1.2")
        #expect(info.build == "34")
        #expect(info.minimumOS == "15.0")
        #expect(info.platform == .iOS)
        #expect(info.extensionPoint == "com.apple.widgetkit-extension")
        #expect(!info.isWatchApp)
        #expect(!info.isSimulatorOnly)
        #expect(!info.supportsLiveActivities)
    }
}
