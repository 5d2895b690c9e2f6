import FerryAppBundle
import FerryBytes
import FerryMachO
import FerryPropertyList
import FerrySample
import FerryZip
import Foundation
import TestKit
import Testing

@Suite struct `A sample app` {
    private static let whole = SampleApp()

    private func tree(_ app: SampleApp) throws -> BundleTree {
        let files = app.files()
        return try BundleTree(
            paths: files.map { BundlePath(path: $0.path, isDirectory: $0.content == .folder) }
        ) { path in
            try #require(files.first { $0.path == path }?.bytes)
        }
    }

    @Test func `is a tree of bundles without a fault`() throws {
        let tree = try tree(Self.whole)
        #expect(tree.problems().isEmpty)
        #expect(tree.warnings.isEmpty)
        #expect(tree.strays.isEmpty)
        #expect(
            tree.bundles.map { "\($0.name) \($0.identifier ?? "")" } == [
                "Harbour.app com.example.harbour", "Tide.framework com.example.harbour.tide",
                "HarbourShare.appex com.example.harbour.share", "HarbourWidget.appex com.example.harbour.widget",
            ]
        )
        #expect(tree.bundles.filter { !$0.isCode }.isEmpty)
        let info = tree.root.info
        #expect(info.format == .binary)
        #expect(info.version == "1.2" && info.build == "7" && info.minimumOS == "15.0")
        #expect(info.supportsLiveActivities)
        #expect(
            tree.bundles.compactMap(\.info.extensionPoint) == [
                "com.apple.share-services", "com.apple.widgetkit-extension",
            ]
        )
    }

    @Test(arguments: [1 << 20, 3 << 20, 12 << 20])
    func `is about as large as was asked for`(bytes: Int) {
        var app = SampleApp()
        app.approximateBytes = bytes
        let total = app.files().reduce(0) { $0 + ($1.bytes?.count ?? 0) }
        #expect(abs(total - bytes) < bytes / 8 + 200_000, "\(total)")
    }

    @Test func `is the same each time, and another for another seed`() throws {
        var other = SampleApp()
        other.seed = 2
        let first = try Self.whole.archive(level: 1)
        #expect(first == (try SampleApp().archive(level: 1)))
        #expect(first != (try other.archive(level: 1)))
    }

    @Test(.enabled(if: Tool("unzip") != nil && Tool("python3") != nil, "unzip or python3 is not installed"))
    func `is an archive that unzip and zipfile read`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("Harbour.ipa")
        try Self.whole.write(to: path)
        #expect(try folder.read("Harbour.ipa") == (try Self.whole.archive()))
        let tested = try #require(Tool("unzip")).run(["-tqq", path])
        #expect(tested.status == 0, "\(tested.text)\(tested.errors)")

        let script = """
            import plistlib, stat, sys, zipfile
            z = zipfile.ZipFile(sys.argv[1])
            app = "Payload/Harbour.app/"
            p = plistlib.loads(z.read(app + "Info.plist"))
            print(z.testzip(), p["CFBundleIdentifier"], p["UIDeviceFamily"], p["CFBundleSupportedPlatforms"])
            mode = lambda n: stat.filemode(z.getinfo(app + n).external_attr >> 16)
            print(mode("Harbour"), mode("Info.plist"), mode("Charts/"), mode("Charts/newest.json"))
            print(z.read(app + "Charts/newest.json").decode(), z.read(app + "PkgInfo").decode())
            for l in ("en", "de", "ja"):
                print(plistlib.loads(z.read(app + l + ".lproj/InfoPlist.strings"))["CFBundleDisplayName"])
            print(sorted(n.split("/")[-1] for n in z.namelist() if "/Logbook/" in n and not n.isascii())[:2])
            for n in z.namelist():
                if n.endswith(".json") and "newest" not in n: __import__("json").loads(z.read(n))
            """
        let result = try #require(Tool("python3")).run(
            ["-c", script, path],
            environment: ["PYTHONIOENCODING": "utf-8"]
        )
        #expect(
            result.text == """
                None com.example.harbour [1, 2] ['iPhoneOS']
                -rwxr-xr-x -rw-r--r-- drwxr-xr-x lrwxrwxrwx
                chart-000.json APPL????
                Harbour
                Hafen
                港
                ['emoji 🌊.txt', 'Übersicht für Lotsen.txt']

                """,
            "\(result.errors)"
        )
    }

    @Test func `has only the parts that are wanted`() throws {
        var app = SampleApp()
        app.parts = [.widget]
        app.bundleIdentifier = "org.example.pier"
        app.extraFiles = [
            .init("Payload/Harbour.app/deep/er/x.bin", [1, 2]), .init("Payload/Harbour.app/PkgInfo", [3]),
            .init("__MACOSX/._x", linkTo: "x"),
        ]
        #expect(
            app.files().map(\.path) == [
                "Payload", "Payload/Harbour.app", "Payload/Harbour.app/Harbour", "Payload/Harbour.app/Info.plist",
                "Payload/Harbour.app/PkgInfo", "Payload/Harbour.app/PlugIns",
                "Payload/Harbour.app/PlugIns/HarbourWidget.appex",
                "Payload/Harbour.app/PlugIns/HarbourWidget.appex/HarbourWidget",
                "Payload/Harbour.app/PlugIns/HarbourWidget.appex/Info.plist", "Payload/Harbour.app/deep",
                "Payload/Harbour.app/deep/er", "Payload/Harbour.app/deep/er/x.bin", "__MACOSX", "__MACOSX/._x",
            ]
        )
        #expect(app.files().first { $0.path.hasSuffix("PkgInfo") }?.bytes == [3])
        #expect(try tree(app).bundles.map(\.identifier) == ["org.example.pier", "org.example.pier.widget"])
    }

    @Test func `lets its Mach-O files and Info.plist be changed`() throws {
        var app = SampleApp()
        app.minimumOS = "10.0"
        app.hasSignatureRoom = false
        app.changeInfo = { $0["UIFileSharingEnabled"] = true }
        app.changeBinary = { binary, images in
            switch binary {
            case .main: images[0].cryptID = 1
            case .framework:
                images.append(images[0])
                images[1].architecture = .arm64e
            default: break
            }
        }
        let files = app.files()
        func read(_ binary: SampleApp.Binary) throws -> MachOFile {
            let file = try #require(files.first { $0.path == SampleApp.path(of: binary) })
            #expect(file.mode == 0o755)
            return try MachOFile(try #require(file.bytes))
        }
        #expect(try read(.main).slices.map(\.image.isEncrypted) == [true])
        #expect(try read(.framework).slices.map(\.image.architecture) == ["arm64", "arm64e"])
        for binary in SampleApp.Binary.allCases {
            let images = try read(binary).slices.map(\.image)
            #expect(images.allSatisfy { $0.codeSignature == nil && $0.minimumOS == 10 << 16 })
            #expect(images.allSatisfy { $0.isMainBinary == [.main, .widget, .share].contains(binary) })
        }
        #expect(try tree(app).root.info.dictionary["UIFileSharingEnabled"]?.bool == true)
        let whole = try #require(Self.whole.files().first { $0.path == SampleApp.path(of: .main) }?.bytes)
        #expect(try MachOFile(whole).slices.first?.image.codeSignature != nil)
    }

    @Test(.enabled(if: Tool("python3") != nil, "python3 is not installed"))
    func `has icons that are whole PNGs`() throws {
        let script = """
            import struct, sys, zlib
            b = sys.stdin.buffer.read()
            assert b[:8] == bytes([137, 80, 78, 71, 13, 10, 26, 10])
            at, seen, data = 8, [], b""
            while at < len(b):
                n, kind = struct.unpack(">I4s", b[at:at + 8])
                body = b[at + 8:at + 8 + n]
                assert struct.unpack(">I", b[at + 8 + n:at + 12 + n])[0] == zlib.crc32(kind + body)
                seen.append(kind.decode())
                if kind == b"IHDR": print(*struct.unpack(">IIBBBBB", body))
                if kind == b"IDAT": data += body
                at += n + 12
            raw = zlib.decompress(data)
            print(*seen, len(raw), len(set(raw[i:i + 3] for i in range(1, len(raw) - 3, 3))) > 500)
            """
        for (bytes, side) in [(SampleIcon.at2x, 120), (SampleIcon.at3x, 180)] {
            let result = try #require(Tool("python3")).run(["-c", script], input: bytes)
            #expect(
                result.text == "\(side) \(side) 8 2 0 0 0\nIHDR IDAT IEND \(side * (side * 3 + 1)) True\n",
                "\(result.errors)"
            )
        }
    }
}
