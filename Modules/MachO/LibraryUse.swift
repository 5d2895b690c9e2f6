import FerryBytes

/// Which symbols an image takes from which of its libraries.
///
/// Symbols name their library by its place among the load commands (two-level namespace), in four tables: the bind opcodes
/// of `LC_DYLD_INFO`, the imports of `LC_DYLD_CHAINED_FIXUPS`, the undefined symbols of `LC_SYMTAB`, and the re-exports of
/// the export trie. Sources: `<mach-o/loader.h>`, `<mach-o/fixup-chains.h>`, `<mach-o/nlist.h>`.
public struct LibraryUse: Sendable, Equatable {
    /// The names of the symbols by the ordinal of their library, from 1 on.
    public let symbols: [Int: Set<String>]

    /// The highest ordinal that a symbol names; zero where none names any.
    public var highestOrdinal: Int { symbols.keys.max() ?? 0 }

    /// How many symbols are taken from the library with an ordinal.
    public func count(of ordinal: Int) -> Int { symbols[ordinal]?.count ?? 0 }

}

extension MachOImage {
    /// Finds out which symbols are taken from which library.
    ///
    /// - Parameter bytes: the whole image, the same that was parsed.
    public func libraryUse(in bytes: ArraySlice<UInt8>) throws(MachOError) -> LibraryUse {
        try libraryUse(in: bytes, nameByteLimit: 64 << 20)
    }

    /// - Parameter nameByteLimit: how many bytes all names together may have: entries may share a name, but no app's do so
    ///   that often.
    func libraryUse(in bytes: ArraySlice<UInt8>, nameByteLimit: Int) throws(MachOError) -> LibraryUse {
        var tables = SymbolTables(nameByteLimit: nameByteLimit)
        do {
            let reader = ByteReader(bytes)
            for command in loadCommands {
                let body = ByteReader(try reader.bytes(at: command.offset, count: command.size))
                try tables.take(command.number, body, of: self, from: reader)
            }
        } catch let error as MachOError {
            throw error
        } catch {
            throw .malformed("what binds symbols to libraries is cut short: \(error).")
        }
        return LibraryUse(symbols: tables.symbols)
    }
}

/// The tables of one image while they are read.
private struct SymbolTables {
    let nameByteLimit: Int
    var symbols: [Int: Set<String>] = [:]
    var nameBytes = 0

    private mutating func note(_ name: ArraySlice<UInt8>, from ordinal: Int) throws {
        nameBytes += name.count + 1
        guard nameBytes <= nameByteLimit else {
            throw MachOError.tooLarge("the names of its symbols have more than \(nameByteLimit) bytes.")
        }
        // Zero is the image itself; what is negative is looked up everywhere, or in the main executable.
        guard ordinal > 0 else { return }
        symbols[ordinal, default: []].insert(String(decoding: name, as: UTF8.self))
    }

    mutating func take(
        _ number: UInt32,
        _ body: ByteReader,
        of image: MachOImage,
        from reader: ByteReader
    ) throws {
        func word(_ place: Int) throws -> Int { Int(try body.integer(at: place, as: UInt32.self, .little)) }
        func region(_ place: Int) throws -> ByteReader {
            let (offset, size) = (try word(place), try word(place + 4))
            return ByteReader(size == 0 ? [] : try reader.bytes(at: offset, count: size))
        }
        switch number {
        case 0x22, 0x8000_0022:
            // Weak binds, between these two, name no library.
            try takeBinds(try region(16))
            try takeBinds(try region(32))
            try takeExports(try region(40))
        case 0x8000_0033: try takeExports(try region(8))
        case 0x8000_0034: try takeChainedImports(try region(8))
        case 0x02:
            let stride = image.is64Bit ? 16 : 12
            let strings = ByteReader(try reader.bytes(at: try word(16), count: try word(20)))
            try takeSymbols(try reader.bytes(at: try word(8), count: try word(12) * stride), stride, strings)
        default: break
        }
    }

    /// `BIND_OPCODE_…`: the opcode in the upper four bits, a small operand in the lower. Symbol and library are set in any
    /// order, and hold until they are set again.
    private mutating func takeBinds(_ opcodes: ByteReader) throws {
        var reader = opcodes
        var ordinal = 0
        var symbol: ArraySlice<UInt8>?
        var isNoted = false
        func count() throws { _ = try reader.uleb() }
        while reader.remaining > 0 {
            let byte = try reader.next(UInt8.self, .little)
            var isBind = false
            if (0x10...0x4F).contains(byte) { isNoted = false }
            switch byte & 0xF0 {
            case 0x10: ordinal = Int(byte & 0x0F)
            case 0x20: ordinal = try reader.uleb()
            case 0x30: ordinal = -1
            case 0x40: symbol = try reader.string()
            // An addend (whose sign does not matter here), a segment's offset, an address.
            case 0x60, 0x70, 0x80: try count()
            // A bind, alone or with an address behind it.
            case 0x90, 0xB0: isBind = true
            case 0xA0:
                try count()
                isBind = true
            // Many binds: their number, and what is skipped between.
            case 0xC0:
                try count()
                try count()
                isBind = true
            case 0xD0 where byte & 0x0F == 0: try count()
            // Done (which ends each lazy bind), a type, and the threaded form's apply.
            case 0x00, 0x50, 0xD0: break
            default: throw MachOError.malformed("the bind opcode 0x\(String(byte, radix: 16)) is unknown.")
            }
            if isBind, !isNoted, let symbol {
                try note(symbol, from: ordinal)
                isNoted = true
            }
        }
    }

    /// `dyld_chained_fixups_header` and its imports, in one of three forms.
    private mutating func takeChainedImports(_ data: ByteReader) throws {
        guard data.count > 0 else { return }
        func word(_ place: Int) throws -> Int { Int(try data.integer(at: place, as: UInt32.self, .little)) }
        let (start, names, count, form, packing) = (try word(8), try word(12), try word(16), try word(20), try word(24))
        guard let stride = [1: 4, 2: 8, 3: 16][form], packing == 0 else {
            throw MachOError(.unsupported, "the chained fixups have imports of the unknown form \(form)/\(packing).")
        }
        // Bounds first: a count from outside must not be looped over where there is nothing.
        _ = try data.bytes(at: start, count: count * stride)
        for index in 0..<count {
            let place = start + index * stride
            let (ordinal, name): (Int, Int)
            if form == 3 {
                let bits = try data.integer(at: place, as: UInt64.self, .little)
                (ordinal, name) = (Int(bits & 0xFFFF), Int(bits >> 32))
                if ordinal > 0xFFF0 { continue }
            } else {
                let bits = try data.integer(at: place, as: UInt32.self, .little)
                (ordinal, name) = (Int(bits & 0xFF), Int(bits >> 9))
                if ordinal > 0xF0 { continue }
            }
            try note(try data.string(at: names + name), from: ordinal)
        }
    }

    /// `nlist`: string index, type, section, description, value. An undefined symbol's library is in the description.
    private mutating func takeSymbols(_ table: ArraySlice<UInt8>, _ stride: Int, _ strings: ByteReader) throws {
        let table = ByteReader(table)
        for place in Swift.stride(from: 0, to: table.count, by: stride) {
            let type = try table.integer(at: place + 4, as: UInt8.self, .little)
            // No debugging entry, and N_UNDF or N_PBUD.
            guard type & 0xE0 == 0, type & 0x0E == 0 || type & 0x0E == 0x0C else { continue }
            let ordinal = try table.integer(at: place + 6, as: UInt16.self, .little) >> 8
            // MAX_LIBRARY_ORDINAL; then dynamic lookup and the executable.
            guard ordinal <= 0xFD else { continue }
            let name = Int(try table.integer(at: place, as: UInt32.self, .little))
            try note(try strings.string(at: name), from: Int(ordinal))
        }
    }

    /// The export trie: each node has the size of what it says, flags and more, then its children with their letters.
    private mutating func takeExports(_ trie: ByteReader) throws {
        guard trie.count > 0 else { return }
        var waiting = [0]
        var seen: Set<Int> = [0]
        // Each byte is passed once in a trie that a linker made.
        var budget = 4 * trie.count
        while let node = waiting.popLast() {
            var reader = trie
            try reader.move(to: node)
            let size = try reader.uleb()
            let (children, overflow) = reader.offset.addingReportingOverflow(size)
            guard !overflow else { throw MachOError.malformed("the export trie's node at \(node) is too large.") }
            if size > 0, try reader.uleb() & 8 != 0 {
                let ordinal = try reader.uleb()
                try note(try reader.string(), from: ordinal)
            }
            budget -= reader.offset - node
            try reader.move(to: children)
            for _ in 0..<(try reader.next(UInt8.self, .little)) {
                _ = try reader.string()
                let child = try reader.uleb()
                if seen.insert(child).inserted { waiting.append(child) }
            }
            budget -= reader.offset - children
            guard budget >= 0 else { throw MachOError.malformed("the nodes of the export trie lie over one another.") }
        }
    }
}

extension ByteReader {
    /// The next number of seven bits a byte, the lowest first, up to what an `Int` holds.
    fileprivate mutating func uleb() throws -> Int {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            let byte = try next(UInt8.self, .little)
            let bits = UInt64(byte & 0x7F)
            // What does not fit is of addresses and negative addends, which nothing here depends on.
            if shift < 64 { value |= bits << shift }
            if byte & 0x80 == 0 { return Int(clamping: value) }
        }
        throw MachOError.malformed("a number at \(offset) among the fixups is longer than 64 bits.")
    }

    /// The bytes up to the next zero, which is passed too.
    fileprivate mutating func string() throws -> ArraySlice<UInt8> {
        let text = try string(at: offset)
        try move(to: offset + text.count + 1)
        return text
    }

    /// The bytes from `place` up to the next zero.
    fileprivate func string(at place: Int) throws -> ArraySlice<UInt8> {
        let rest = try bytes(at: place, count: max(0, count - place))
        guard let end = rest.firstIndex(of: 0) else {
            throw OutOfBounds(offset: place, needed: rest.count + 1, available: rest.count)
        }
        return rest[..<end]
    }
}
