import FerryBytes
import FerryZip
import Foundation
import TestKit
import Testing

/// Runs a Python program with `zipfile` at hand; `nil` where there is no Python.
func python(_ program: String, _ arguments: [String]) throws -> String? {
    guard let python = Tool("python3") else { return nil }
    let result = try python.run(["-c", "import sys, zipfile, zlib, struct\n" + program] + arguments)
    try #require(result.status == 0, "\(result.errors)")
    return result.text
}

@Suite struct `The name of an entry` {
    /// Names that XML, zip tools and shells trip over.
    static let odd = [
        "a&b<c>.txt", "q\"uote'.txt", "trail .txt ", " lead.txt", "a:b.txt", "データ.txt", "u\u{308}ni.txt", "emoji😀.dat",
        String(repeating: "x", count: 180) + ".txt", "tab\there.txt", "back\\slash.txt", "...", "..a", "C:b", "ende.",
    ]

    @Test func `comes back as it was given, and python reads the same`() throws {
        var builder = ZipBuilder()
        for name in Self.odd {
            builder.addFile("Payload/" + name, Array(name.utf8))
        }
        let folder = try TemporaryFolder()
        let bytes = try builder.bytes()
        let path = try folder.write(bytes, to: "a.zip")
        let names = try ZipDirectory(MemorySource(bytes)).entries.map(\.name)
        #expect(names.map { Array($0.utf8) } == Self.odd.map { Array(("Payload/" + $0).utf8) })
        let theirs = try python("for n in zipfile.ZipFile(sys.argv[1]).namelist(): sys.stdout.write(n + '\\0')", [path])
        guard let theirs else { return }
        #expect(theirs.split(separator: "\0").map(String.init) == names)
    }

    @Test func `is UTF-8 without the flag, as macOS writes it`() throws {
        var builder = ZipBuilder()
        builder.addFile("Payload/データ.txt", [1])
        var archive = try Surgery(builder)
        archive.set16(0, at: archive.central[0] + Surgery.Field.centralFlags)
        archive.set16(0, at: archive.local[0] + Surgery.Field.localFlags)
        #expect(try Array(archive.read().get().keys) == ["Payload/データ.txt"])
    }

    /// The expected text: `python3 -c "print(bytes(range(128, 256)).decode('cp437'))"` of Python 3.11.
    @Test func `is code page 437 where it is no UTF-8`() throws {
        let names = stride(from: 0x80, to: 0x100, by: 16).map { first in (first..<first + 16).map { UInt8($0) } }
        var archive = try Surgery.sample(names.map { "\($0[0])" + String(repeating: "-", count: 13) })
        for (index, name) in names.enumerated() {
            archive.rename(index, name)
        }
        let read = try ZipDirectory(MemorySource(archive.bytes)).entries.map(\.name)
        #expect(
            read == [
                "ÇüéâäàåçêëèïîìÄÅ", "ÉæÆôöòûùÿÖÜ¢£¥₧ƒ", "áíóúñÑªº¿⌐¬½¼¡«»", "░▒▓│┤╡╢╖╕╣║╗╝╜╛┐",
                "└┴┬├─┼╞╟╚╔╩╦╠═╬╧", "╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀", "αßΓπΣσµτΦΘΩδ∞φε∩", "≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}",
            ]
        )
    }

    @Test func `is refused where it is not the UTF-8 that it is said to be`() throws {
        var archive = try Surgery.sample()
        archive.set16(1 << 11, at: archive.central[0] + Surgery.Field.centralFlags)
        archive.rename(0, [0x50, 0xFF])
        let error = failure(archive.read())
        #expect(error?.code == .badName)
        #expect(error?.message == "P\u{FFFD}yload/a.txt: The name is not the UTF-8 that it is said to be.")
    }

    /// A Unicode path extra field as Info-ZIP writes it, made by Python.
    @Test(arguments: [(0, "Payload/gr\u{FC}n.txt"), (1, "Payload/gr?n.txt")])
    func `is in the extra field of Info-ZIP if that belongs to it`(wrongCRC: Int, expected: String) throws {
        let folder = try TemporaryFolder()
        let made = try python(
            """
            i = zipfile.ZipInfo('Payload/gr?n.txt')
            n = 'Payload/gr\\u00fcn.txt'.encode()
            i.extra = struct.pack('<HHBI', 0x7075, 5 + len(n), 1, zlib.crc32(b'Payload/gr?n.txt') ^ int(sys.argv[2])) + n
            zipfile.ZipFile(sys.argv[1], 'w').writestr(i, b'x')
            """,
            [folder.path("a.zip"), "\(wrongCRC)"]
        )
        guard made != nil else { return }
        let directory = try ZipDirectory(try FileSource(path: folder.path("a.zip")))
        #expect(directory.entries.map(\.name) == [expected])
        #expect(directory.entries[0].rawName == Array("Payload/gr?n.txt".utf8))
    }

    @Test func `has slashes where Windows wrote backslashes`() throws {
        var archive = try Surgery.sample()
        archive.rename(0, Array("Payload\\a.txt".utf8))
        #expect(try ZipDirectory(MemorySource(archive.bytes)).entries[0].name == "Payload\\a.txt")

        archive.set16(20, at: archive.central[0] + 4)
        let source = MemorySource(archive.bytes)
        let directory = try ZipDirectory(source)
        #expect(directory.entries.map(\.name) == ["Payload/a.txt", "Payload/b.bin"])
        #expect(directory.entries[0].rawName == Array("Payload\\a.txt".utf8))
        #expect(directory.entries[0].unixMode == nil)

        let output = try archiveBytes(directory.entries.map { .copy($0) }, from: source)
        #expect(try ZipDirectory(MemorySource(output)).entries[0].rawName == Array("Payload/a.txt".utf8))
        #expect(try Surgery.read(output).get() == Surgery.read(archive.bytes).get())

        archive.rename(0, Array("..\\load\\a.txt".utf8))
        #expect(failure(archive.read())?.code == .escapingName)
    }

    @Test func `finds its entry, byte for byte`() throws {
        var builder = ZipBuilder()
        builder.addFolder("a/b")
        builder.addFile("a/b/c ", [1])
        let directory = try ZipDirectory(MemorySource(try builder.bytes()))
        #expect(directory.entry(named: "a/b/c ")?.index == 1)
        #expect(directory.entry(named: "a/b/")?.index == 0)
        for name in ["a/b", "a", "a/b/c", "", "/", "a/b/c /", "a//b/"] {
            #expect(directory.entry(named: name) == nil, "\(name)")
        }
    }
}
