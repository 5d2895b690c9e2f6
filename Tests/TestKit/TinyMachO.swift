/// A Mach-O image written field by field from `<mach-o/loader.h>`: small, and odd in whatever way a test wants.
///
/// `__TEXT` from 0 with one section, then `__LINKEDIT` up to the end. What it holds is no code.
public struct TinyMachO: Sendable {
    /// Whether addresses have 64 bits.
    public var is64Bit = true
    /// `cputype`; arm64.
    public var cpuType: UInt32 = 0x0100_000C
    /// `cpusubtype`.
    public var cpuSubtype: UInt32 = 0
    /// `filetype`: 2 an executable, 6 a library, 8 a bundle.
    public var fileType: UInt32 = 2
    /// `LC_BUILD_VERSION.platform`; 2 is iOS.
    public var platform: UInt32 = 2
    /// `LC_BUILD_VERSION.minos`.
    public var minimumOS: UInt32 = 15 << 16
    /// `__TEXT.filesize`.
    public var textSize = 0x1000
    /// `__LINKEDIT.filesize` without the signature.
    public var linkEditSize = 64
    /// Zeros between the load commands and the first section.
    public var headerPad = 64
    /// The size of an area for a signature, which makes an `LC_CODE_SIGNATURE`.
    public var signatureRoom: Int?
    /// `LC_ENCRYPTION_INFO.cryptid`, which makes one.
    public var cryptID: UInt32?
    /// `LC_LOAD_DYLIB`s.
    public var dylibs: [String] = []
    /// `LC_ID_DYLIB`.
    public var installName: String?
    /// `LC_UUID`.
    public var uuid: [UInt8]?
    /// Whole load commands, after all others but the signature's.
    public var moreCommands: [[UInt8]] = []
    /// What `__LINKEDIT` begins with.
    public var linkEdit: [UInt8] = []
    /// What the filling is made from.
    public var seed: UInt64 = 1
    /// Bytes behind the end of `__LINKEDIT`.
    public var trailing: [UInt8] = []

    /// A small 64-bit executable for iOS 15.
    public init() {}

    /// One with some fields changed.
    public init(_ change: (inout TinyMachO) -> Void) {
        change(&self)
    }

    private var header: Int { is64Bit ? 32 : 28 }

    /// The file.
    public var bytes: [UInt8] {
        var generator = SeededGenerator(seed: seed)
        let others = otherCommands
        let segments = is64Bit ? 72 + 80 + 72 : 56 + 68 + 56
        let commandsSize = segments + others.reduce(0) { $0 + $1.count } + (signatureRoom == nil ? 0 : 16)
        let firstSection = header + commandsSize + headerPad
        let room = signatureRoom ?? 0
        precondition(linkEdit.count <= linkEditSize, "what __LINKEDIT begins with is no more than all of it")
        precondition(firstSection <= textSize, "the text segment holds the header")

        var file: [UInt8] = []
        file.words(is64Bit ? 0xFEED_FACF : 0xFEED_FACE, cpuType, cpuSubtype, fileType)
        file.words(UInt32(2 + others.count + (signatureRoom == nil ? 0 : 1)), UInt32(commandsSize), 0x85)
        if is64Bit { file.words(0) }
        file += segment("__TEXT", address: 0x1_0000, memory: textSize, offset: 0, size: textSize, section: firstSection)
        file += segment(
            "__LINKEDIT",
            address: 0x1_0000 + textSize,
            memory: (linkEditSize + room + 0x3FFF) & ~0x3FFF,
            offset: textSize,
            size: linkEditSize + room,
            section: nil
        )
        for command in others { file += command }
        if signatureRoom != nil {
            file.words(0x1D, 16, UInt32(textSize + linkEditSize), UInt32(room))
        }
        file += [UInt8](repeating: 0, count: headerPad)
        file += generator.bytes(textSize + linkEditSize - file.count).map { $0 | 1 }
        file.replaceSubrange(textSize..<textSize + linkEdit.count, with: linkEdit)
        file += [UInt8](repeating: 0, count: room)
        return file + trailing
    }

    private var otherCommands: [[UInt8]] {
        var commands: [[UInt8]] = []
        if let uuid {
            var command: [UInt8] = []
            command.words(0x1B, 24)
            commands.append(command + uuid)
        }
        if platform != 0 {
            var build: [UInt8] = []
            build.words(0x32, 24, platform, minimumOS, 17 << 16, 0)
            commands.append(build)
        }
        if let installName { commands.append(library(0x0D, installName)) }
        for dylib in dylibs { commands.append(library(0x0C, dylib)) }
        if let cryptID {
            var command: [UInt8] = []
            command.words(is64Bit ? 0x2C : 0x21, is64Bit ? 24 : 20, 0, 0, cryptID)
            if is64Bit { command.words(0) }
            commands.append(command)
        }
        return commands + moreCommands
    }

    private func library(_ number: UInt32, _ name: String) -> [UInt8] {
        let size = (24 + name.utf8.count + 1 + 7) & ~7
        var command: [UInt8] = []
        command.words(number, UInt32(size), 24, 2, 0x1_0000, 0x1_0000)
        command += name.utf8
        return command + [UInt8](repeating: 0, count: size - command.count)
    }

    private func segment(
        _ name: String,
        address: Int,
        memory: Int,
        offset: Int,
        size: Int,
        section: Int?
    ) -> [UInt8] {
        var command: [UInt8] = []
        let count: UInt32 = section == nil ? 0 : 1
        command.words(is64Bit ? 0x19 : 0x01, is64Bit ? 72 + 80 * count : 56 + 68 * count)
        command.name(name)
        for value in [address, memory, offset, size] { command.long(value, is64Bit) }
        command.words(5, 5, count, 0)
        if let section {
            command.name("__text")
            command.name(name)
            command.long(address + section, is64Bit)
            command.long(textSize - section, is64Bit)
            command.words(UInt32(section), 0, 0, 0, 0x8000_0400, 0, 0)
            if is64Bit { command.words(0) }
        }
        return command
    }

    /// A universal file of `images`, each at a multiple of 2^`alignment`.
    public static func fat(_ images: [[UInt8]], alignment: UInt32 = 14, wide: Bool = false) -> [UInt8] {
        var header: [UInt8] = []
        header.words(big: wide ? 0xCAFE_BABF : 0xCAFE_BABE, UInt32(images.count))
        var body: [UInt8] = []
        let page = 1 << Int(alignment)
        let start = (8 + images.count * (wide ? 32 : 20) + page - 1) / page * page
        for image in images {
            body += [UInt8](repeating: 0, count: (page - body.count % page) % page)
            let types = (4..<12).map { image[$0] }
            header += types[0..<4].reversed() + types[4..<8].reversed()
            if wide {
                header.words(big: 0, UInt32(start + body.count), 0, UInt32(image.count), alignment, 0)
            } else {
                header.words(big: UInt32(start + body.count), UInt32(image.count), alignment)
            }
            body += image
        }
        return header + [UInt8](repeating: 0, count: start - header.count) + body
    }
}

extension [UInt8] {
    fileprivate mutating func words(_ words: UInt32...) {
        for word in words {
            for shift in [0, 8, 16, 24] { append(UInt8(truncatingIfNeeded: word >> UInt32(shift))) }
        }
    }

    fileprivate mutating func words(big words: UInt32...) {
        for word in words {
            for shift in [24, 16, 8, 0] { append(UInt8(truncatingIfNeeded: word >> UInt32(shift))) }
        }
    }

    fileprivate mutating func long(_ value: Int, _ is64Bit: Bool) {
        words(UInt32(truncatingIfNeeded: value))
        if is64Bit { words(UInt32(truncatingIfNeeded: value >> 32)) }
    }

    fileprivate mutating func name(_ name: String) {
        self += name.utf8
        self += [UInt8](repeating: 0, count: 16 - name.utf8.count)
    }
}
