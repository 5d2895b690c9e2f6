import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerrySigning
import Foundation
import TestKit
import Testing

/// A signed app on the disk, put there by `unzip`.
private struct Dock {
    let folder: TemporaryFolder
    var app: String { folder.path("Payload/A.app") }

    init(_ archive: Archive = Berth.archive()) async throws {
        let desk = try Desk(archive)
        try await desk.sign(try Hands.options())
        folder = try TemporaryFolder()
        try await PythonZip.run("unzip", ["-q", desk.output, "-d", folder.path])
    }

    func flip(_ name: String, at offset: Int) throws {
        var bytes = try folder.read("Payload/A.app/" + name)
        bytes[offset] ^= 1
        try folder.write(bytes, to: "Payload/A.app/" + name)
    }
}

/// A way to damage an app on the disk, and all that must be said of it.
private struct DiskDamage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let codes: Set<String>
    let spoil: @Sendable (Dock) throws -> Void

    init(_ name: String, _ codes: Set<String>, _ spoil: @escaping @Sendable (Dock) throws -> Void) {
        testDescription = name
        self.codes = codes
        self.spoil = spoil
    }

    private static let files = FileManager.default

    static let all: [DiskDamage] = [
        DiskDamage("none", []) { _ in },
        DiskDamage("a byte of code", ["page-hash"]) { try $0.flip("A", at: 0xFFF) },
        DiskDamage("a byte of the extension's code", ["page-hash", "sealed-file-changed"]) {
            try $0.flip("PlugIns/W.appex/A", at: 0xFFF)
        },
        DiskDamage("a byte of a resource", ["sealed-file-changed"]) { try $0.flip("a.txt", at: 3) },
        DiskDamage("a missing file", ["sealed-file-missing"]) { try files.removeItem(atPath: $0.app + "/a.txt") },
        DiskDamage("an extra file", ["file-not-sealed"]) { try $0.folder.write([1], to: "Payload/A.app/extra.txt") },
        DiskDamage("a link that points elsewhere", ["sealed-file-changed"]) { dock in
            try files.removeItem(atPath: dock.app + "/link")
            try files.createSymbolicLink(atPath: dock.app + "/link", withDestinationPath: "A")
        },
        DiskDamage("a link out of the app", ["archive-escaping-link"]) { dock in
            try files.createSymbolicLink(atPath: dock.app + "/way", withDestinationPath: "../../etc")
        },
        DiskDamage("an executable that may not be run", ["permissions"]) { dock in
            try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: dock.app + "/A")
        },
        DiskDamage("no Info.plist", ["bundle-infoPlistMissing"]) {
            try files.removeItem(atPath: $0.app + "/Info.plist")
        },
    ]
}

@Suite(
    .enabled(if: Hands.usable && PythonZip.exists, "\(TestAuthority.absent), or \(PythonZip.absent)"),
    .timeLimit(.minutes(10))
)
struct `A check of an app on the disk` {
    @Test(arguments: DiskDamage.all)
    private func `finds what a check of its archive finds`(damage: DiskDamage) async throws {
        let dock = try await Dock()
        try damage.spoil(dock)
        let faults = try await Berth.verifier.verify(dock.app).filter { $0.code.rawValue != "foreign-authority" }
        #expect(Set(faults.map(\.code.rawValue)) == damage.codes, "\(faults)")
        for fault in faults {
            #expect(fault.place.hasPrefix("A.app") || fault.place == dock.app)
            #expect(!fault.message.contains("Payload/"))
        }
    }

    @Test func `takes the folder around it, and the one around that`() async throws {
        let dock = try await Dock()
        for path in [dock.app + "/", dock.folder.path("Payload"), dock.folder.path] {
            #expect(try await Berth.codes(path) == [Berth.authority])
        }
    }

    @Test func `wants one app`() async throws {
        let folder = try TemporaryFolder()
        #expect(try await Berth.codes(folder.path) == ["archive"])
        for name in ["A.app", "B.app"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        let faults = try await Berth.verifier.verify(folder.path)
        #expect(faults.map(\.message) == ["\(folder.path): there are 2 apps in this folder: A.app, B.app."])
        #expect(faults.map(\.remedy) == ["Give the folder of one app: NAME.app."])
    }

    @Test(arguments: [true, false])
    func `says what no app has, and where`(isPipe: Bool) async throws {
        let dock = try await Dock()
        let path = dock.app + "/PlugIns/" + (isPipe ? "pipe" : "caf")
        // The name in Latin-1, which is no UTF-8.
        let odd = (Array(path.utf8) + [0xE9, 0]).map { CChar(bitPattern: $0) }
        #expect((isPipe ? mkfifo(path, 0o600) : mkdir(odd, 0o700)) == 0)
        defer { _ = isPipe ? unlink(path) : rmdir(odd) }
        let faults = try await Berth.verifier.verify(dock.app)
        let message =
            isPipe
            ? "A.app/PlugIns/pipe: it is neither a file nor a folder nor a link."
            : "A.app/PlugIns/caf\u{FFFD}: its name is not written in UTF-8."
        #expect(faults.map(\.message) == [message])
    }

    @Test func `of nothing fails`() async throws {
        let folder = try TemporaryFolder()
        let error = await #expect(throws: SignError.self) {
            _ = try await Berth.verifier.verify(folder.path("missing.app"))
        }
        #expect(error?.message == "\(folder.path("missing.app")): cannot open: No such file or directory.")
    }
}

@Suite(
    .enabled(if: Hands.usable && PythonZip.exists, "\(TestAuthority.absent), or \(PythonZip.absent)"),
    .timeLimit(.minutes(10))
)
struct `A check of a single file of code` {
    private static let fat = TinyMachO.fat([
        TinyMachO { $0.signatureRoom = 0x4000 }.bytes,
        TinyMachO {
            $0.cpuSubtype = 2
            $0.signatureRoom = 0x4000
        }.bytes,
    ])

    @Test(arguments: ["A", "x.dylib", "PlugIns/W.appex/A"])
    func `finds a right one right, wherever it lies`(name: String) async throws {
        let dock = try await Dock()
        #expect(try await Berth.codes(dock.app + "/" + name) == [Berth.authority])
    }

    @Test(arguments: [0, 1])
    func `looks at every slice`(slice: Int) async throws {
        let dock = try await Dock(Berth.archive { $0[Berth.app + "A"] = Self.fat })
        let path = dock.app + "/A"
        let offset = try MachOFile(dock.folder.read("Payload/A.app/A")).slices[slice].offset
        try dock.flip("A", at: offset + 0xFFF)
        let faults = try await Berth.verifier.verify(path).filter { !$0.isWarning }
        #expect(faults.map(\.code.rawValue) == ["page-hash"])
        #expect(faults.map(\.place) == [path + (slice == 0 ? " (arm64)" : " (arm64e)")])
    }

    @Test func `tells unsigned, encrypted and damaged ones apart`() async throws {
        let folder = try TemporaryFolder()
        let plain = try folder.write(TinyMachO().bytes, to: "plain")
        #expect(try await Berth.codes(plain) == ["unsigned"])
        let bought = try folder.write(TinyMachO { $0.cryptID = 1 }.bytes, to: "bought")
        #expect(try await Berth.codes(bought) == ["encrypted", "unsigned"])
        let cut = try folder.write(Array(TinyMachO().bytes.prefix(0x900)), to: "cut")
        #expect(try await Berth.codes(cut) == ["mach-o"])
    }

    /// More than any machine's memory, of which the disk has just the beginning.
    private static let hugeSize: UInt64 = 1 << 40

    private func makeHuge(_ path: String) throws {
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: Self.hugeSize)
        try file.close()
    }

    @Test(arguments: [false, true])
    func `refuses one that no memory could hold`(isFat: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(isFat ? Self.fat : TinyMachO().bytes, to: "huge")
        try makeHuge(path)
        let error = await #expect(throws: SignError.self) { _ = try await Berth.verifier.verify(path) }
        #expect(error?.message == "\(path): cannot read: File too large.")
    }

    @Test func `tells of one in a folder, and goes on`() async throws {
        let dock = try await Dock()
        try makeHuge(dock.app + "/PlugIns/W.appex/A")
        try dock.flip("A", at: 0xFFF)
        let faults = try await Berth.verifier.verify(dock.app)
        #expect(faults.contains { $0.message == "A.app/PlugIns/W.appex/A: cannot read: File too large." })
        #expect(faults.contains { $0.code.rawValue == "page-hash" })
    }

    @Test func `never traps, however short it is or whatever byte is another`() async throws {
        let dock = try await Dock()
        let bytes = try dock.folder.read("Payload/A.app/A")
        var generator = SeededGenerator(seed: 5)
        for round in 0..<40 {
            var changed = bytes
            for _ in 0..<3 { changed[Int.random(in: 0..<0x400, using: &generator)] ^= 0x55 }
            let path = try dock.folder.write(Array(changed.prefix(round * 200 + 8)), to: "code")
            #expect(try await !Berth.codes(path).isEmpty, "round \(round)")
        }
    }
}
