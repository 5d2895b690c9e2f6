import FerryBytes
import TestKit
import Testing

@testable import FerryMachO

@Suite struct `Removing a signature` {
    @Test(.enabled(if: AppleTools.exist, "\(AppleTools.absent)"))
    func `gives what ld64.lld links without one`() throws {
        let signed = try AppleTools.link(["-adhoc_codesign"])
        let unsigned = try AppleTools.link([])
        #expect(signed.count > unsigned.count)
        let bare = try MachOFile(signed).withoutSignatures(in: signed)
        // The linker fills up to where a signature may begin.
        #expect(bare.count - unsigned.count < 16)
        let file = try MachOFile(bare)
        #expect(file.slices[0].image.codeSignature == nil)
        let (ours, theirs) = (file.slices[0].image, try MachOFile(unsigned).slices[0].image)
        #expect(ours.loadCommands == theirs.loadCommands)
        #expect(ours.linkEdit?.memorySize == 0x4000)
        let start = ours.commandsEnd
        #expect(bare[start..<unsigned.count] == unsigned[start...])
    }

    /// With the signature's command last or before others, in a header of 64 or 32 bits.
    @Test(arguments: [true, false], [nil, 0, 0x10, 0x4000])
    func `gives back what was before`(is64Bit: Bool, room: Int?) throws {
        let bare = TinyMachO { $0.is64Bit = is64Bit }
        var signed = bare
        signed.signatureRoom = room
        // The command takes 16 bytes of what is free.
        if room != nil { signed.headerPad -= 16 }
        let found = try MachOFile(signed.bytes).withoutSignatures(in: signed.bytes)
        let image = try MachOFile(found).slices[0].image
        #expect(image.codeSignature == nil)
        #expect(image.linkEdit.map { $0.fileOffset + $0.fileSize } == found.count)
        let kept = try MachOFile(bare.bytes).slices[0].image
        #expect(image.loadCommands.map(\.number) == kept.loadCommands.map(\.number))
        #expect(found[image.commandsEnd...] == bare.bytes[image.commandsEnd..<found.count])
    }

    @Test func `reaches every slice of a universal file`() throws {
        let one = TinyMachO { $0.signatureRoom = 0x4000 }
        var two = one
        two.cpuSubtype = 2
        let file = try MachOFile(TinyMachO.fat([one.bytes, two.bytes]))
        let bare = try file.withoutSignatures(in: TinyMachO.fat([one.bytes, two.bytes]))
        let slices = try MachOFile(bare).slices
        #expect(slices.map(\.image.architecture) == ["arm64", "arm64e"])
        #expect(slices.allSatisfy { $0.image.codeSignature == nil })
        #expect(bare.count < TinyMachO.fat([one.bytes, two.bytes]).count)
    }

    @Test func `refuses what lies behind the signature`() {
        let bytes = TinyMachO {
            $0.signatureRoom = 0x100
            $0.trailing = [1]
        }.bytes
        #expect(throws: MachOError.self) { try MachOFile(bytes).withoutSignatures(in: bytes) }
    }
}
