import FerryBytes

/// Writes `bplist00`: a container before what it holds, each scalar once, integers as small as they go.
struct BinaryWriter {
    private enum Object {
        case scalar([UInt8])
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    private var objects: [Object] = []
    private var known: [Scalar: Int] = [:]

    /// A scalar's bytes, hashed in one go.
    private struct Scalar: Hashable {
        let bytes: [UInt8]

        func hash(into hasher: inout Hasher) {
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    mutating func document(_ root: PropertyList) -> [UInt8] {
        _ = add(root)
        let referenceSize = Self.size(of: UInt64(objects.count))
        var file = BinaryReader.magic
        var offsets: [Int] = []
        offsets.reserveCapacity(objects.count)
        for object in objects {
            offsets.append(file.count)
            switch object {
            case .scalar(let bytes): file.append(contentsOf: bytes)
            case .array(let elements):
                Self.mark(0xA0, elements.count, in: &file)
                for element in elements { Self.store(element, referenceSize, in: &file) }
            case .dictionary(let keys, let values):
                Self.mark(0xD0, keys.count, in: &file)
                for element in keys + values { Self.store(element, referenceSize, in: &file) }
            }
        }
        let table = file.count
        let offsetSize = Self.size(of: UInt64(table))
        for offset in offsets { Self.store(offset, offsetSize, in: &file) }
        file.append(contentsOf: [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)])
        file.append(UInt64(objects.count), .big)
        file.append(UInt64(0), .big)
        file.append(UInt64(table), .big)
        return file
    }

    private mutating func add(_ value: PropertyList) -> Int {
        switch value {
        case .array(let elements):
            let place = reserve()
            objects[place] = .array(elements.map { add($0) })
            return place
        case .dictionary(let dictionary):
            let place = reserve()
            let keys = dictionary.keys.map { add(.string($0)) }
            objects[place] = .dictionary(keys: keys, values: dictionary.values.map { add($0) })
            return place
        default:
            let bytes = Self.scalar(value)
            if let place = known[Scalar(bytes: bytes)] { return place }
            let place = reserve()
            known[Scalar(bytes: bytes)] = place
            objects[place] = .scalar(bytes)
            return place
        }
    }

    private mutating func reserve() -> Int {
        objects.append(.array([]))
        return objects.count - 1
    }

    private static func scalar(_ value: PropertyList) -> [UInt8] {
        var bytes: [UInt8] = []
        switch value {
        case .boolean(let isTrue): bytes.append(isTrue ? 0x09 : 0x08)
        case .integer(let number): integer(number, in: &bytes)
        case .unsigned(let number):
            bytes.append(0x14)
            bytes.append(UInt64(0), .big)
            bytes.append(number, .big)
        case .real(let number):
            bytes.append(0x23)
            bytes.append(number.bitPattern, .big)
        case .date(let date):
            bytes.append(0x33)
            bytes.append(date.secondsSince2001.bitPattern, .big)
        case .data(let data):
            mark(0x40, data.count, in: &bytes)
            bytes.append(contentsOf: data)
        case .string(let text):
            if text.utf8.allSatisfy({ $0 < 0x80 }) {
                mark(0x50, text.utf8.count, in: &bytes)
                bytes.append(contentsOf: text.utf8)
            } else {
                mark(0x60, text.utf16.count, in: &bytes)
                for unit in text.utf16 { bytes.append(unit, .big) }
            }
        case .uid(let number):
            let size = Self.size(of: number)
            bytes.append(0x80 | UInt8(size - 1))
            for index in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(index * 8))) }
        case .array, .dictionary:
            preconditionFailure("a container is no scalar")
        }
        return bytes
    }

    /// One, two or four bytes are without a sign in this form; eight have one.
    private static func integer(_ number: Int64, in bytes: inout [UInt8]) {
        if let small = UInt8(exactly: number) {
            bytes.append(0x10)
            bytes.append(small)
        } else if let medium = UInt16(exactly: number) {
            bytes.append(0x11)
            bytes.append(medium, .big)
        } else if let large = UInt32(exactly: number) {
            bytes.append(0x12)
            bytes.append(large, .big)
        } else {
            bytes.append(0x13)
            bytes.append(number, .big)
        }
    }

    private static func mark(_ kind: UInt8, _ count: Int, in bytes: inout [UInt8]) {
        let inline = 15
        guard count >= inline else { return bytes.append(kind | UInt8(count)) }
        bytes.append(kind | 0x0F)
        integer(Int64(count), in: &bytes)
    }

    private static func store(_ number: Int, _ size: Int, in bytes: inout [UInt8]) {
        for index in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (index * 8))) }
    }

    /// How many bytes numbers up to `number` take: 1, 2, 4 or 8.
    private static func size(of number: UInt64) -> Int {
        switch number {
        case ..<0x100: 1
        case ..<0x1_0000: 2
        case ..<0x1_0000_0000: 4
        default: 8
        }
    }
}
