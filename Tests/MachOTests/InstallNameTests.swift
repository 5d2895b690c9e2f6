import FerryMachO
import TestKit
import Testing

/// An `LC_ID_DYLIB` field by field, as `<mach-o/loader.h>` has it.
private func idCommand(_ name: String, is64Bit: Bool) -> [UInt8] {
    let alignment = is64Bit ? 8 : 4
    let size = (24 + name.utf8.count + alignment) / alignment * alignment
    let fields: [UInt32] = [0x0D, UInt32(size), 24, 2, 0x1_0000, 0x1_0000]
    let bytes = fields.flatMap { field in withUnsafeBytes(of: field.littleEndian) { Array($0) } } + name.utf8
    return bytes + [UInt8](repeating: 0, count: size - bytes.count)
}

@Suite struct `A library with several install names` {
    @Test(
        arguments: [["/a", "/b"], ["/b", "/a"], ["/a", "/a"], ["/a", "/b", "/c"], ["@rpath/new", "/b"]],
        [true, false]
    )
    func `has the new one in the place of each`(names: [String], is64Bit: Bool) throws {
        let bytes = TinyMachO {
            $0.fileType = 6
            $0.is64Bit = is64Bit
            $0.moreCommands = names.map { idCommand($0, is64Bit: is64Bit) }
            $0.headerPad = 256
        }.bytes
        let new = idCommand("@rpath/new", is64Bit: is64Bit)
        let edit = LibraryEdit.setInstallName("@rpath/new")
        let first = try MachOImage(bytes[...]).edited(by: [edit], header: bytes[...])
        #expect(first.outcomes == [.done])
        let output = first.bytes + bytes[first.bytes.count...]
        #expect(commands(output).filter { $0[0] == 0x0D } == names.map { _ in new })
        #expect(try MachOImage(output[...]).installName == "@rpath/new")
        #expect(try MachOImage(output[...]).edited(by: [edit], header: output[...]).outcomes == [.alreadyThere])
    }
}
