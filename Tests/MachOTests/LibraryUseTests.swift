import FerryBytes
import TestKit
import Testing

@testable import FerryMachO

/// What `ld64.lld` 16 wrote as `LC_DYLD_CHAINED_FIXUPS`: `_a` and `_a_v` from the first library,
/// `_b` and `_b_v` from the second (`-fixup_chains`, shown by `llvm-objdump --chained-fixups`).
private let chained = """
    0000000020000000500000006000000004000000010000000000000000000000040000000000000000000000180000000000000000000000\
    180000000040020000800000000000000000000001000000020000000206000001100000011600005f62005f625f76005f61005f615f7600
    """

/// An image with one table in `__LINKEDIT`, which a `linkedit_data_command` names.
private func image(_ command: UInt32, _ table: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    for word in [command, 16, 0x1000, UInt32(table.count)] { bytes.append(word, .little) }
    return TinyMachO {
        $0.moreCommands = [bytes]
        $0.linkEditSize = max(64, table.count)
        $0.linkEdit = table
        $0.dylibs = ["/a", "/b", "/c"]
    }.bytes
}

private func use(_ bytes: [UInt8]) throws -> LibraryUse {
    try MachOImage(bytes[...]).libraryUse(in: bytes[...])
}

@Suite struct `The use of libraries` {
    @Test(.enabled(if: AppleTools.exist, "\(AppleTools.absent)"))
    func `is what llvm-objdump says that lld bound`() throws {
        let bytes = try Linked.bytes()
        let found = try use(bytes)
        #expect(found.highestOrdinal == 2)
        let ours = found.symbols.flatMap { ordinal, names in names.map { "\($0) from lib\(ordinal == 1 ? "a" : "b")" } }
        #expect(Set(ours) == (try Linked.binds(bytes)).filter { !$0.hasSuffix("flat-namespace") })
        #expect(Set(ours) == ["_a from liba", "_av from liba", "_b from libb", "_bv from libb"])
    }

    @Test func `is read from chained fixups as lld wrote them`() throws {
        let found = try use(image(0x8000_0034, try #require([UInt8](hex: chained))))
        #expect(found.symbols == [1: ["_a", "_a_v"], 2: ["_b", "_b_v"]])
        #expect(found.count(of: 2) == 2)
        #expect(found.count(of: 3) == 0)
    }

    /// `dyld_chained_import_addend` and `dyld_chained_import_addend64`, as `<mach-o/fixup-chains.h>` has them.
    @Test(arguments: [2, 3] as [UInt32])
    func `is read from chained fixups with addends`(form: UInt32) throws {
        var table: [UInt8] = []
        let stride: UInt32 = form == 2 ? 8 : 16
        for word in [0, 28, 28, 28 + 3 * stride, 3, form, 0] { table.append(word, .little) }
        for (ordinal, name) in [(3, 0), (1, 3), (-2, 6)] {
            if form == 2 {
                table.append(UInt32(ordinal & 0xFF) | UInt32(name << 9), .little)
                table.append(Int32(-7), .little)
            } else {
                table.append(UInt64(ordinal & 0xFFFF) | UInt64(name) << 32, .little)
                table.append(Int64(-7), .little)
            }
        }
        table += Array("_x\0_y\0_z\0".utf8)
        #expect(try use(image(0x8000_0034, table)).symbols == [3: ["_x"], 1: ["_y"]])
    }

    /// The trie's root has one child, `_f`, which is library 2's `_g` (`EXPORT_SYMBOL_FLAGS_REEXPORT`).
    @Test func `is read from re-exports`() throws {
        let trie: [UInt8] = [0, 1] + Array("_f\0".utf8) + [6] + [5, 8, 2] + Array("_g\0".utf8) + [0]
        #expect(try use(image(0x8000_0033, trie)).symbols == [2: ["_g"]])
        // A plain export at address 16 is no use.
        let plain: [UInt8] = [0, 1] + Array("_f\0".utf8) + [6] + [2, 0, 16, 0]
        #expect(try use(image(0x8000_0033, plain)).highestOrdinal == 0)
    }

    @Test func `knows ordinals above fifteen, and those that are none`() throws {
        var command: [UInt8] = []
        let opcodes: [UInt8] =
            [0x20, 0xAC, 0x02, 0x40] + Array("_far\0".utf8) + [0x90, 0x3E, 0x40] + Array("_flat\0".utf8) + [0x90]
            + [0x10, 0x40] + Array("_self\0".utf8) + [0x72, 0x10, 0x60, 0x7F, 0xC0, 1, 2, 0xD0, 3, 0xD1, 0x90, 0]
        for word in [0x8000_0022, 48, 0, 0, 0x1000, UInt32(opcodes.count), 0, 0, 0, 0, 0, 0] {
            command.append(word, .little)
        }
        let bytes = TinyMachO {
            $0.moreCommands = [command]
            $0.linkEdit = opcodes
        }.bytes
        #expect(try use(bytes).symbols == [300: ["_far"]])
    }

    @Test(
        .enabled(
            if: SharedFolder.exists && AppleTools.newObjdump != nil && Tool("dpkg-deb") != nil,
            "\(SharedFolder.absent), or a newer llvm-objdump is missing"
        )
    )
    func `is what llvm-objdump reads in what Apple's linker wrote`() throws {
        let folder = try TemporaryFolder()
        let deb = SharedFolder.corpus("feather-ellekit.deb")
        #expect(try Tool("dpkg-deb")?.run(["-x", deb, folder.path]).status == 0)
        let bytes = try folder.read("Library/Frameworks/CydiaSubstrate.framework/CydiaSubstrate")
        let file = try MachOFile(bytes)
        #expect(file.slices.map(\.image.architecture) == ["arm64", "arm64e"])
        let uses = try file.slices.map { slice in
            try slice.image.libraryUse(in: bytes[slice.offset..<slice.offset + slice.image.count])
        }
        // Both tables, as the loader goes by one of them and other tools by the other.
        for (slice, use) in zip(file.slices, uses) {
            let image = Array(bytes[slice.offset..<slice.offset + slice.image.count])
            let names = slice.image.libraries.map { library in
                library.path.split(separator: "/").last.map { $0.prefix { $0 != "." } } ?? ""
            }
            let ours = Set(
                use.symbols.flatMap { ordinal, symbols in symbols.map { "\($0) from \(names[ordinal - 1])" } }
            )
            var shown = try Linked.undefined(image).union(try Linked.binds(image))
            var ordinal = 0
            for line in try Linked.objdump(image, "--chained-fixups", with: AppleTools.newObjdump) {
                let words = line.split(separator: " ")
                if words.first == "lib_ordinal" { ordinal = Int(words[2]) ?? 0 }
                if words.first == "name_offset", ordinal > 0 {
                    shown.insert("\(words[3].dropFirst().dropLast()) from \(names[ordinal - 1])")
                }
            }
            #expect(ours.count > 100)
            #expect(ours.subtracting(shown).sorted() == [])
            #expect(shown.subtracting(ours).sorted() == [])
        }
    }
}

@Suite struct `Tables of symbols that are cut or changed` {
    @Test(arguments: [0x8000_0034, 0x8000_0033] as [UInt32])
    func `never trap`(command: UInt32) throws {
        let trie: [UInt8] = [0, 1] + Array("_f\0".utf8) + [6] + [5, 8, 2] + Array("_g\0".utf8) + [0]
        let table = command == 0x8000_0034 ? try #require([UInt8](hex: chained)) : trie
        for length in 0..<table.count { _ = try? use(image(command, Array(table[..<length]))) }
        for index in table.indices {
            for mask: UInt8 in [1, 0x80, 0xFF, 0x10] {
                var changed = table
                changed[index] ^= mask
                _ = try? use(image(command, changed))
            }
        }
    }

    @Test(.enabled(if: AppleTools.exist, "\(AppleTools.absent)"))
    func `never trap in what lld linked`() throws {
        let bytes = try Linked.bytes()
        let parsed = try MachOImage(bytes[...])
        let linkEdit = try #require(parsed.linkEdit)
        for index in linkEdit.fileOffset..<bytes.count {
            for mask: UInt8 in index.isMultiple(of: 2) ? [1, 0x80] : [0x10, 0xFF] {
                var changed = bytes
                changed[index] ^= mask
                _ = try? parsed.libraryUse(in: changed[...])
            }
        }
        for length in stride(from: 0, to: bytes.count, by: 501) {
            #expect(throws: MachOError.self) { try parsed.libraryUse(in: bytes[..<length]) }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `are refused where they would take for ever`() throws {
        // 255 nodes that lie in one another, each with a name up to the end.
        var trie: [UInt8] = [0, 255]
        for node in 0..<255 { trie += [0, UInt8(0x80 | (2048 + node) & 0x7F), UInt8((2048 + node) >> 7)] }
        trie += [UInt8](repeating: 1, count: 1 << 13) + [0, 0]
        let deep = #expect(throws: MachOError.self) { try use(image(0x8000_0033, trie)) }
        #expect(deep?.message == "the nodes of the export trie lie over one another.")
        // Two hundred imports that share one long name.
        var table: [UInt8] = []
        let count: UInt32 = 200
        for word in [0, 28, 28, 28 + 4 * count, count, 1, 0] { table.append(word, .little) }
        for _ in 0..<count { table.append(UInt32(1), .little) }
        table += [UInt8](repeating: 0x61, count: 1 << 13) + [0]
        let bytes = image(0x8000_0034, table)
        let error = #expect(throws: MachOError.self) {
            try MachOImage(bytes[...]).libraryUse(in: bytes[...], nameByteLimit: 1 << 20)
        }
        #expect(error?.message == "the names of its symbols have more than 1048576 bytes.")
        #expect(try use(bytes).count(of: 1) == 1)
    }
}
