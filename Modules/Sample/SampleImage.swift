import FerryBytes

/// One ``SampleMachO`` being laid out.
///
/// The load commands are written twice: once to learn how long they are, which does not depend on the numbers in them, and
/// once with the numbers. Source: `mach-o/loader.h` and `mach-o/nlist.h`.
struct SampleImage {
    /// Where things lie, counted from the start of the file.
    private struct Layout {
        var text = 0
        var const = 0
        /// Where `__TEXT` ends and `__LINKEDIT` begins.
        var linkEdit = 0
        var exports = 0..<0
        var functionStarts = 0..<0
        var dataInCode = 0
        var symbols = 0
        var strings = 0..<0
        var signature: Range<Int>?
        var end = 0
    }

    private struct Symbol {
        var name: String
        var type: UInt8
        var section: UInt8
        var description: UInt16
        var offset: Int
    }

    private let parameters: SampleMachO
    private let wide: Bool
    private let pageBytes: Int
    private let base: UInt64

    init(_ parameters: SampleMachO) {
        self.parameters = parameters
        wide = parameters.architecture != .armv7
        pageBytes = wide ? 16384 : 4096
        base = parameters.kind == .executable ? (wide ? 1 << 32 : 0x4000) : 0
    }

    func bytes() -> [UInt8] {
        let code = instructions
        var random = SampleRandom(seed: parameters.seed, name: "content")
        let content = random.content(max(0, parameters.payloadBytes))
        var layout = Layout()
        layout.text = headerBytes + commands(layout).bytes.count + max(0, parameters.headerPadding) / 4 * 4
        layout.const = rounded(layout.text + code.count, to: 16)
        layout.linkEdit = rounded(layout.const + content.count, to: pageBytes)
        if parameters.cryptID != nil {
            // The first page is never encrypted, so that there must be a second one.
            layout.linkEdit = max(layout.linkEdit, 2 * pageBytes)
        }
        let linkEdit = linkEditContent(&layout)
        let commands = commands(layout)

        var file = header(commandCount: commands.count, commandBytes: commands.bytes.count) + commands.bytes
        fill(&file, to: layout.text)
        file += code
        fill(&file, to: layout.const)
        file += content
        fill(&file, to: layout.linkEdit)
        file += linkEdit
        fill(&file, to: layout.end)
        return file
    }

    // MARK: Content

    /// `_main` or the exported function: an answer of zero or 42, and back.
    private var instructions: [UInt8] {
        let answer: UInt32 = parameters.kind == .executable ? 0 : 42
        var code: [UInt8] = []
        if wide {
            code.append(0x5280_0000 | answer << 5, .little)  // mov w0, #answer
            code.append(UInt32(0xD65F_03C0), .little)  // ret
        } else {
            code.append(0xE3A0_0000 | answer, .little)  // mov r0, #answer
            code.append(UInt32(0xE12F_FF1E), .little)  // bx lr
        }
        return code
    }

    private var function: String { parameters.kind == .executable ? "_main" : parameters.exportedFunction }

    /// Locals first, then what is exported, by name.
    private func symbols(_ layout: Layout) -> [Symbol] {
        let (local, exported): (UInt8, UInt8) = (0x0E, 0x0F)  // N_SECT, N_SECT | N_EXT
        var all = [Symbol(name: "_payload", type: local, section: 2, description: 0, offset: layout.const)]
        if parameters.kind == .executable {
            let referencedDynamically: UInt16 = 0x10
            all.append(
                Symbol(
                    name: "__mh_execute_header",
                    type: exported,
                    section: 1,
                    description: referencedDynamically,
                    offset: 0
                )
            )
        }
        all.append(Symbol(name: function, type: exported, section: 1, description: 0, offset: layout.text))
        return all
    }

    /// Lays out `__LINKEDIT` in the linker's order and gives all of it but the signature.
    private func linkEditContent(_ layout: inout Layout) -> [UInt8] {
        let start = layout.linkEdit
        let symbols = symbols(layout)
        var content = ExportTrie.encode(symbols.filter { $0.type & 1 == 1 }.map { ($0.name, $0.offset) })
        content.pad(to: 8)
        layout.exports = start..<start + content.count

        let starts = start + content.count
        ExportTrie.append(layout.text, to: &content)
        content.append(0)
        content.pad(to: 8)
        layout.functionStarts = starts..<start + content.count
        layout.dataInCode = start + content.count

        layout.symbols = start + content.count
        var strings: [UInt8] = [0x20, 0]
        for symbol in symbols {
            content.append(UInt32(strings.count), .little)
            content += [symbol.type, symbol.section]
            content.append(symbol.description, .little)
            append(base + UInt64(symbol.offset), to: &content)
            strings += Array(symbol.name.utf8) + [0]
        }
        strings.pad(to: 8)
        layout.strings = start + content.count..<start + content.count + strings.count
        content += strings
        layout.end = start + content.count
        if let room = parameters.signatureRoom {
            let place = rounded(layout.end, to: 16)
            layout.signature = place..<place + rounded(max(0, room), to: 16)
            layout.end = place + rounded(max(0, room), to: 16)
        }
        return content
    }

    // MARK: Header and load commands

    private var headerBytes: Int { wide ? 32 : 28 }

    private func header(commandCount: Int, commandBytes: Int) -> [UInt8] {
        // MH_NOUNDEFS, MH_DYLDLINK, MH_TWOLEVEL; MH_PIE; MH_NO_REEXPORTED_DYLIBS
        var flags: UInt32 = 0x85
        switch parameters.kind {
        case .executable: flags |= 0x20_0000
        case .dylib: flags |= 0x10_0000
        case .bundle: break
        }
        let processor: (type: UInt32, subtype: UInt32)
        switch parameters.architecture {
        case .arm64: processor = (0x0100_000C, 0)
        case .arm64e: processor = (0x0100_000C, 0x8000_0002)
        case .armv7: processor = (12, 9)
        }
        let fileType: UInt32
        switch parameters.kind {
        case .executable: fileType = 2
        case .dylib: fileType = 6
        case .bundle: fileType = 8
        }
        var bytes: [UInt8] = []
        for word in [
            wide ? 0xFEED_FACF : 0xFEED_FACE, processor.type, processor.subtype, fileType, UInt32(commandCount),
            UInt32(commandBytes), flags,
        ] {
            bytes.append(word, .little)
        }
        if wide { bytes.append(UInt32(0), .little) }
        return bytes
    }

    private func commands(_ layout: Layout) -> LoadCommands {
        var list = LoadCommands(alignment: wide ? 8 : 4)
        addSegments(layout, to: &list)
        if parameters.kind == .dylib {
            list.addLibrary(0x0D, parameters.installName)
        }
        // LC_DYLD_INFO_ONLY: nothing to rebase or bind, only exports.
        list.add(0x8000_0022, [0, 0, 0, 0, 0, 0, 0, 0] + words(layout.exports))
        let symbols = symbols(layout)
        list.add(0x02, [UInt32(layout.symbols), UInt32(symbols.count)] + words(layout.strings))
        let exported = UInt32(symbols.count - 1)
        list.add(0x0B, [0, 1, 1, exported, 1 + exported, 0] + [UInt32](repeating: 0, count: 12))
        if parameters.kind == .executable {
            list.addText(0x0E, fixed: [], "/usr/lib/dyld")
        }
        var random = SampleRandom(seed: parameters.seed, name: "uuid")
        list.add(0x1B, bytes: random.uuid())
        let minimum = SampleMachO.version(parameters.minimumOS)
        let sdk = SampleMachO.version("17.0")
        if parameters.usesOldVersionCommand {
            let old: [UInt32: UInt32] = [1: 0x24, 3: 0x2F, 4: 0x30]
            list.add(old[parameters.platform] ?? 0x25, [minimum, sdk])
        } else {
            list.add(0x32, [parameters.platform, minimum, sdk, 0])
        }
        list.add(0x2A, [0, 0])
        if parameters.kind == .executable {
            list.add(0x8000_0028, [UInt32(layout.text), 0, 0, 0])
        }
        if let cryptID = parameters.cryptID {
            let size = UInt32(max(0, layout.linkEdit - pageBytes))
            list.add(wide ? 0x2C : 0x21, [UInt32(pageBytes), size, cryptID] + (wide ? [0] : []))
        }
        for library in ["/usr/lib/libSystem.B.dylib"] + parameters.libraries {
            list.addLibrary(0x0C, library)
        }
        for path in parameters.runPaths {
            list.addText(0x8000_001C, fixed: [], path)
        }
        list.add(0x26, words(layout.functionStarts))
        list.add(0x29, [UInt32(layout.dataInCode), 0])
        if parameters.signatureRoom != nil {
            list.add(0x1D, words(layout.signature ?? 0..<0))
        }
        return list
    }

    private func addSegments(_ layout: Layout, to list: inout LoadCommands) {
        let (readable, executable): (UInt32, UInt32) = (1, 5)
        if parameters.kind == .executable {
            list.add(segmentNumber, bytes: segment("__PAGEZERO", at: 0, size: base, file: 0..<0, protection: 0))
        }
        let text = layout.linkEdit
        let body = segment("__TEXT", at: base, size: UInt64(text), file: 0..<text, protection: executable, sections: 2)
        let code = layout.text..<layout.text + instructions.count
        let const = layout.const..<layout.const + max(0, parameters.payloadBytes)
        list.add(
            segmentNumber,
            // S_ATTR_PURE_INSTRUCTIONS | S_ATTR_SOME_INSTRUCTIONS
            bytes: body + section("__text", code, alignment: 2, flags: 0x8000_0400)
                + section("__const", const, alignment: 4, flags: 0)
        )
        list.add(
            segmentNumber,
            bytes: segment(
                "__LINKEDIT",
                at: base + UInt64(text),
                size: UInt64(rounded(layout.end - text, to: pageBytes)),
                file: text..<layout.end,
                protection: readable
            )
        )
    }

    private var segmentNumber: UInt32 { wide ? 0x19 : 0x01 }

    private func segment(
        _ name: String,
        at address: UInt64,
        size: UInt64,
        file: Range<Int>,
        protection: UInt32,
        sections: UInt32 = 0
    ) -> [UInt8] {
        var body = name16(name)
        append(address, to: &body)
        append(size, to: &body)
        append(UInt64(file.lowerBound), to: &body)
        append(UInt64(file.count), to: &body)
        for word in [protection, protection, sections, 0] {
            body.append(word, .little)
        }
        return body
    }

    private func section(_ name: String, _ range: Range<Int>, alignment: UInt32, flags: UInt32) -> [UInt8] {
        var body = name16(name) + name16("__TEXT")
        append(base + UInt64(range.lowerBound), to: &body)
        append(UInt64(range.count), to: &body)
        for word in [UInt32(range.lowerBound), alignment, 0, 0, flags, 0, 0] + (wide ? [0] : []) {
            body.append(word, .little)
        }
        return body
    }

    // MARK: Pieces

    private func append(_ value: UInt64, to bytes: inout [UInt8]) {
        if wide {
            bytes.append(value, .little)
        } else {
            bytes.append(UInt32(truncatingIfNeeded: value), .little)
        }
    }

    private func words(_ range: Range<Int>) -> [UInt32] {
        [UInt32(range.lowerBound), UInt32(range.count)]
    }

    private func name16(_ name: String) -> [UInt8] {
        Array(name.utf8) + [UInt8](repeating: 0, count: 16 - name.utf8.count)
    }

    private func fill(_ file: inout [UInt8], to offset: Int) {
        file.append(contentsOf: repeatElement(0, count: offset - file.count))
    }

    private func rounded(_ value: Int, to alignment: Int) -> Int {
        (value + alignment - 1) / alignment * alignment
    }
}

/// Load commands, one after the other.
struct LoadCommands {
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0
    private let alignment: Int

    init(alignment: Int) {
        self.alignment = alignment
    }

    mutating func add(_ number: UInt32, bytes body: [UInt8]) {
        var padded = body
        padded.pad(to: alignment)
        bytes.append(number, .little)
        bytes.append(UInt32(padded.count + 8), .little)
        bytes += padded
        count += 1
    }

    mutating func add(_ number: UInt32, _ words: [UInt32]) {
        var body: [UInt8] = []
        for word in words {
            body.append(word, .little)
        }
        add(number, bytes: body)
    }

    /// A command that ends in a text, whose offset comes before the other fixed words.
    mutating func addText(_ number: UInt32, fixed: [UInt32], _ text: String) {
        var body: [UInt8] = []
        for word in [UInt32(12 + fixed.count * 4)] + fixed {
            body.append(word, .little)
        }
        add(number, bytes: body + Array(text.utf8) + [0])
    }

    /// A dylib's name with timestamp, current and compatible version.
    mutating func addLibrary(_ number: UInt32, _ name: String) {
        addText(number, fixed: [2, 0x1_0000, 0x1_0000], name)
    }
}

/// The names that an image exports, as dyld walks them: `mach-o/loader.h`, `EXPORT_SYMBOL_FLAGS_…`.
enum ExportTrie {
    /// A root with one edge a symbol; no name may begin with another.
    static func encode(_ symbols: [(name: String, offset: Int)]) -> [UInt8] {
        guard !symbols.isEmpty else { return [] }
        let leaves = symbols.map { symbol -> [UInt8] in
            var info: [UInt8] = [0]
            append(symbol.offset, to: &info)
            return [UInt8(info.count)] + info + [0]
        }
        // Offsets of leaves are two bytes long, whatever they are, so that the root's length is known first.
        let rootBytes = 2 + symbols.reduce(0) { $0 + $1.name.utf8.count + 1 + 2 }
        var root: [UInt8] = [0, UInt8(symbols.count)]
        var offset = rootBytes
        for (symbol, leaf) in zip(symbols, leaves) {
            root += Array(symbol.name.utf8) + [0, UInt8(offset & 0x7F) | 0x80, UInt8(offset >> 7)]
            offset += leaf.count
        }
        return root + leaves.joined()
    }

    /// Appends an unsigned LEB128 number.
    static func append(_ value: Int, to bytes: inout [UInt8]) {
        var rest = value
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
