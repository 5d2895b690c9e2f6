import FerryBytes
import Foundation
import TestKit
import Testing

@testable import FerryArchives

@Suite(.enabled(if: Tool("dpkg-deb") != nil && Tool("ar") != nil, "dpkg-deb or ar is missing"))
struct `A package that Debian's tools made` {
    private static let names = ["Library/MobileSubstrate/DynamicLibraries/Tüst.dylib", "a b", "usr/lib/x.dylib"]

    private func tree() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (index, name) in Self.names.enumerated() {
            try folder.write([UInt8](repeating: UInt8(index), count: 1 + index * 100_000), to: "tree/" + name)
        }
        let file = folder.path("tree/" + Self.names[0])
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
        for name in Self.names.dropFirst() {
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.path("tree/" + name))
        }
        let link = folder.path("tree/usr/lib/link.dylib")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "x.dylib")
        return folder
    }

    private func expectTree(_ package: DebianPackage) {
        let files = package.files.sorted { $0.path < $1.path }
        #expect(files.map(\.path) == (Self.names + ["usr/lib/link.dylib"]).sorted())
        for file in files {
            guard let index = Self.names.firstIndex(of: file.path) else {
                #expect(file.target == "x.dylib")
                continue
            }
            #expect(file.bytes == [UInt8](repeating: UInt8(index), count: 1 + index * 100_000))
            #expect(file.mode == (index == 0 ? 0o755 : 0o640))
        }
    }

    @Test(arguments: ["gzip", "xz", "zstd", "none"])
    func `by dpkg-deb is read, however it is packed`(packing: String) throws {
        let folder = try tree()
        try folder.write((TinyDeb.control + "Maintainer: M\nDescription: d\n more\n").utf8, to: "tree/DEBIAN/control")
        let built = try #require(Tool("dpkg-deb")).run(["-Z" + packing, "-b", "tree", "out.deb"], in: folder.path)
        try #require(built.status == 0, "\(built.errors)")
        let package = try DebianPackage(path: folder.path("out.deb"))
        expectTree(package)
        for field in ["Package", "Version", "Architecture", "Name", "description"] {
            let shown = try #require(Tool("dpkg-deb")).run(["-f", "out.deb", field], in: folder.path).text
            #expect(package.control[field]?.replacing("\n", with: "\n ") == String(shown.dropLast()))
        }
        #expect(package.control.name == "Täst")
    }

    @Test(arguments: ["gz", "xz", "zst", "bz2", "lzma", ""], ["ustar", "gnu", "pax"])
    func `by tar and ar is read, however it is packed`(packing: String, form: String) throws {
        let folder = try tree()
        let options = ["gz": ["-z"], "xz": ["-J"], "zst": ["--zstd"], "bz2": ["-j"], "lzma": ["--lzma"]][packing] ?? []
        let suffix = packing.isEmpty ? "" : "." + packing
        try folder.write(TinyDeb.control.utf8, to: "control")
        try folder.write("2.0\n".utf8, to: "debian-binary")
        let tar = try #require(Tool("tar"))
        for arguments in [["control.tar" + suffix, "./control"], ["data.tar" + suffix, "-C", "tree", "."]] {
            let made = try tar.run(["-c", "--format=" + form] + options + ["-f"] + arguments, in: folder.path)
            try #require(made.status == 0, "\(made.errors)")
        }
        // Sixteen letters are too many for ar's own way to write names, though not for dpkg's.
        if packing == "lzma" { try folder.write(try folder.read("control.tar.lzma"), to: "control.tar") }
        let members = ["debian-binary", "control.tar" + (packing == "lzma" ? "" : suffix), "data.tar" + suffix]
        let packed = try #require(Tool("ar")).run(["rc", "out.deb"] + members, in: folder.path)
        try #require(packed.status == 0, "\(packed.errors)")
        let package = try DebianPackage(path: folder.path("out.deb"))
        expectTree(package)
        #expect(package.control.package == "com.example.tweak")
    }

    @Test(.enabled(if: SharedFolder.exists, "\(SharedFolder.absent)"))
    func `and somebody published is read as dpkg-deb reads it`() throws {
        let folder = try TemporaryFolder()
        let deb = SharedFolder.corpus("feather-ellekit.deb")
        try #require(try Tool("dpkg-deb")?.run(["-x", deb, folder.path]).status == 0)
        let package = try DebianPackage(path: deb)
        let paths = try folder.contents().filter { name in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: folder.path(name), isDirectory: &isFolder)
            return !isFolder.boolValue && !name.hasSuffix(".DS_Store")
        }
        #expect(package.files.map(\.path).sorted() == paths)
        for file in package.files { #expect(try folder.read(file.path) == file.bytes) }
        #expect(package.control.package == "ell.kit")
        #expect(package.control.version == "1.0")
    }
}

@Suite struct `A package` {
    private func code(_ bytes: [UInt8], _ limits: ArchiveLimits = .standard) -> ArchiveError? {
        do {
            _ = try DebianPackage(bytes, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["x", "./x", "/x", "././/x", ".//./x"])
    func `may name its files in any plain way`(name: String) throws {
        let package = try DebianPackage(TinyDeb.bytes { $0.file(name, [1, 2]) })
        #expect(package.files == [PackedFile(path: "x", content: .bytes([1, 2]), mode: 0o644)])
    }

    @Test(arguments: ["../x", "a/../../x", "..", "./..", "a/../b", "/../x"])
    func `may not climb`(name: String) {
        #expect(code(TinyDeb.bytes { $0.file(name) })?.code == .badName)
        #expect(code(TinyDeb.bytes { $0.entry(name, "5") })?.code == .badName)
        let error = code(TinyDeb.bytes { $0.file(name) })
        #expect(error?.message == "data.tar: “\(name)” leads out of where it lies.")
    }

    @Test(
        arguments: [
            ("a/l", "../x", nil), ("a/l", "x", nil), ("a/l", "/usr/lib/x", nil), ("l", "./a/../b", nil),
            ("a/l", "../../x", .escapingLink), ("l", "..", .escapingLink), ("l", "/../x", .escapingLink),
            ("l", "a/../../b", .escapingLink), ("l", "", .badName),
        ] as [(String, String, ArchiveError.Code?)]
    )
    func `may have links that stay in it`(name: String, target: String, fault: ArchiveError.Code?) throws {
        let bytes = TinyDeb.bytes { $0.entry(name, "2", link: target) }
        #expect(code(bytes)?.code == fault)
        if fault == nil { #expect(try DebianPackage(bytes).files.summary == ["\(name) -> \(target)"]) }
    }

    @Test func `may have nothing beneath a link or a file, and nothing twice`() {
        #expect(
            code(
                TinyDeb.bytes {
                    $0.entry("l", "2", link: "a")
                    $0.file("l/x")
                }
            )?.code == .escapingLink
        )
        for (first, second, type) in [("x", "x/y", "0"), ("x", "./x", "0"), ("x", "x", "5")]
            as [(String, String, Character)]
        {
            let fault = code(
                TinyDeb.bytes {
                    $0.file(first)
                    $0.entry(second, type)
                }
            )
            #expect(fault?.code == .duplicateName, "\(first) \(second)")
        }
        let fault = code(
            TinyDeb.bytes {
                $0.file("x/y")
                $0.file("x")
            }
        )
        #expect(fault?.code == .duplicateName)
        // A folder is told as often as somebody likes.
        #expect(
            code(
                TinyDeb.bytes {
                    $0.entry("x/", "5")
                    $0.file("x/y")
                    $0.entry("./x", "5")
                }
            ) == nil
        )
    }

    @Test func `has the bytes again where it has a hard link`() throws {
        let package = try DebianPackage(
            TinyDeb.bytes {
                $0.file("a", [7], mode: 0o755)
                $0.entry("b", "1", link: "./a")
            }
        )
        #expect(package.files.map(\.bytes) == [[7], [7]])
        #expect(code(TinyDeb.bytes { $0.entry("b", "1", link: "a") })?.code == .malformed)
        #expect(code(TinyDeb.bytes { $0.entry("b", "1", link: "../a") })?.code == .badName)
    }

    @Test(arguments: ["3", "4", "6"] as [Character])
    func `may have no devices and no pipes`(type: Character) {
        #expect(code(TinyDeb.bytes { $0.entry("dev", type) })?.code == .unsupported)
    }

    @Test func `may have no names that are no UTF-8`() {
        let fault = code(TinyDeb.bytes { $0.entries.append(.init(name: [0x61, 0xFF, 0xC3])) })
        #expect(fault?.code == .badName)
    }

    @Test func `leaves what a Mac left behind`() throws {
        let package = try DebianPackage(
            TinyDeb.bytes {
                $0.file("._x", [1])
                $0.file("a/.DS_Store", [1])
                $0.file("a/x", [1])
            }
        )
        #expect(package.files.map(\.path) == ["a/x"])
    }

    @Test func `has limits, each with a name`() throws {
        let bytes = TinyDeb.bytes {
            for index in 0..<10 { $0.file("a/b/\(index)", [UInt8](repeating: 0, count: 1000)) }
        }
        #expect(code(bytes) == nil)
        let cases: [(String, (inout ArchiveLimits) -> Void)] = [
            ("more than 9 entries", { $0.entryCount = 9 }),
            ("data.tar: a/b/0: the file unpacks to more than 999 bytes.", { $0.fileBytes = 999 }),
            (
                "data.tar: a/b/9: the file unpacks to more than what is left of 9999 bytes for all files.",
                { $0.totalBytes = 9999 }
            ),
            ("control.tar: control: the file unpacks to more than", { $0.controlBytes = 20 }),
            ("“a/b/0” lies more than 2 folders deep", { $0.depth = 2 }),
            ("A name has 9 bytes, more than 8", { $0.pathBytes = 8 }),
        ]
        for (words, change) in cases {
            var limits = ArchiveLimits()
            change(&limits)
            let fault = code(bytes, limits)
            #expect(fault?.code == .limit, "\(words)")
            #expect(fault?.message.contains(words) == true, "\(String(describing: fault))")
        }
        let folder = try TemporaryFolder()
        try folder.write(bytes, to: "x.deb")
        var limits = ArchiveLimits()
        limits.packedBytes = bytes.count - 1
        #expect(throws: ArchiveError.self) { try DebianPackage(path: folder.path("x.deb"), limits: limits) }
        limits.packedBytes += 1
        _ = try DebianPackage(path: folder.path("x.deb"), limits: limits)
        #expect(throws: ArchiveError.self) { try DebianPackage(path: folder.path("y.deb")) }
    }

    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: Tool("xz") != nil, "xz is missing"),
        arguments: ["xz", "gzip", "zstd"]
    )
    func `that unpacks to far more than it is stops at its limit`(tool: String) throws {
        var tar = TinyTar()
        tar.file("bomb", [UInt8](repeating: 0, count: 8 << 20))
        let packed = try #require(Tool(tool)).run(["-c"], input: tar.bytes).output
        #expect(packed.count < 1 << 16)
        var control = TinyTar()
        control.file("control", Array(TinyDeb.control.utf8))
        var limits = ArchiveLimits()
        limits.fileBytes = 1 << 17
        // The header says it before a byte is unpacked; and a control file that is one stops as well.
        for (described, data) in [(control.bytes, packed), (packed, control.bytes)] {
            let deb = TinyDeb.ar([
                ("debian-binary", Array("2.0\n".utf8)), ("control.tar", described), ("data.tar", data),
            ])
            #expect(code(deb, limits)?.code == .limit)
        }
        // Where the header says less, there is no more.
        var lying = TinyTar()
        lying.file("bomb", [UInt8](repeating: 1, count: 1 << 20), claims: 100)
        let deb = TinyDeb.ar([
            ("debian-binary", Array("2.0\n".utf8)), ("control.tar", control.bytes), ("data.tar", lying.bytes),
        ])
        if let package = try? DebianPackage(deb, limits: limits) {
            #expect(package.files.allSatisfy { $0.bytes?.count ?? 0 <= 100 })
        }
    }

    @Test(
        arguments: [
            ("no magic", Array("!<arch>x".utf8), .notAnArchive), ("nothing", [], .notAnArchive),
            ("no members", Array("!<arch>\n".utf8), .notAnArchive),
            ("another version", TinyDeb.ar([("debian-binary", Array("3.0\n".utf8))]), .notAnArchive),
            (
                "no control", TinyDeb.ar([("debian-binary", Array("2.0\n".utf8)), ("data.tar", TinyTar().bytes)]),
                .malformed
            ),
            (
                "two of data",
                TinyDeb.bytes { _ in } + TinyDeb.ar([("data.tar.xz", [])]).dropFirst(8), .malformed
            ),
            (
                "no fields",
                TinyDeb.ar([
                    ("debian-binary", Array("2.0\n".utf8)), ("control.tar", TinyTar().bytes),
                    ("data.tar", TinyTar().bytes),
                ]), .malformed
            ),
            ("too many", TinyDeb.ar((0..<40).map { ("_\($0)", []) }), .limit),
        ] as [(String, [UInt8], ArchiveError.Code)]
    )
    func `is refused where it is none`(name: String, bytes: [UInt8], fault: ArchiveError.Code) {
        #expect(code(bytes)?.code == fault, "\(name)")
    }

    @Test(arguments: ["gzip", "xz", "zstd", "bzip2", "cat"])
    func `that is cut or changed is an error or another package, and never a trap`(tool: String) throws {
        var data = TinyTar()
        data.file("Library/x", Array("0123456789abcdef".utf8))
        data.entry("l", "2", link: "Library/x")
        var control = TinyTar()
        control.file("control", Array(TinyDeb.control.utf8))
        guard let packer = Tool(tool) else { return }
        func pack(_ bytes: [UInt8]) throws -> [UInt8] {
            tool == "cat" ? bytes : try packer.run(["-c"], input: bytes).output
        }
        let deb = TinyDeb.ar([
            ("debian-binary", Array("2.0\n".utf8)), ("control.tar", try pack(control.bytes)),
            ("data.tar", try pack(data.bytes)),
        ])
        #expect(code(deb) == nil)
        let step = ["cat": 29, "bzip2": 7][tool] ?? 2
        for length in stride(from: 0, to: deb.count - 1, by: step) {
            let fault = code(Array(deb[..<length]))
            // The last blocks of a tar are zeros that nobody needs.
            #expect(fault != nil || tool == "cat", "\(length)")
        }
        for index in stride(from: 0, to: deb.count, by: step) {
            var changed = deb
            changed[index] ^= index.isMultiple(of: 3) ? 0xFF : 0x01
            _ = code(changed)
        }
    }
}

@Suite struct `A control file` {
    @Test func `has fields, of which some go on`() throws {
        let text =
            "\nPackage:a\r\nDEPENDS:  x (>= 1), y | z,w\t\n Description : no\nDescription: one\n two\n .\n\nMore: no\n"
        let fields = try ControlFields(Array(text.utf8))
        #expect(fields.package == "a")
        #expect(fields["depends"] == "x (>= 1), y | z,w\nDescription : no")
        #expect(fields["Description"] == "one\ntwo\n.")
        #expect(fields["More"] == nil)
        #expect(fields.version == nil)
        #expect(
            try ControlFields(Array("Depends: a (>= 2), b|c,\n d\nPre-Depends: firmware".utf8)).dependencies == [
                "firmware", "a", "b", "d",
            ]
        )
    }

    @Test(arguments: ["no colon", ": x", "A: 1\na: 2", String((0..<300).map { "F\($0): x\n" }.joined())])
    func `is refused where it is none`(text: String) {
        let error = #expect(throws: ArchiveError.self) { try ControlFields(Array(text.utf8)) }
        #expect(error?.code == .malformed)
    }

    @Test func `is refused where it is no UTF-8`() {
        #expect(throws: ArchiveError.self) { try ControlFields([0x41, 0x3A, 0xFF]) }
    }
}
