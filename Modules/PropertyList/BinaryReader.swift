import FerryBytes

/// Reads `bplist00`, whose objects name each other by number and may do so falsely.
///
/// ```
/// "bplist00"  objects…  offset table  trailer (32 bytes):
///   5 unused, sort version, offset size, reference size, object count u64, root u64, table offset u64   (big-endian)
/// ```
/// Each object is read once and shared; what it would come to written out in full is counted, so that a small file cannot
/// stand for a huge tree. Source: CoreFoundation, `CFBinaryPList.c`.
struct BinaryReader {
    static let magic = Array("bplist00".utf8)
    private static let trailerSize = 32

    private enum Slot {
        case unread
        case open
        case read(PropertyList, Weight)
    }

    /// What a value comes to when nothing in it is shared.
    private struct Weight {
        var values = 1
        var bytes = 0
        var depth = 0
    }

    private let reader: ByteReader
    private let limits: PropertyList.Limits
    private let offsetSize: Int
    private let referenceSize: Int
    private let tableOffset: Int
    private let rootIndex: Int
    private var slots: [Slot]

    init(_ bytes: [UInt8], limits: PropertyList.Limits) throws(PropertyListError) {
        reader = ByteReader(bytes)
        self.limits = limits
        let trailer = bytes.count - Self.trailerSize
        guard trailer > Self.magic.count else {
            throw PropertyListError.malformed("it is cut short before its trailer", at: bytes.count)
        }
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
            throw PropertyListError.malformed("its trailer names no size of offsets from 1 to 8 bytes", at: trailer + 6)
        }
        let numbers = [8, 16, 24].map { field in
            bytes[(trailer + field)..<(trailer + field + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        guard let count = Int(exactly: numbers[0]), let root = Int(exactly: numbers[1]), root < count else {
            throw PropertyListError.malformed("its trailer names no root object", at: trailer + 16)
        }
        guard count <= limits.maximumValueCount else {
            throw PropertyListError.tooMuch("it has \(count) objects, more than \(limits.maximumValueCount)")
        }
        let (tableSize, overflow) = count.multipliedReportingOverflow(by: offsetSize)
        guard let table = Int(exactly: numbers[2]), table > Self.magic.count, table <= trailer, !overflow,
            tableSize <= trailer - table
        else {
            throw PropertyListError.malformed("its offset table lies outside it", at: trailer + 24)
        }
        tableOffset = table
        rootIndex = root
        slots = Array(repeating: .unread, count: count)
    }

    /// The one value that the file holds.
    mutating func root() throws(PropertyListError) -> PropertyList {
        try object(rootIndex, namedAt: tableOffset, depth: 0).value
    }

    private mutating func object(
        _ index: Int,
        namedAt place: Int,
        depth: Int
    ) throws(PropertyListError) -> (value: PropertyList, weight: Weight) {
        guard slots.indices.contains(index) else {
            throw PropertyListError.malformed("it names object \(index) of \(slots.count)", at: place)
        }
        switch slots[index] {
        case .read(let value, let weight): return (value, weight)
        case .open: throw PropertyListError.malformed("object \(index) contains itself", at: place)
        case .unread: break
        }
        let entry = tableOffset + index * offsetSize
        let offset = try number(at: entry, size: offsetSize)
        guard offset >= Self.magic.count, offset < tableOffset else {
            throw PropertyListError.malformed("object \(index) lies outside the objects", at: entry)
        }
        slots[index] = .open
        let (value, weight) = try object(at: offset, depth: depth)
        guard weight.depth <= limits.maximumDepth else { throw tooDeep }
        slots[index] = .read(value, weight)
        return (value, weight)
    }

    private mutating func object(
        at offset: Int,
        depth: Int
    ) throws(PropertyListError) -> (value: PropertyList, weight: Weight) {
        let marker: UInt8 = try integer(at: offset)
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0 where marker == 0x08 || marker == 0x09: return (.boolean(marker == 0x09), Weight())
        case 0x1: return (try integer(at: offset + 1, power: low), Weight())
        case 0x2 where low == 2:
            return (.real(Double(Float(bitPattern: try integer(at: offset + 1)))), Weight())
        case 0x2 where low == 3: return (.real(Double(bitPattern: try integer(at: offset + 1))), Weight())
        case 0x3 where low == 3:
            let seconds = Double(bitPattern: try integer(at: offset + 1))
            guard seconds.isFinite else { throw PropertyListError.malformed("a date is no number", at: offset) }
            return (.date(PropertyListDate(secondsSince2001: seconds)), Weight())
        case 0x4:
            let (start, count) = try extent(of: offset, low)
            return (.data(Array(try bytes(at: start, count: count, of: offset))), Weight(bytes: count))
        case 0x5, 0x6, 0x7:
            let text = try text(at: offset, kind: marker >> 4, low)
            return (.string(text), Weight(bytes: text.utf8.count))
        case 0x8 where low < 8: return (.uid(UInt64(try number(at: offset + 1, size: low + 1))), Weight())
        case 0xA: return try array(at: offset, low, depth: depth + 1)
        case 0xD: return try dictionary(at: offset, low, depth: depth + 1)
        case 0x0, 0xB, 0xC:
            throw PropertyListError.malformed(
                "it holds \(Self.foreign[marker] ?? "a set"), which no file of an app may",
                at: offset
            )
        default:
            throw PropertyListError.malformed("0x\([marker].hex) begins no object", at: offset)
        }
    }

    /// Kinds that the format has room for, but that Apple's readers do not make either.
    private static let foreign: [UInt8: String] = [
        0x00: "a null", 0x0C: "a URL", 0x0D: "a URL", 0x0E: "a UUID", 0x0F: "a fill byte",
    ]

    // MARK: Containers

    private mutating func array(
        at offset: Int,
        _ low: Int,
        depth: Int
    ) throws(PropertyListError) -> (value: PropertyList, weight: Weight) {
        guard depth <= limits.maximumDepth else { throw tooDeep }
        let (start, count) = try extent(of: offset, low)
        try check(references: count, at: start, of: offset)
        var elements: [PropertyList] = []
        elements.reserveCapacity(count)
        var weight = Weight()
        for index in 0..<count {
            let place = start + index * referenceSize
            let (element, own) = try object(try number(at: place, size: referenceSize), namedAt: place, depth: depth)
            try add(own, to: &weight)
            elements.append(element)
        }
        weight.depth += 1
        return (.array(elements), weight)
    }

    private mutating func dictionary(
        at offset: Int,
        _ low: Int,
        depth: Int
    ) throws(PropertyListError) -> (value: PropertyList, weight: Weight) {
        guard depth <= limits.maximumDepth else { throw tooDeep }
        let (start, count) = try extent(of: offset, low)
        let (references, overflow) = count.multipliedReportingOverflow(by: 2)
        guard !overflow else { throw PropertyListError.malformed("a dictionary does not end within it", at: offset) }
        try check(references: references, at: start, of: offset)
        var dictionary = PropertyList.Dictionary()
        var weight = Weight()
        for index in 0..<count {
            let place = start + index * referenceSize
            let (key, keyWeight) = try object(try number(at: place, size: referenceSize), namedAt: place, depth: depth)
            guard case .string(let name) = key else {
                throw PropertyListError.malformed("\(key.kindName) stands where a key is due", at: place)
            }
            let valuePlace = place + count * referenceSize
            let (value, own) = try object(
                try number(at: valuePlace, size: referenceSize),
                namedAt: valuePlace,
                depth: depth
            )
            try add(keyWeight, to: &weight)
            try add(own, to: &weight)
            guard dictionary.insert(value, forNew: name) else {
                throw PropertyListError.malformed(
                    "the key “\(name.prefix(80))” comes twice in one dictionary",
                    at: place
                )
            }
        }
        weight.depth += 1
        return (.dictionary(dictionary), weight)
    }

    private func add(_ own: Weight, to sum: inout Weight) throws(PropertyListError) {
        guard own.values <= limits.maximumValueCount - sum.values else {
            throw PropertyListError.tooMuch("written out it has more than \(limits.maximumValueCount) values")
        }
        guard own.bytes <= limits.maximumByteCount - sum.bytes else {
            throw PropertyListError.tooMuch("written out it has more than \(limits.maximumByteCount) bytes")
        }
        sum.values += own.values
        sum.bytes += own.bytes
        sum.depth = max(sum.depth, own.depth)
    }

    private var tooDeep: PropertyListError {
        PropertyListError.tooMuch("it is nested more than \(limits.maximumDepth) deep")
    }

    // MARK: Bytes

    /// Where an object's content begins and how many elements it has; a count of 15 or more is an integer of its own.
    private func extent(of offset: Int, _ low: Int) throws(PropertyListError) -> (start: Int, count: Int) {
        guard low == 0x0F else { return (offset + 1, low) }
        let marker: UInt8 = try integer(at: offset + 1)
        guard marker >> 4 == 0x1, marker & 0x0F <= 3 else {
            throw PropertyListError.malformed("a count is no integer", at: offset + 1)
        }
        let size = 1 << Int(marker & 0x0F)
        return (offset + 2 + size, try number(at: offset + 2, size: size))
    }

    private func check(references count: Int, at start: Int, of offset: Int) throws(PropertyListError) {
        let (size, overflow) = count.multipliedReportingOverflow(by: referenceSize)
        guard !overflow else { throw PropertyListError.malformed("a container does not end within it", at: offset) }
        _ = try bytes(at: start, count: size, of: offset)
    }

    private func text(at offset: Int, kind: UInt8, _ low: Int) throws(PropertyListError) -> String {
        let (start, count) = try extent(of: offset, low)
        guard kind == 0x6 else {
            let raw = try bytes(at: start, count: count, of: offset)
            guard kind == 0x7 || raw.allSatisfy({ $0 < 0x80 }), let text = String(validating: raw, as: UTF8.self) else {
                throw PropertyListError.malformed("a text is no \(kind == 0x7 ? "UTF-8" : "ASCII")", at: offset)
            }
            return text
        }
        let (size, overflow) = count.multipliedReportingOverflow(by: 2)
        guard !overflow else { throw PropertyListError.malformed("a text does not end within it", at: offset) }
        let raw = try bytes(at: start, count: size, of: offset)
        let units = stride(from: raw.startIndex, to: raw.endIndex, by: 2).map {
            UInt16(raw[$0]) << 8 | UInt16(raw[$0 + 1])
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw PropertyListError.malformed("a text is no UTF-16", at: offset)
        }
        return text
    }

    private func integer(at offset: Int, power: Int) throws(PropertyListError) -> PropertyList {
        switch power {
        case 0: return .integer(Int64(try integer(at: offset) as UInt8))
        case 1: return .integer(Int64(try integer(at: offset) as UInt16))
        case 2: return .integer(Int64(try integer(at: offset) as UInt32))
        case 3: return .integer(try integer(at: offset))
        case 4:
            let high: Int64 = try integer(at: offset)
            let low: UInt64 = try integer(at: offset + 8)
            let signed = Int64(bitPattern: low)
            if high == 0 { return signed < 0 ? .unsigned(low) : .integer(signed) }
            if high == -1, signed < 0 { return .integer(signed) }
            throw PropertyListError.malformed("an integer does not fit in 64 bits", at: offset)
        default: throw PropertyListError.malformed("an integer has more than 16 bytes", at: offset)
        }
    }

    private func integer<Value: FixedWidthInteger>(at offset: Int) throws(PropertyListError) -> Value {
        guard offset <= tableOffset - MemoryLayout<Value>.size,
            let value = try? reader.integer(at: offset, as: Value.self, .big)
        else { throw PropertyListError.malformed("an object does not end before the offset table", at: offset) }
        return value
    }

    /// A number of 1 to 8 bytes that is an offset, a count or a reference, so that it must fit in an `Int`.
    private func number(at offset: Int, size: Int) throws(PropertyListError) -> Int {
        guard let raw = try? reader.bytes(at: offset, count: size),
            let number = Int(exactly: raw.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        else { throw PropertyListError.malformed("a number is cut off or too large", at: offset) }
        return number
    }

    private func bytes(at start: Int, count: Int, of offset: Int) throws(PropertyListError) -> ArraySlice<UInt8> {
        guard start <= tableOffset, count <= tableOffset - start,
            let raw = try? reader.bytes(at: start, count: count)
        else { throw PropertyListError.malformed("an object does not end before the offset table", at: offset) }
        return raw
    }
}
