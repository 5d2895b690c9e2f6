/// The order in which the bytes of an integer lie.
public enum ByteOrder: Sendable, Hashable {
    case little
    case big
}

/// A place outside the bytes that somebody handed in.
public struct OutOfBounds: Error, Equatable, CustomStringConvertible {
    /// Where reading began, from the start of the input.
    public let offset: Int
    /// How many bytes were wanted there.
    public let needed: Int
    /// How many there are from `offset` on; zero past the end.
    public let available: Int

    /// Says where, how many, and how many there are.
    public init(offset: Int, needed: Int, available: Int) {
        self.offset = offset
        self.needed = needed
        self.available = available
    }

    /// The place and the numbers, as the middle of a sentence.
    public var description: String {
        let place = offset < 0 ? "\(offset)" : "0x" + String(offset, radix: 16)
        return "\(needed) bytes are needed at offset \(place), but only \(available) are there"
    }
}

/// Reads integers and ranges out of bytes that came from outside, never past their end.
///
/// Offsets count from the start of the bytes given, whatever the indices of the array or slice were.
/// A value: copies share the bytes and advance on their own.
public struct ByteReader: Sendable {
    private let storage: ArraySlice<UInt8>

    /// Where the next sequential read begins.
    public private(set) var offset = 0

    /// Reads `bytes` from their start.
    public init(_ bytes: ArraySlice<UInt8>) {
        storage = bytes
    }

    /// Reads `bytes` from their start.
    public init(_ bytes: [UInt8]) {
        storage = bytes[...]
    }

    /// How many bytes there are in all.
    public var count: Int { storage.count }

    /// How many bytes are left after ``offset``.
    public var remaining: Int { storage.count - offset }

    /// The `count` bytes from `offset` on.
    public func bytes(at offset: Int, count: Int) throws(OutOfBounds) -> ArraySlice<UInt8> {
        guard offset >= 0, count >= 0, offset <= storage.count, count <= storage.count - offset else {
            throw OutOfBounds(
                offset: offset,
                needed: count,
                available: offset >= 0 && offset <= storage.count ? storage.count - offset : 0
            )
        }
        let start = storage.startIndex + offset
        return storage[start..<start + count]
    }

    /// The integer whose first byte lies at `offset`.
    public func integer<Value: FixedWidthInteger>(
        at offset: Int,
        as type: Value.Type = Value.self,
        _ order: ByteOrder
    ) throws(OutOfBounds) -> Value {
        let slice = try bytes(at: offset, count: MemoryLayout<Value>.size)
        let raw = slice.withUnsafeBytes { $0.loadUnaligned(as: Value.self) }
        return order == .little ? Value(littleEndian: raw) : Value(bigEndian: raw)
    }

    /// The next integer; moves past it.
    public mutating func next<Value: FixedWidthInteger>(
        _ type: Value.Type = Value.self,
        _ order: ByteOrder
    ) throws(OutOfBounds) -> Value {
        let value = try integer(at: offset, as: type, order)
        offset += MemoryLayout<Value>.size
        return value
    }

    /// The next `count` bytes; moves past them.
    public mutating func next(_ count: Int) throws(OutOfBounds) -> ArraySlice<UInt8> {
        let slice = try bytes(at: offset, count: count)
        offset += count
        return slice
    }

    /// Moves to `newOffset`, which may be the end but not past it.
    public mutating func move(to newOffset: Int) throws(OutOfBounds) {
        _ = try bytes(at: newOffset, count: 0)
        offset = newOffset
    }

    /// The text from `offset` up to the first zero byte, as UTF-8 with repairs; it must end within the bytes.
    public func text(at offset: Int) throws(OutOfBounds) -> String {
        let rest = try bytes(at: offset, count: max(0, storage.count - max(0, offset)))
        guard let end = rest.firstIndex(of: 0) else {
            throw OutOfBounds(offset: offset, needed: rest.count + 1, available: rest.count)
        }
        return String(decoding: rest[..<end], as: UTF8.self)
    }
}
