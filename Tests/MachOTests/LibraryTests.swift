import FerryBytes
import TestKit
import Testing

@testable import FerryMachO

/// Three libraries of one function and one variable each, and a program that takes both from the first two.
enum Linked {
    static let libraries = ["a", "b", "c"].map {
        (name: "lib\($0).dylib", source: "int \($0)(void) { return 1; } int \($0)v;")
    }
    static let program = "int a(void), b(void); extern int av, bv; int main(void) { return a() + av + b() + bv; }"

    /// The program as lld links it.
    static func bytes(_ options: [String] = []) throws -> [UInt8] {
        try AppleTools.link(program, against: libraries, ["-headerpad", "0x400"] + options)
    }

    /// What `llvm-objdump` says of an image; its name is left out.
    static func objdump(
        _ bytes: [UInt8],
        _ options: String...,
        with tool: Tool? = AppleTools.objdump
    ) throws -> [String] {
        let folder = try TemporaryFolder()
        try folder.write(bytes, to: "file")
        let shown = try #require(tool).run(["--macho", "--arch=all"] + options + [folder.path("file")])
        try #require(shown.status == 0 && shown.errors.isEmpty, "\(shown.errors)")
        return shown.text.split(separator: "\n").map(String.init).filter { !$0.contains(folder.path) }
    }

    /// Each undefined symbol, with the library that `llvm-nm` says it comes from.
    static func undefined(_ bytes: [UInt8]) throws -> Set<String> {
        let folder = try TemporaryFolder()
        try folder.write(bytes, to: "file")
        let shown = try #require(AppleTools.nm).run(["-m", folder.path("file")])
        try #require(shown.status == 0, "\(shown.errors)")
        return Set(
            shown.text.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ")
                guard line.contains("(undefined)"), words.dropLast().last == "(from" else { return nil }
                return "\(words[words.count - 3]) from \(words[words.count - 1].dropLast())"
            }
        )
    }

    /// Each symbol that is bound, with the library that `llvm-objdump` says it comes from.
    static func binds(_ bytes: [UInt8]) throws -> Set<String> {
        let lines = try objdump(bytes, "--bind", "--lazy-bind")
        return Set(
            lines.compactMap { line in
                let words = line.split(separator: " ").filter { $0 != "(weak_import)" }
                guard line.hasPrefix("__"), let symbol = words.last else { return nil }
                return "\(symbol) from \(words[words.count - 2])"
            }
        )
    }

    /// The paths that `llvm-objdump` says are loaded, with `weak` or `reexport` behind.
    static func dylibs(_ bytes: [UInt8]) throws -> [String] {
        try objdump(bytes, "--dylibs-used").map { line in
            let path = line.split(separator: " ")[0].trimmingPrefix { $0 == "\t" }
            let kind = line.split(separator: ", ").dropFirst(2).last.map { " " + $0.dropLast() } ?? ""
            return path + kind
        }
    }
}

@Suite(.enabled(if: AppleTools.exist, "\(AppleTools.absent)"))
struct `The libraries of a Mach-O` {
    @Test func `are those that llvm-objdump sees in what lld linked`() throws {
        let options = ["-weak_library", "libb.dylib", "-reexport_library", "libc.dylib", "-dylib"]
        let bytes = try Linked.bytes(
            options + ["-install_name", "@rpath/x.dylib", "-rpath", "/a b", "-rpath", "@loader_path"]
        )
        let image = try MachOImage(bytes[...])
        // Its own name comes first.
        let shown = Array(try Linked.dylibs(bytes).dropFirst())
        let kinds: [MachOImage.Library.Kind: String] = [.regular: "", .weak: " weak", .reexported: " reexport"]
        #expect(image.libraries.map { $0.path + (kinds[$0.kind] ?? "?") } == shown)
        #expect(shown.contains("@rpath/libb.dylib weak") && shown.contains("@rpath/libc.dylib reexport"))
        #expect(image.libraries.map(\.ordinal) == Array(1...shown.count))
        #expect(image.rpaths == ["/a b", "@loader_path"])
        #expect(try Linked.objdump(bytes, "--rpaths") == image.rpaths)
        #expect(image.installName == "@rpath/x.dylib")
    }

    @Test(arguments: [true, false])
    func `have the versions that llvm-objdump shows`(is64Bit: Bool) throws {
        let bytes = TinyMachO.rich(is64Bit: is64Bit).bytes
        let image = try MachOImage(bytes[...])
        let lines = try Linked.objdump(bytes, "--dylibs-used").dropFirst()
        func text(_ version: UInt32) -> String { "\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)" }
        let ours = image.libraries.map { library in
            "\t\(library.path) (compatibility version \(text(library.compatibilityVersion)), "
                + "current version \(text(library.currentVersion)))"
        }
        #expect(ours == Array(lines))
    }
}

@Suite struct `A library's load command` {
    /// `dylib_use_command` (Xcode 16): the path at 28, the marker where the timestamp was, and flags before the path.
    @Test(
        arguments: [
            (0, .regular), (1, .weak), (2, .reexported), (3, .reexported), (4, .upward), (8, .regular), (9, .weak),
        ] as [(UInt32, MachOImage.Library.Kind)]
    )
    func `says by its flags what it means`(flags: UInt32, kind: MachOImage.Library.Kind) throws {
        let number: UInt32 = flags & 1 == 0 ? 0x0C : 0x8000_0018
        let image = try MachOImage(TinyMachO { $0.moreCommands = [use(number, flags)] }.bytes[...])
        #expect(image.libraries.map(\.kind) == [kind])
        #expect(image.libraries.map(\.path) == ["/a/b"])
        #expect(image.libraries.map(\.currentVersion) == [0x1_0203])
    }

    @Test func `keeps its flags when it is renamed`() throws {
        let bytes = TinyMachO { $0.moreCommands = [use(0x8000_0018, 9)] }.bytes
        let image = try MachOImage(bytes[...])
        let edited = try image.edited(by: [.rename("b", to: "@rpath/longer/b")], header: bytes[...])
        let command = edited.bytes.suffix(48)
        #expect(command.prefix(28).suffix(20) == use(0x8000_0018, 9)[..<28].suffix(20))
        #expect(Array(command.suffix(20)) == Array("@rpath/longer/b".utf8) + [0, 0, 0, 0, 0])
    }

    private func use(_ number: UInt32, _ flags: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        for word in [number, 40, 28, 0x1A74_1800, 0x1_0203, 0x1_0000, flags] as [UInt32] { bytes.append(word, .little) }
        return bytes + Array("/a/b".utf8) + [UInt8](repeating: 0, count: 8)
    }

    @Test(arguments: [
        ("/usr/lib/libz.dylib", true), ("libz.dylib", true), ("lib/libz.dylib", true), ("z.dylib", false),
        ("/lib/libz.dylib", false), ("/libz.dylib", false), ("", false), ("LIBZ.dylib", false), ("libz", false),
        ("//usr/lib/libz.dylib", false), ("usr/lib/libz.dylib", true), ("libz.dylib/", false),
    ])
    func `is meant by its path or the last parts of it`(name: String, isMeant: Bool) {
        #expect(MachOImage.Library.name(name, means: Array("/usr/lib/libz.dylib".utf8)) == isMeant)
    }

    @Test func `is told apart by bytes, not by letters`() {
        // The same letter, precomposed and not.
        #expect(!MachOImage.Library.name("lib\u{E9}.dylib", means: Array("/libe\u{301}.dylib".utf8)))
        #expect(!MachOImage.Library.name("\u{301}a", means: Array("/\u{301}b/\u{301}".utf8)))
        #expect(MachOImage.Library.name("\u{301}a", means: Array("/\u{301}a".utf8)))
    }
}

@Suite struct `Room in a header` {
    @Test(arguments: [true, false])
    func `ends at the first section that has bytes in the file`(is64Bit: Bool) throws {
        let tiny = TinyMachO {
            $0.is64Bit = is64Bit
            $0.headerPad = 96
        }
        let image = try MachOImage(tiny.bytes[...])
        #expect(image.headerRoom == 96)
        #expect(image.commandRoom == 80)
        // S_ZEROFILL: whatever its offset says, nothing of it is in the file.
        var zeroed = tiny.bytes
        zeroed[(is64Bit ? 32 + 72 + 64 : 28 + 56 + 56)] = 1
        #expect(try MachOImage(zeroed[...]).headerRoom == tiny.textSize - image.commandsEnd)
    }

    @Test func `is all for libraries where a signature's command is there`() throws {
        let image = try MachOImage(TinyMachO { $0.signatureRoom = 64 }.bytes[...])
        #expect(image.headerRoom == 64)
        #expect(image.commandRoom == 64)
        #expect(try MachOImage(TinyMachO { $0.headerPad = 8 }.bytes[...]).commandRoom == 0)
    }

    @Test(
        arguments: [
            // LC_MAIN: a 64-bit offset, then the stack's size.
            [0x8000_0028, 24, 900, 0, 0, 0], [0x2C, 24, 900, 4096, 1, 0], [0x02, 24, 900, 2, 2000, 4],
            [0x26, 16, 900, 8],
            [0x02, 24, 0, 0, 900, 9], [0x8000_0022, 48, 0, 0, 0, 0, 0, 0, 0, 0, 900, 1],
        ] as [[UInt32]]
    )
    func `ends where any load command says that content begins`(words: [UInt32]) throws {
        var command: [UInt8] = []
        for word in words { command.append(word, .little) }
        let tiny = TinyMachO {
            $0.moreCommands = [command]
            $0.headerPad = 1000
        }
        let image = try MachOImage(tiny.bytes[...])
        #expect(image.headerRoom == 900 - image.commandsEnd)
    }
}
