import FerryBytes
import TestKit
import Testing

@testable import FerryMachO

private func word(_ bytes: [UInt8], at offset: Int) throws -> Int {
    Int(try ByteReader(bytes).integer(at: offset, as: UInt32.self, .little))
}

/// Changes a 32-bit word of the header.
private func patched(_ bytes: [UInt8], at offset: Int, to value: Int) -> [UInt8] {
    var changed = bytes
    changed.store(UInt32(value), at: offset, .little)
    return changed
}

@Suite struct `Room for a signature` {
    @Test(arguments: [1, 4095, 4096])
    func `is the old room where that is large enough, and no byte of the header changes`(needed: Int) throws {
        let tiny = TinyMachO { $0.signatureRoom = 4096 }
        let image = try MachOImage(tiny.bytes[...])
        let layout = try image.signatureLayout(in: tiny.bytes[...], needed: needed)
        #expect(layout.edits == [])
        #expect(layout.changedPrefix == 0)
        #expect(layout.codeLimit == tiny.textSize + tiny.linkEditSize)
        #expect(layout.contentEnd == layout.codeLimit)
        #expect(layout.signatureSize == 4096)
        #expect(layout.imageSize == tiny.bytes.count)
    }

    @Test(arguments: [(0, 0), (0x1050, 0)])
    func `is made anew where strippers left an empty signature`(offset: Int, size: Int) throws {
        let tiny = TinyMachO { $0.signatureRoom = 16 }
        let command = try #require(try MachOImage(tiny.bytes[...]).loadCommands.last { $0.number == 0x1D })
        let bytes = patched(patched(tiny.bytes, at: command.offset + 8, to: offset), at: command.offset + 12, to: size)
        let (changed, layout) = try laidOut(bytes, needed: 4097)
        let image = try MachOImage(changed[...])
        #expect(try MachOImage(bytes[...]).signatureObstacle(in: bytes[...]) == nil)
        #expect(layout.codeLimit == tiny.textSize + tiny.linkEditSize + 16)
        #expect(image.codeSignature == .init(offset: layout.codeLimit, size: 4112))
        #expect(image.loadCommands.count == (try MachOImage(bytes[...]).loadCommands.count))
    }

    @Test func `is not the old one where __LINKEDIT claims all of the memory`() throws {
        let tiny = TinyMachO { $0.signatureRoom = 4096 }
        let segment = try #require(try MachOImage(tiny.bytes[...]).linkEdit)
        let bytes = patched(tiny.bytes, at: segment.commandOffset + 36, to: 0x4000_0000)
        let (changed, layout) = try laidOut(bytes, needed: 1)
        #expect(layout.edits != [])
        #expect(try MachOImage(changed[...]).linkEdit?.memorySize == 0x4000)
    }

    // 16 bytes are the room; LINKEDIT's memory is whole pages of 16 KiB (64-bit) or 4 KiB.
    @Test(arguments: [
        (true, 4097, 4112, 0x4000), (true, 0x4000, 0x4000, 0x8000), (true, 0x4000 - 64, 0x3FC0, 0x4000),
        (false, 4097, 4112, 0x2000), (false, 0x1000 * 3 - 64, 0x2FC0, 0x3000),
    ])
    func `grows where it must`(is64Bit: Bool, needed: Int, size: Int, memory: Int) throws {
        let tiny = TinyMachO {
            $0.is64Bit = is64Bit
            $0.signatureRoom = 4096
        }
        let (bytes, layout) = try laidOut(tiny.bytes, needed: needed)
        let image = try MachOImage(bytes[...])
        #expect(layout.codeLimit == 0x1040)
        #expect(layout.signatureSize == size)
        #expect(image.codeSignature == .init(offset: 0x1040, size: size))
        #expect(image.linkEdit?.fileSize == 64 + size)
        #expect(image.linkEdit?.memorySize == UInt64(memory))
        #expect(image.loadCommands == (try MachOImage(tiny.bytes[...]).loadCommands))
        #expect(layout.edits.map(\.offset) == layout.edits.map(\.offset).sorted())
        #expect(layout.changedPrefix <= image.commandsEnd)
    }

    @Test(arguments: [true, false], [64, 61, 49])
    func `is added, from a multiple of 16 on`(is64Bit: Bool, linkEditSize: Int) throws {
        let tiny = TinyMachO {
            $0.is64Bit = is64Bit
            $0.linkEditSize = linkEditSize
        }
        let before = try MachOImage(tiny.bytes[...])
        let (bytes, layout) = try laidOut(tiny.bytes, needed: 1000)
        let image = try MachOImage(bytes[...])
        #expect(layout.contentEnd == tiny.bytes.count)
        #expect(layout.codeLimit == 0x1040)
        #expect(before.expectedCodeLimit == 0x1040)
        #expect(image.codeSignature == .init(offset: 0x1040, size: 1008))
        #expect(image.loadCommands.dropLast() == before.loadCommands[...])
        #expect(image.loadCommands.last?.number == 0x1D)
        #expect(image.linkEdit.map { $0.fileOffset + $0.fileSize } == bytes.count)
        #expect(image.headerRoom == before.headerRoom - 16)
        // All else stays.
        #expect(bytes[before.commandsEnd + 16..<layout.contentEnd] == tiny.bytes[(before.commandsEnd + 16)...])
    }

    @Test(arguments: [0, 4, 15])
    func `is refused where the header is full, with the number of free bytes`(pad: Int) throws {
        let tiny = TinyMachO { $0.headerPad = pad }
        let image = try MachOImage(tiny.bytes[...])
        let error = #expect(throws: MachOError.self) { try image.signatureLayout(in: tiny.bytes[...], needed: 1) }
        #expect(error?.code == .headerFull)
        #expect(error?.message.contains("only \(pad) are free") == true)
        #expect(image.signatureObstacle(in: tiny.bytes[...]) == error)
        #expect(try laidOut(TinyMachO { $0.headerPad = 16 }.bytes, needed: 1).layout.signatureSize == 16)
    }

    @Test func `is not taken from bytes behind the load commands that are in use`() throws {
        var bytes = TinyMachO().bytes
        let image = try MachOImage(bytes[...])
        bytes[image.commandsEnd + 3] = 7
        let error = #expect(throws: MachOError.self) { try image.signatureLayout(in: bytes[...], needed: 1) }
        #expect(error?.code == .headerFull)
        #expect(error?.message.contains("only 3 are free") == true)
    }

    @Test func `is refused behind data that no segment holds`() throws {
        for room in [nil, 64] {
            let tiny = TinyMachO {
                $0.signatureRoom = room
                $0.trailing = [0, 0, 1]
            }
            let image = try MachOImage(tiny.bytes[...])
            let error = #expect(throws: MachOError.self) { try image.signatureLayout(in: tiny.bytes[...], needed: 1) }
            #expect(error?.code == .trailingData)
            #expect(error?.message.hasPrefix("3 bytes lie behind") == true)
        }
    }

    @Test func `is laid over zeros behind the end, which nobody needs`() throws {
        let tiny = TinyMachO {
            $0.signatureRoom = 64
            $0.trailing = [0, 0, 0]
        }
        let (bytes, layout) = try laidOut(tiny.bytes, needed: 16)
        #expect(layout.imageSize == bytes.count)
        #expect(try MachOImage(bytes[...]).codeSignature?.end == bytes.count)
    }

    @Test func `needs a __LINKEDIT that is the last segment and ends with the signature`() throws {
        let tiny = TinyMachO { $0.signatureRoom = 64 }
        let image = try MachOImage(tiny.bytes[...])
        let linkEdit = try #require(image.linkEdit)
        let command = try #require(image.loadCommands.last)
        var unnamed = tiny.bytes
        unnamed[linkEdit.commandOffset + 8] = UInt8(ascii: "X")
        let cases: [(String, [UInt8], MachOError.Code)] = [
            ("no __LINKEDIT", unnamed, .unsupported),
            // A segment's file size is at 48 of its command.
            (
                "__TEXT past __LINKEDIT's end", patched(tiny.bytes + [0], at: 32 + 48, to: tiny.bytes.count + 1),
                .malformed
            ),
            (
                "__TEXT into the signature, by a byte",
                patched(tiny.bytes, at: 32 + 48, to: tiny.bytes.count - 63), .malformed
            ),
            (
                "__TEXT up to the signature's last byte",
                patched(tiny.bytes, at: 32 + 48, to: tiny.bytes.count), .malformed
            ),
            ("a signature that ends early", patched(tiny.bytes, at: command.offset + 12, to: 32), .malformed),
            ("a signature before __LINKEDIT", patched(tiny.bytes, at: command.offset + 8, to: 512), .malformed),
        ]
        for (name, bytes, code) in cases {
            let error = #expect(throws: MachOError.self, "\(name)") { try laidOut(bytes, needed: 16) }
            #expect(error?.code == code, "\(name)")
        }
        #expect(throws: Never.self) {
            try laidOut(patched(tiny.bytes, at: 32 + 48, to: tiny.bytes.count - 64), needed: 16)
        }
        #expect(try MachOImage(unnamed[...]).expectedCodeLimit == nil)
        #expect(try MachOImage(unnamed[...]).signatureObstacle(in: unnamed[...])?.code == .unsupported)
    }

    @Test func `is refused where it would lie over the header`() throws {
        // Nothing but a __LINKEDIT from the file's start on, with its last bytes zero; once with an old signature in it.
        for signatureOffset in [nil, 32] as [Int?] {
            var bytes: [UInt8] = []
            let size: UInt32 = 72 + (signatureOffset == nil ? 0 : 16)
            for word in [0xFEED_FACF, 0x0100_000C, 0, 2, signatureOffset == nil ? 1 : 2, size, 0x85, 0, 0x19, 72]
                as [UInt32]
            {
                bytes.append(word, .little)
            }
            bytes += Array("__LINKEDIT".utf8) + [UInt8](repeating: 0, count: 6)
            for long in [0x1_0000, 0x4000, 0, signatureOffset == nil ? 90 : 32 + 4096] as [UInt64] {
                bytes.append(long, .little)
            }
            for word in [1, 0, 0, 0] as [UInt32] { bytes.append(word, .little) }
            if let signatureOffset {
                for word in [0x1D, 16, UInt32(signatureOffset), 4096] as [UInt32] { bytes.append(word, .little) }
            }
            bytes += [UInt8](repeating: 0, count: 32 + 4096 - bytes.count)
            let image = try MachOImage(bytes[...])
            for needed in [64, 8192] {
                let error = #expect(throws: MachOError.self) {
                    try image.signatureLayout(in: bytes[...], needed: needed)
                }
                #expect(error?.code == .malformed, "\(String(describing: error))")
            }
        }
    }

    @Test func `is laid out anew where the old one lies askew or __LINKEDIT's memory is too small`() throws {
        let askew = TinyMachO {
            $0.linkEditSize = 60
            $0.signatureRoom = 4096
        }
        let (bytes, layout) = try laidOut(askew.bytes, needed: 16)
        #expect(layout.contentEnd == 0x103C)
        #expect(layout.codeLimit == 0x1040)
        #expect(bytes[0x103C..<0x1040].allSatisfy { $0 == 0 })

        let tiny = TinyMachO { $0.signatureRoom = 0x5000 }
        let image = try MachOImage(tiny.bytes[...])
        let small = patched(tiny.bytes, at: try #require(image.linkEdit).commandOffset + 32, to: 0x1000)
        let repaired = try laidOut(small, needed: 16)
        #expect(try MachOImage(repaired.bytes[...]).linkEdit?.memorySize == 0x4000)
    }
}

@Suite(.enabled(if: AppleTools.exist, "\(AppleTools.absent)"))
struct `A universal file that is laid out anew` {
    @Test(arguments: [(12, false), (14, false), (14, true), (0, false)] as [(UInt32, Bool)])
    func `keeps its slices and their alignment, as llvm-lipo sees it`(alignment: UInt32, wide: Bool) throws {
        let images = [
            TinyMachO.rich(is64Bit: false).bytes, TinyMachO().bytes, TinyMachO { $0.cpuSubtype = 2 }.bytes,
        ]
        let file = try MachOFile(TinyMachO.fat(images, alignment: alignment, wide: wide))
        #expect(file.slices.map(\.image.architecture) == ["armv7", "arm64", "arm64e"])
        let sizes = [0x3001, 0x1040, 0x4000]
        let layout = try file.fatLayout(sizes: sizes)
        #expect(layout.offsets.allSatisfy { $0.isMultiple(of: 1 << Int(alignment)) })
        #expect(layout.header.count <= layout.offsets[0])

        var output = layout.header + [UInt8](repeating: 0, count: layout.fileSize - layout.header.count)
        for (index, image) in images.enumerated() {
            let size = min(image.count, sizes[index])
            output.replaceSubrange(layout.offsets[index]..<layout.offsets[index] + size, with: image[..<size])
        }
        let folder = try TemporaryFolder()
        try folder.write(output, to: "fat")
        let shown = try #require(AppleTools.objdump).run(["--macho", "--universal-headers", folder.path("fat")])
        try #require(shown.status == 0, "\(shown.errors)")
        func column(_ name: String) -> [String] {
            shown.text.split(separator: "\n").map { $0.split(separator: " ") }
                .filter { $0.first == name[...] }.map { String($0[1]) }
        }
        #expect(column("offset") == layout.offsets.map(String.init))
        #expect(column("size") == sizes.map(String.init))
        #expect(column("align") == [String](repeating: "2^\(alignment)", count: 3))
        #expect(column("cputype").count == 3)
        #expect(column("fat_magic").isEmpty == false)
    }

    @Test func `is refused past 4 GiB`() throws {
        let file = try MachOFile(TinyMachO.fat([TinyMachO().bytes, TinyMachO().bytes]))
        let error = #expect(throws: MachOError.self) { try file.fatLayout(sizes: [1 << 32, 16]) }
        #expect(error?.code == .unsupported)
        #expect(throws: MachOError.self) { try file.fatLayout(sizes: [.max, 16]) }
    }

    @Test func `is refused where slices overlap, name another processor or ask for too much alignment`() throws {
        let fat = TinyMachO.fat([TinyMachO().bytes, TinyMachO { $0.cpuSubtype = 2 }.bytes], alignment: 12)
        // The second slice's fat_arch begins at 28: processor, subtype, offset, size, alignment.
        for (offset, value, word) in [
            (36, 0x1000, "slice 2"), (28, 7, "processors"), (44, 21, "2^21"), (40, 1 << 30, "slice 2"),
        ] {
            var changed = fat
            changed.store(UInt32(value), at: offset, .big)
            let error = #expect(throws: MachOError.self) { try MachOFile(changed) }
            #expect(error?.code == .malformed)
            #expect(error?.message.contains(word) == true)
        }
    }
}
