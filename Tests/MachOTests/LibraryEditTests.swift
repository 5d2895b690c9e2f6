import FerryBytes
import FerrySample
import TestKit
import Testing

@testable import FerryMachO

/// The image after edits, whose content must be what it was.
func edited(
    _ bytes: [UInt8],
    _ edits: [LibraryEdit],
    knowsUse: Bool = true
) throws -> (bytes: [UInt8], header: EditedHeader) {
    let image = try MachOImage(bytes[...])
    let use = knowsUse ? try image.libraryUse(in: bytes[...]) : nil
    let header = try image.edited(by: edits, header: bytes[...], use: use)
    #expect(header.bytes.count <= image.commandsEnd + image.headerRoom)
    #expect(header.bytes.count >= image.commandsEnd)
    let output = header.bytes + bytes[header.bytes.count...]
    #expect(header.isChanged == (output != bytes))
    return (output, header)
}

/// The load commands, by a reading of the header that shares nothing with the code under test.
func commands(_ bytes: [UInt8]) -> [[UInt8]] {
    func word(_ place: Int) -> Int { (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) } }
    var place = bytes[0] == 0xCF ? 32 : 28
    let end = place + word(20)
    return (0..<word(16)).map { index in
        defer { place += word(place + 4) }
        precondition(place + word(place + 4) <= end)
        return Array(bytes[place..<place + word(place + 4)])
    }
}

@Suite(.enabled(if: AppleTools.exist, "\(AppleTools.absent)"))
struct `An edit of what a linked program loads` {
    @Test func `adds libraries and run paths after all others, as llvm-objdump sees it`() throws {
        let bytes = try Linked.bytes(["-rpath", "/x"])
        let edits: [LibraryEdit] = [
            .add("@rpath/t.dylib", isWeak: false), .add("@executable_path/Frameworks/ü.dylib", isWeak: true),
            .addRPath("@executable_path/Frameworks"),
        ]
        let (output, header) = try edited(bytes, edits)
        #expect(header.outcomes == [.done, .done, .done])
        let new = ["@rpath/t.dylib", "@executable_path/Frameworks/ü.dylib weak"]
        #expect(try Linked.dylibs(output) == (try Linked.dylibs(bytes)) + new)
        #expect(try Linked.objdump(output, "--rpaths") == ["/x", "@executable_path/Frameworks"])
        #expect(try Linked.binds(output) == Linked.binds(bytes))
        #expect(try Linked.undefined(output) == Linked.undefined(bytes))
        #expect(commands(output).dropLast(3) == commands(bytes)[...])
        #expect(commands(output).allSatisfy { $0.count.isMultiple(of: 8) })

        // Backwards, and in any order.
        for back: [LibraryEdit] in [
            [.remove("t.dylib"), .remove("ü.dylib"), .removeRPath("@executable_path/Frameworks")],
            [.removeRPath("@executable_path/Frameworks"), .remove("ü.dylib"), .remove("t.dylib")],
        ] {
            let (restored, header) = try edited(output, back)
            #expect(header.outcomes == [.done, .done, .done])
            #expect(restored == bytes)
        }
    }

    @Test func `renames in place, and back`() throws {
        let bytes = try Linked.bytes()
        let (output, header) = try edited(bytes, [.rename("liba.dylib", to: "/usr/lib/somewhere/else/libother.dylib")])
        #expect(header.outcomes == [.done])
        #expect(try Linked.dylibs(output).prefix(2) == ["/usr/lib/somewhere/else/libother.dylib", "@rpath/libb.dylib"])
        #expect(
            try Linked.undefined(output) == ["_a from libother", "_av from libother", "_b from libb", "_bv from libb"]
        )
        let (restored, _) = try edited(output, [.rename("else/libother.dylib", to: "@rpath/liba.dylib")])
        #expect(restored == bytes)
    }

    @Test func `takes a library's command away where no symbol is bound to it or to later ones`() throws {
        let bytes = try Linked.bytes()
        let (output, header) = try edited(bytes, [.remove("libc.dylib")])
        #expect(header.outcomes == [.done])
        #expect(try Linked.dylibs(output) == ["@rpath/liba.dylib", "@rpath/libb.dylib"])
        #expect(try Linked.binds(output) == Linked.binds(bytes))
        // Where it freed room, there are zeros.
        let freed = commands(bytes).joined().count - commands(output).joined().count
        #expect(header.bytes.suffix(freed).allSatisfy { $0 == 0 })
    }

    @Test func `leaves a stand-in where it would give later libraries other numbers`() throws {
        let bytes = try Linked.bytes()
        let (output, header) = try edited(bytes, [.remove("liba.dylib")])
        #expect(header.outcomes == [.standIn(symbols: ["_a", "_av"])])
        #expect(try Linked.dylibs(output) == ["@rpath/removed.1 weak", "@rpath/libb.dylib", "@rpath/libc.dylib"])
        // What is the others' stays theirs, as the loader's table and the symbol table have it.
        let bound = try Linked.binds(output)
        for symbol in ["_b from libb", "_bv from libb", "_a from @rpath/removed.1", "_av from @rpath/removed.1"] {
            #expect(bound.contains(symbol))
        }
        let others = try Linked.undefined(output).filter { $0.hasSuffix("libb") }
        #expect(others == ["_b from libb", "_bv from libb"])

        let (all, outcomes) = try edited(bytes, [.remove("liba.dylib"), .remove("libb.dylib"), .remove("libc.dylib")])
        #expect(outcomes.outcomes.last == .done)
        #expect(try Linked.dylibs(all) == ["@rpath/removed.1 weak", "@rpath/removed.2 weak"])
        // A stand-in is nothing that a name could mean.
        let again = try edited(all, [.remove("removed.1"), .rename("@rpath/removed.2", to: "/a")])
        #expect(again.header.outcomes == [.notFound, .notFound])
        #expect(!again.header.isChanged)
    }

    @Test func `leaves stand-ins everywhere where nobody looked at the symbols`() throws {
        let bytes = try Linked.bytes()
        let (output, header) = try edited(bytes, [.remove("libc.dylib")], knowsUse: false)
        #expect(header.outcomes == [.standIn(symbols: nil)])
        #expect(try Linked.dylibs(output).last == "@rpath/removed.3 weak")
        // Nor is a stand-in's name there twice, where another one was removed before it.
        let first = try edited(bytes, [.add("/x", isWeak: false), .add("/y", isWeak: false)]).bytes
        let second = try edited(first, [.remove("y")], knowsUse: false).bytes
        let third = try edited(second, [.remove("x"), .add("/z", isWeak: false)]).bytes
        let fourth = try edited(third, [.remove("z")], knowsUse: false).bytes
        #expect(try Linked.dylibs(fourth).suffix(2) == ["@rpath/removed.5 weak", "@rpath/removed.6 weak"])
        // But not for what came in the same breath.
        let (same, _) = try edited(bytes, [.add("/a", isWeak: true), .remove("a")], knowsUse: false)
        #expect(same == bytes)
    }

    @Test func `loads no library twice`() throws {
        let bytes = try Linked.bytes()
        // Nothing is bound to libc: its command makes room for the other.
        let (output, _) = try edited(bytes, [.rename("liba.dylib", to: "@rpath/libc.dylib")])
        #expect(try Linked.dylibs(output) == ["@rpath/libc.dylib", "@rpath/libb.dylib"])
        let (other, _) = try edited(bytes, [.rename("libc.dylib", to: "@rpath/liba.dylib")])
        #expect(try Linked.dylibs(other) == ["@rpath/liba.dylib", "@rpath/libb.dylib"])
        #expect(try Linked.undefined(other) == Linked.undefined(bytes))
        let error = #expect(throws: MachOError.self) {
            try edited(bytes, [.rename("liba.dylib", to: "@rpath/libb.dylib")])
        }
        #expect(error?.code == .duplicateLibrary)
        #expect(
            error?.message == "arm64: 2 libraries that symbols are bound to would all be loaded as @rpath/libb.dylib."
        )
    }

    @Test func `changes a library's own name`() throws {
        let bytes = try AppleTools.link(["-dylib", "-install_name", "@rpath/x.dylib"])
        let (output, header) = try edited(bytes, [.setInstallName("@executable_path/y.dylib")])
        #expect(header.outcomes == [.done])
        #expect(try Linked.objdump(output, "--dylib-id") == ["@executable_path/y.dylib"])
        #expect(try edited(output, [.setInstallName("@rpath/x.dylib")]).bytes == bytes)
        #expect(try edited(bytes, [.setInstallName("@rpath/x.dylib")]).header.outcomes == [.alreadyThere])
        #expect(try edited(Linked.bytes(), [.setInstallName("/a")]).header.outcomes == [.notFound])
    }

    @Test func `leaves an image that can be signed`() throws {
        let (output, _) = try edited(Linked.bytes(), [.add("@rpath/t.dylib", isWeak: false)])
        let signed = try laidOut(output, needed: 0x2000)
        #expect(try MachOImage(signed.bytes[...]).codeSignature?.end == signed.bytes.count)
        #expect(try Linked.dylibs(signed.bytes).last == "@rpath/t.dylib")
        #expect(try edited(signed.bytes, [.add("@rpath/u.dylib", isWeak: false)]).header.outcomes == [.done])
    }
}

@Suite struct `An edit of libraries` {
    private let tiny = TinyMachO {
        $0.dylibs = ["/usr/lib/a.dylib", "@rpath/b.dylib"]
        $0.headerPad = 512
    }

    @Test(arguments: [true, false])
    func `adds nothing that is there, weak or not`(isWeak: Bool) throws {
        let once = try edited(tiny.bytes, [.add("@rpath/c.dylib", isWeak: true), .addRPath("/r")]).bytes
        let edits: [LibraryEdit] = [
            .add("@rpath/c.dylib", isWeak: isWeak), .add("@rpath/b.dylib", isWeak: isWeak), .addRPath("/r"),
        ]
        let twice = try edited(once, edits)
        #expect(twice.header.outcomes == [.alreadyThere, .alreadyThere, .alreadyThere])
        #expect(twice.bytes == once)
        let both = try edited(tiny.bytes, [.add("/x", isWeak: isWeak), .add("/x", isWeak: !isWeak)])
        #expect(both.header.outcomes == [.done, .alreadyThere])
        // Another path to the same name is another library.
        #expect(try edited(tiny.bytes, [.add("@executable_path/b.dylib", isWeak: false)]).header.outcomes == [.done])
    }

    @Test func `finds nothing where there is nothing`() throws {
        let edits: [LibraryEdit] = [
            .remove("c"), .rename("dylib", to: "/x"), .removeRPath("/r"), .setInstallName("/i"),
        ]
        let (bytes, header) = try edited(tiny.bytes, edits)
        #expect(header.outcomes == [.notFound, .notFound, .notFound, .notFound])
        #expect(!header.isChanged)
        #expect(bytes == tiny.bytes)
        #expect(try edited(tiny.bytes, [.rename("b.dylib", to: "@rpath/b.dylib")]).header.outcomes == [.alreadyThere])
    }

    @Test(.timeLimit(.minutes(10)))
    func `gives every stand-in a name that nothing has, however many are taken`() throws {
        let count = 1000
        let bytes = TinyMachO {
            $0.textSize = 0x20000
            $0.headerPad = 0x4000
            $0.dylibs = (1...count).map { _ in "/x/q.dylib" } + (1...count).map { "@rpath/removed.\($0)" }
        }.bytes
        let (output, header) = try edited(bytes, [.remove("q.dylib")], knowsUse: false)
        #expect(header.outcomes == [.standIn(symbols: nil)])
        let paths = try MachOImage(output[...]).libraries.map(\.path)
        #expect(paths.count == 2 * count)
        #expect(Set(paths).count == 2 * count)
        #expect(paths.allSatisfy { $0.hasPrefix("@rpath/removed.") })
    }

    @Test func `removes every library of a name`() throws {
        let many = TinyMachO {
            $0.dylibs = ["/usr/lib/a.dylib", "/x/b", "/y/b", "/z"]
            $0.headerPad = 512
        }
        let (output, header) = try edited(many.bytes, [.remove("b")])
        #expect(header.outcomes == [.done])
        #expect(try MachOImage(output[...]).libraries.map(\.path) == ["/usr/lib/a.dylib", "/z"])
        #expect(try edited(many.bytes, [.remove("x/b")]).header.outcomes == [.done])
    }

    @Test func `leaves no image without any library, which no loader takes`() throws {
        let (output, header) = try edited(tiny.bytes, [.remove("a.dylib"), .remove("b.dylib")])
        #expect(header.outcomes == [.done, .standIn(symbols: [])])
        #expect(try MachOImage(output[...]).libraries.map(\.path) == ["@rpath/removed.1"])
        #expect(try MachOImage(output[...]).libraries.map(\.kind) == [.weak])
    }

    @Test(arguments: ["", String(repeating: "a", count: 1024), "a\0b"])
    func `refuses names that no command can hold`(name: String) throws {
        for edit: LibraryEdit in [
            .add(name, isWeak: false), .rename("b.dylib", to: name), .addRPath(name), .setInstallName(name),
        ] {
            let error = #expect(throws: MachOError.self) { try edited(tiny.bytes, [edit]) }
            #expect(error?.code == .badName)
        }
        #expect(try edited(tiny.bytes, [.remove(name), .removeRPath(name)]).header.outcomes == [.notFound, .notFound])
    }

    @Test(arguments: SampleMachO.Architecture.allCases, [nil, 4096])
    func `needs the room that it takes, and not a byte less`(architecture: SampleMachO.Architecture, room: Int?) throws
    {
        // 24 bytes, the name and a zero; a multiple of 8, or of 4 in 32-bit code.
        let path = "@rpath/abcdefghi"
        let size = architecture == .armv7 ? 44 : 48
        var sample = SampleMachO()
        sample.architecture = architecture
        sample.signatureRoom = room
        let needed = size + (room == nil ? 16 : 0)
        sample.headerPadding = needed
        #expect(try edited(sample.bytes(), [.add(path, isWeak: false)]).header.outcomes == [.done])
        sample.headerPadding = needed - 4
        let error = #expect(throws: MachOError.self) { try edited(sample.bytes(), [.add(path, isWeak: false)]) }
        #expect(error?.code == .headerFull)
        #expect(
            error?.message == "\(architecture): the new load commands need 4 bytes more than the \(size - 4) that are "
                + "free in the header."
        )
        // What is removed first makes room; what only shrinks needs none.
        sample.headerPadding = 0
        sample.libraries = ["@rpath/abcdefghj", "@rpath/x"]
        let swap: [LibraryEdit] = [.remove("abcdefghj"), .add(path, isWeak: true)]
        #expect(try edited(sample.bytes(), swap).header.outcomes == [.done, .done])
        #expect(try edited(sample.bytes(), [.rename("abcdefghj", to: "/s")]).header.outcomes == [.done])
    }

    @Test func `takes no room that is not empty or not shown`() throws {
        var bytes = tiny.bytes
        let image = try MachOImage(bytes[...])
        bytes[image.commandsEnd + 40] = 1
        let error = #expect(throws: MachOError.self) { try edited(bytes, [.add("/x", isWeak: false)]) }
        #expect(error?.message.contains("need 8 bytes more than the 24 that are free") == true)
        #expect(throws: MachOError.self) {
            try image.edited(by: [.add("/x", isWeak: false)], header: tiny.bytes[..<(image.commandsEnd + 40)])
        }
        let shown = tiny.bytes[..<(image.commandsEnd + 48)]
        #expect(try image.edited(by: [.add("/x", isWeak: false)], header: shown).outcomes == [.done])
        #expect(throws: MachOError.self) { try image.edited(by: [], header: tiny.bytes[..<(image.commandsEnd - 1)]) }
    }

    @Test(arguments: [false, true])
    func `is made in every slice, and names the one that is too full`(wide: Bool) throws {
        let images = [
            TinyMachO {
                $0.is64Bit = false
                $0.cpuType = 12
                $0.cpuSubtype = 9
                $0.headerPad = 256
            },
            TinyMachO { $0.headerPad = 256 },
            TinyMachO {
                $0.cpuSubtype = 2
                $0.headerPad = 32
            },
        ].map(\.bytes)
        let fat = TinyMachO.fat(Array(images[..<2]), alignment: 12, wide: wide)
        let file = try MachOFile(fat)
        let headers = try file.edited(by: [.add("@rpath/a.dylib", isWeak: true), .remove("none")], in: fat[...])
        #expect(headers.map(\.outcomes) == [[.done, .notFound], [.done, .notFound]])
        for (slice, header) in zip(file.slices, headers) {
            let image = header.bytes + fat[(slice.offset + header.bytes.count)..<(slice.offset + slice.image.count)]
            #expect(try MachOImage(image[...]).libraries.map(\.path) == ["@rpath/a.dylib"])
        }
        let full = TinyMachO.fat(images, alignment: 12, wide: wide)
        let error = #expect(throws: MachOError.self) {
            try MachOFile(full).edited(by: [.add("@rpath/a.dylib", isWeak: true)], in: full[...])
        }
        #expect(error?.code == .headerFull)
        #expect(
            error?.message.hasPrefix("arm64e: the new load commands need 24 bytes more than the 16 that are") == true
        )
        #expect(throws: MachOError.self) { try file.edited(by: [], in: fat[..<5000]) }
    }
}

@Suite struct `Many edits of libraries` {
    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `keep what is not meant, byte for byte, and can be undone`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let tiny = TinyMachO {
            $0.is64Bit = seed.isMultiple(of: 2)
            if !$0.is64Bit { $0.cpuType = 12 }
            $0.headerPad = 2048
            $0.dylibs = ["/usr/lib/libSystem.B.dylib", "/one", "/two"]
            $0.uuid = Array(1...16)
            $0.signatureRoom = seed.isMultiple(of: 3) ? 64 : nil
        }
        let start = tiny.bytes
        var bytes = start
        let names = (0..<8).map { "@rpath/" + String(repeating: "n", count: $0 * 3) + "\($0)" }
        for _ in 0..<30 {
            let before = commands(bytes)
            let name = names[Int.random(in: 0..<8, using: &random)]
            let other = names[Int.random(in: 0..<8, using: &random)]
            let loaded = try MachOImage(bytes[...]).libraries.map(\.path)
            let rpaths = try MachOImage(bytes[...]).rpaths
            let edit: LibraryEdit =
                switch Int.random(in: 0..<5, using: &random) {
                case 0: .add(name, isWeak: Bool.random(using: &random))
                case 1: .remove(name)
                case 2: .rename(name, to: other)
                case 3: .addRPath(name)
                default: .removeRPath(name)
                }
            let (output, header) = try edited(bytes, [edit])
            let after = commands(output)
            let image = try MachOImage(output[...])
            #expect(output.count == start.count)
            #expect(
                output[(image.commandsEnd + image.headerRoom)...] == start[(image.commandsEnd + image.headerRoom)...]
            )
            #expect(output[image.commandsEnd..<image.commandsEnd + image.headerRoom].allSatisfy { $0 == 0 })
            switch edit {
            case .add:
                #expect(image.libraries.map(\.path) == (loaded.contains(name) ? loaded : loaded + [name]), "\(edit)")
                #expect(after.prefix(before.count) == before[...], "\(edit)")
            case .remove:
                #expect(image.libraries.map(\.path) == loaded.filter { $0 != name }, "\(edit)")
                #expect(after == before.filter { named($0) != name || $0[0] == 0x1C }, "\(edit)")
            case .rename:
                let expected = loaded.contains(name) ? loaded.map { $0 == name ? other : $0 } : loaded
                var seen: Set<String> = []
                #expect(image.libraries.map(\.path) == expected.filter { seen.insert($0).inserted }, "\(edit)")
                #expect(after.filter { named($0) == nil } == before.filter { named($0) == nil }, "\(edit)")
                // Back again, where no other was in its way.
                if !loaded.contains(other), header.outcomes == [.done] {
                    #expect(try edited(output, [.rename(other, to: name)]).bytes == bytes, "\(edit)")
                }
            case .addRPath:
                #expect(image.rpaths == (rpaths.contains(name) ? rpaths : rpaths + [name]), "\(edit)")
                #expect(after.prefix(before.count) == before[...], "\(edit)")
            case .removeRPath:
                #expect(image.rpaths == rpaths.filter { $0 != name }, "\(edit)")
                #expect(after == before.filter { named($0) != name || $0[0] != 0x1C }, "\(edit)")
            case .setInstallName: break
            }
            bytes = output
        }
        let undo = names.map { LibraryEdit.remove($0) } + names.map { .removeRPath($0) }
        #expect(try edited(bytes, undo).bytes == start)
    }

    /// The name in a command of a library or a run path.
    private func named(_ command: [UInt8]) -> String? {
        guard [0x0C, 0x18, 0x1C].contains(command[0]), command[1] == 0 else { return nil }
        return String(decoding: command[Int(command[8])...].prefix { $0 != 0 }, as: UTF8.self)
    }
}

@Suite struct `A header that is cut or changed` {
    private static let edits: [LibraryEdit] = [
        .add("@rpath/x.dylib", isWeak: true), .remove("libSystem.B.dylib"),
        .rename("ü.dylib", to: "/l/o/n/g/e/r/ü.dylib"),
        .addRPath("/r"), .removeRPath("/q"), .setInstallName("@rpath/other.dylib"),
    ]

    private func rich(_ is64Bit: Bool) -> [UInt8] {
        var tiny = TinyMachO.rich(is64Bit: is64Bit)
        tiny.headerPad = 256
        var command: [UInt8] = []
        for word in [0x8000_001C, 16, 12, 0x712F] as [UInt32] { command.append(word, .little) }
        tiny.moreCommands = [command]
        return tiny.bytes
    }

    @Test(arguments: [true, false])
    func `never makes the editor trap or reach past its room`(is64Bit: Bool) throws {
        let bytes = rich(is64Bit)
        let whole = try MachOImage(bytes[...])
        #expect(try edited(bytes, Self.edits).header.outcomes == [.done, .done, .done, .done, .done, .done])
        for index in 0..<whole.commandsEnd {
            for mask: UInt8 in [0x01, 0x04, 0x80, 0xFF] {
                var changed = bytes
                changed[index] ^= mask
                exercise(changed)
            }
        }
        for length in 0...(whole.commandsEnd + whole.headerRoom) {
            // As a caller does who holds less of the image than its header says.
            guard let image = try? MachOImage(bytes[..<length], count: bytes.count) else { continue }
            if let header = try? image.edited(by: Self.edits, header: bytes[..<length]) {
                #expect(header.bytes.count <= length)
            }
        }
    }

    private func exercise(_ bytes: [UInt8]) {
        guard let image = try? MachOImage(bytes[...]) else { return }
        let use = try? image.libraryUse(in: bytes[...])
        for edit in Self.edits.map({ [$0] }) + [Self.edits] {
            guard let header = try? image.edited(by: edit, header: bytes[...], use: use) else { continue }
            #expect(header.bytes.count <= max(image.commandsEnd, image.commandsEnd + image.headerRoom))
            let output = header.bytes + bytes[header.bytes.count...]
            #expect((try? MachOImage(output[...])) != nil, "what could be read can still be read")
        }
    }
}
