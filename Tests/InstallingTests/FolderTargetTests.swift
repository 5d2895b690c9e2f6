import FerryBytes
import FerryInstalling
import FerryZip
import Foundation
import TestKit
import Testing

private func status(_ path: String) throws -> stat {
    var status = stat()
    try #require(lstat(path, &status) == 0, "\(path)")
    return status
}

@Suite(.timeLimit(.minutes(10)))
struct `An app installed to a folder` {
    @Test func `lies there as in the archive`() async throws {
        let place = try Place("not/there/yet")
        let installed = try await place.install(
            app {
                $0.addFile("Payload/A.app/tool", [1], mode: 0o700)
                $0.addFile("Payload/A.app/secret", [2], mode: 0o600)
                $0.addFolder("Payload/A.app/empty", mode: 0o700)
                $0.addFile("Payload/A.app/deep/er/x", [3])
                $0.addLink("Payload/A.app/link", to: "deep/er/x")
                $0.addFile("Payload/A.app/.DS_Store", [4])
                $0.addFile("__MACOSX/Payload/._A.app", [5])
                $0.addFile("iTunesMetadata.plist", [6])
            }
        )
        let location = place.target.folder + "/com.test.app/A.app"
        #expect(installed == InstalledApp(identifier: "com.test.app", location: location, isUpdate: false))
        #expect(
            try place.contents() == [
                "com.test.app", "com.test.app/A.app", "com.test.app/A.app/A", "com.test.app/A.app/Info.plist",
                "com.test.app/A.app/deep", "com.test.app/A.app/deep/er", "com.test.app/A.app/deep/er/x",
                "com.test.app/A.app/empty", "com.test.app/A.app/link", "com.test.app/A.app/secret",
                "com.test.app/A.app/tool", "com.test.app/A.app/version",
            ]
        )
        for (name, mode) in [("A", 0o100755), ("tool", 0o100755), ("secret", 0o100644), ("version", 0o100644)] {
            #expect(try status(location + "/" + name).st_mode == mode, "\(name)")
        }
        for name in ["", "/deep", "/deep/er", "/empty", "/.."] {
            #expect(try status(location + name).st_mode == 0o40755, "\(name)")
        }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: location + "/link") == "deep/er/x")
        #expect(place.target.name == "folder:" + place.target.folder)
    }

    @Test func `keeps names of every script`() async throws {
        let names = [
            "データ.txt", "ملف.txt", "Ελληνικά", "emoji😀", "u\u{308}", " lead", "trail ", "a\\b", "new\nline",
            "\u{301}mark", String(repeating: "x", count: 255), "a:b", "-rf",
        ]
        let place = try Place()
        try await place.install(
            app { builder in
                for name in names { builder.addFile("Payload/A.app/n/" + name, Array(name.utf8)) }
            }
        )
        for name in names {
            let found = try [UInt8](
                Data(contentsOf: URL(fileURLWithPath: place.target.folder + "/com.test.app/A.app/n/" + name))
            )
            #expect(found == Array(name.utf8))
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: place.target.folder + "/com.test.app/A.app/n").count
                == names.count
        )
    }

    @Test func `takes the place of its older version, whole`() async throws {
        let place = try Place()
        #expect(try await !place.install(app(version: "1") { $0.addFile("Payload/A.app/old", [1]) }).isUpdate)
        #expect(try await place.install(app(version: "2", { $0.addFile("Payload/A.app/new", [1]) })).isUpdate)
        #expect(try place.text("com.test.app/A.app/version") == "2")
        let names = try place.contents()
        #expect(names.contains("com.test.app/A.app/new"))
        #expect(!names.contains("com.test.app/A.app/old"))
        // Another name in the archive leaves nothing of the old one.
        try await place.install(app(name: "Payload/B.app"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.target.folder + "/com.test.app") == ["B.app"])
        // Another app stands beside it.
        try await place.install(app("com.test.other"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: place.target.folder).sorted() == [
                "com.test.app", "com.test.other",
            ]
        )
    }

    @Test func `is never seen half, nor missing, while it is replaced`() async throws {
        let place = try Place()
        let versions = try (0..<2).map { number in
            try app(version: "\(number)") { builder in
                for file in 0..<30 { builder.addFile("Payload/A.app/\(number)/\(file)", [UInt8(file)]) }
            }
        }
        try await place.install(versions[0])
        let path = place.target.folder + "/com.test.app"
        let isOver = Guarded(false)
        async let seen = onThread { () -> [String] in
            var seen: [String] = []
            while !isOver.withLock(\.self) {
                let folder = open(path, O_RDONLY | O_DIRECTORY)
                guard folder >= 0 else {
                    seen.append("missing: \(errno)")
                    break
                }
                // What was opened is one version, though it may be on its way out.
                let both = [0, 1].map { faccessat(folder, "A.app/\($0)/0", F_OK, 0) == 0 }
                if both == [true, true] { seen.append("a mix") }
                close(folder)
            }
            return seen
        }
        do {
            defer { isOver.withLock { $0 = true } }
            for round in 1...40 { #expect(try await place.install(versions[round % 2]).isUpdate) }
        }
        #expect(try await seen == [])
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `An install that fails` {
    private func damaged() throws -> [UInt8] {
        var bytes = try app(version: "2") { $0.addFile("Payload/A.app/noise", Array(0...255), level: 0) }
        let noise = try #require(bytes.firstRange(of: Array(UInt8(100)...120)))
        bytes[noise.lowerBound] ^= 1
        return bytes
    }

    private func expectKept(_ place: Place, _ bytes: [UInt8], _ code: InstallError.Code, _ words: String) async throws {
        try await place.install(app(version: "1"))
        let before = try place.contents()
        let error = await #expect(throws: InstallError.self) { try await place.install(bytes) }
        #expect(error?.code == code)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(try place.contents() == before)
        #expect(try place.text("com.test.app/A.app/version") == "1")
    }

    @Test func `on a damaged archive leaves the version before`() async throws {
        try await expectKept(Place(), damaged(), .archive, "noise")
        try await expectKept(Place(), Array(app().dropLast(30)), .archive, "a.ipa")
        try await expectKept(Place(), [], .archive, "a.ipa")
        var builder = ZipBuilder()
        builder.addFile("readme.txt", [1])
        try await expectKept(Place(), builder.bytes(), .archive, "Payload")
        try await expectKept(
            Place(),
            app { $0.addLink("Payload/A.app/out", to: "../../../../etc/passwd") },
            .archive,
            "out"
        )
    }

    @Test(arguments: ["..", ".", "../x", "a/b", ".ferry-x", ".hidden", "a b", ""])
    func `on an identifier that is no folder's name leaves the folder alone`(identifier: String) async throws {
        let place = try Place()
        try await place.install(app())
        let before = try place.folder.contents()
        let error = await #expect(throws: InstallError.self) { try await place.install(app(identifier)) }
        #expect(error?.code == .archive)
        #expect(error?.remedy != nil)
        #expect(try place.folder.contents() == before)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "\(SmallDisk.absent)"))
    func `on a full disk leaves the version before`() async throws {
        var generator = SeededGenerator(seed: 5)
        let noise = generator.bytes(200_000)
        for options in ["size=128k", "size=16m,nr_inodes=12"] {
            let mount = try SmallDisk(options)
            let target = FolderTarget(folder: mount.path)
            let folder = try TemporaryFolder()
            try folder.write(app(version: "1"), to: "1.ipa")
            try folder.write(
                app(version: "2") { builder in
                    builder.addFile("Payload/A.app/noise", noise)
                    for file in 0..<20 { builder.addFile("Payload/A.app/\(file)", [1]) }
                },
                to: "2.ipa"
            )
            _ = try await target.install(folder.path("1.ipa"), tell: { _ in })
            let before = try FileManager.default.subpathsOfDirectory(atPath: mount.path).sorted()
            let error = await #expect(throws: InstallError.self) {
                try await target.install(folder.path("2.ipa"), tell: { _ in })
            }
            #expect(error?.code == .room)
            #expect(error?.remedy?.contains("Make room") == true)
            #expect(try FileManager.default.subpathsOfDirectory(atPath: mount.path).sorted() == before)
        }
    }

    @Test(.enabled(if: SmallDisk.isPossible, "\(SmallDisk.absent)"))
    func `on a read-only folder says so`() async throws {
        let mount = try SmallDisk("ro")
        let folder = try TemporaryFolder()
        try folder.write(app(), to: "a.ipa")
        let error = await #expect(throws: InstallError.self) {
            try await FolderTarget(folder: mount.path).install(folder.path("a.ipa"), tell: { _ in })
        }
        #expect(error?.code == .target)
        #expect(error?.message == "\(mount.path): cannot write to: Read-only file system.")
        #expect(error?.remedy?.contains("choose another folder") == true)
    }

    @Test func `on a folder that is a file says so`() async throws {
        let place = try Place()
        try place.folder.write([1], to: "apps")
        for target in [place.target, FolderTarget(folder: place.target.folder + "/below")] {
            let path = try place.folder.write(app(), to: "a.ipa")
            let error = await #expect(throws: InstallError.self) { try await target.install(path, tell: { _ in }) }
            #expect(error?.code == .target)
            #expect(error?.message.hasPrefix(place.target.folder) == true)
        }
        #expect(try place.folder.read("apps") == [1])
    }

    @Test func `on an archive that is not there names it once`() async throws {
        let place = try Place()
        let path = place.folder.path("missing.ipa")
        let error = await #expect(throws: InstallError.self) { try await place.target.install(path, tell: { _ in }) }
        #expect(error?.code == .archive)
        #expect(error?.message == "\(path): cannot open: No such file or directory.")
        #expect(error?.remedy == "Check the path.")
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `What a killed install leaves` {
    private func make(_ name: String, in place: Place, mode: Int, age: TimeInterval = 0) throws -> String {
        let path = place.target.folder + "/" + name
        let files = FileManager.default
        try files.createDirectory(atPath: path + "/A.app/deep", withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: path + "/A.app/link", withDestinationPath: place.folder.path)
        try Data([1]).write(to: URL(fileURLWithPath: path + "/A.app/deep/x"))
        try files.setAttributes(
            [.posixPermissions: mode, .modificationDate: Date(timeIntervalSinceNow: -age)],
            ofItemAtPath: path
        )
        return path
    }

    @Test func `is swept by the next, but not what a live one works on`() async throws {
        let place = try Place()
        let flock = try #require(Tool("flock"))
        let dead = try make(".ferry-dead", in: place, mode: 0o755)
        let begun = try make(".ferry-begun", in: place, mode: 0o700, age: 3600)
        let young = try make(".ferry-young", in: place, mode: 0o700)
        let other = try make(".other", in: place, mode: 0o755)
        let live = try make(".ferry-live", in: place, mode: 0o755)

        // Another process holds the lock until it is let go, and one on the folder, as one that makes another.
        let holder = try Holder(flock, ["-x", live, flock.path, "-s", place.target.folder])
        try await place.install(app())
        let files = FileManager.default
        #expect(!files.fileExists(atPath: dead))
        #expect(!files.fileExists(atPath: begun))
        #expect(files.fileExists(atPath: young))
        #expect(files.fileExists(atPath: other))
        #expect(files.fileExists(atPath: live + "/A.app/deep/x"))
        // The links in it were not followed.
        #expect(files.fileExists(atPath: place.folder.path("a.ipa")))

        try holder.letGo()
        try await place.install(app())
        #expect(!files.fileExists(atPath: live))
        // Nobody is about to lock it.
        #expect(!files.fileExists(atPath: young))
    }

    @Test func `is made and swept though somebody else has locked the target`() async throws {
        let place = try Place()
        let flock = try #require(Tool("flock"))
        let dead = try make(".ferry-dead", in: place, mode: 0o755)
        let young = try make(".ferry-young", in: place, mode: 0o700)
        let holder = try Holder(flock, ["-x", place.target.folder])
        try await place.install(app())
        #expect(!FileManager.default.fileExists(atPath: dead))
        #expect(FileManager.default.fileExists(atPath: young))
        try holder.letGo()
    }

    /// A process that has locks until it is let go.
    private struct Holder {
        private let process = Process()
        private let input = Pipe()

        init(_ flock: Tool, _ arguments: [String]) throws {
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: flock.path)
            process.arguments = arguments + ["sh", "-c", "echo locked; read line"]
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "locked\n")
        }

        func letGo() throws {
            try input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
    }

    @Test func `does not hinder many installs at once`() async throws {
        let place = try Place()
        let paths = try (0..<12).map { try place.folder.write(app("com.test.app\($0)"), to: "\($0).ipa") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for path in paths + paths {
                group.addTask { _ = try await place.target.install(path, tell: { _ in }) }
            }
            try await group.waitForAll()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.target.folder).count == 12)
        for number in 0..<12 { #expect(try place.text("com.test.app\(number)/A.app/version") == "1") }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `An installer` {
    @Test func `installs one after the other and tells how far it is`() async throws {
        let place = try Place()
        let installer = Installer(target: place.target)
        var installations: [Installation] = []
        for version in 1...3 {
            let path = try place.folder.write(app(version: "\(version)"), to: "\(version).ipa")
            installations.append(await installer.install(path))
        }
        for installation in installations {
            var last = 0
            for await event in installation.events {
                guard case .progress(let completed, let total) = event else { continue }
                #expect(completed > last && completed <= total)
                last = completed
                if completed == total { last = 0 }
            }
            #expect(last == 0)
        }
        let updates = try await [
            installations[0].app.isUpdate, installations[1].app.isUpdate, installations[2].app.isUpdate,
        ]
        #expect(updates == [false, true, true])
        #expect(try place.text("com.test.app/A.app/version") == "3")
    }

    @Test(arguments: [false, true])
    func `that is cancelled leaves the version before`(byTask: Bool) async throws {
        let place = try Place()
        try await place.install(app(version: "1"))
        let before = try place.contents()
        let large = try app(version: "2") { builder in
            for file in 0..<2000 { builder.addFile("Payload/A.app/\(file)", [1]) }
        }
        let path = try place.folder.write(large, to: "large.ipa")
        let installation = await Installer(target: place.target).install(path)
        let reader = Task { () async -> InstallError? in
            do throws(InstallError) {
                _ = try await installation.app
                return nil
            } catch {
                return error
            }
        }
        for await _ in installation.events {
            if byTask { reader.cancel() } else { installation.cancel() }
        }
        let error = await reader.value
        #expect(error?.code == .cancelled)
        #expect(error?.isCancellation == true)
        #expect(error?.message.contains("what was installed before is still there") == true)
        #expect(try place.contents() == before)
    }

    @Test func `goes on with the next after a failure`() async throws {
        let place = try Place()
        let installer = Installer(target: place.target)
        let bad = await installer.install(place.folder.path("missing.ipa"))
        let good = await installer.install(try place.folder.write(app(), to: "a.ipa"))
        await #expect(throws: InstallError.self) { try await bad.app }
        #expect(try await good.app.identifier == "com.test.app")
    }
}
