/// The little-endian integers of a record whose length was checked before.
struct Fields {
    let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    func u16(_ offset: Int) -> Int {
        let start = bytes.startIndex + offset
        return Int(bytes[start]) | Int(bytes[start + 1]) << 8
    }

    func u32(_ offset: Int) -> Int {
        u16(offset) | u16(offset + 2) << 16
    }

    func u64(_ offset: Int) -> UInt64 {
        UInt64(u32(offset)) | UInt64(u32(offset + 4)) << 32
    }

    /// The `count` bytes from `offset` on.
    func slice(_ offset: Int, _ count: Int) -> ArraySlice<UInt8> {
        bytes[(bytes.startIndex + offset)..<(bytes.startIndex + offset + count)]
    }
}

/// The marks and lengths of the format. Source: PKWARE APPNOTE.TXT 6.3.10, §4.3.
enum Format {
    static let localSignature = 0x0403_4B50
    static let localBytes = 30
    static let centralSignature = 0x0201_4B50
    static let centralBytes = 46
    static let descriptorSignature = 0x0807_4B50
    static let endSignature = 0x0605_4B50
    static let endBytes = 22
    static let endZip64Signature = 0x0606_4B50
    static let endZip64Bytes = 56
    static let locatorSignature = 0x0706_4B50
    static let locatorBytes = 20
    /// Stands in a 32-bit field for "see the zip64 field".
    static let sentinel32 = 0xFFFF_FFFF
    /// Stands in a 16-bit field for "see the zip64 field".
    static let sentinel16 = 0xFFFF

    /// The bits of the general purpose flags.
    enum Flag {
        static let encrypted = 1 << 0
        static let dataDescriptor = 1 << 3
        static let patched = 1 << 5
        static let strongEncryption = 1 << 6
        static let utf8 = 1 << 11
        static let maskedHeader = 1 << 13
        /// How hard the deflater tried; tells a reader nothing.
        static let deflateEffort = 3 << 1
    }

    /// The identifiers of extra fields.
    enum Extra {
        static let zip64 = 0x0001
        static let unicodePath = 0x7075
    }

    /// The systems in the upper byte of "version made by".
    enum Host {
        static let fat = 0
        static let unix = 3
        static let ntfs = 10
        static let windows = 11
        static let vfat = 14
        static let darwin = 19
    }

    /// The kinds of files in the upper bits of a Unix mode.
    enum Kind {
        static let mask: UInt16 = 0o170000
        static let folder: UInt16 = 0o040000
        static let file: UInt16 = 0o100000
        static let link: UInt16 = 0o120000
    }
}

/// The blocks of an extra field: an identifier, a length, and that many bytes, one block after the other.
///
/// What does not parse at the end is left alone, as padding tools leave odd bytes there.
struct ExtraBlocks: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// The next block: its identifier, its content, and the whole of it.
    mutating func next() -> (identifier: Int, content: ArraySlice<UInt8>, whole: ArraySlice<UInt8>)? {
        guard rest.count >= 4 else { return nil }
        let fields = Fields(rest)
        let count = fields.u16(2)
        guard rest.count - 4 >= count else { return nil }
        let block = (fields.u16(0), fields.slice(4, count), fields.slice(0, 4 + count))
        rest = rest.dropFirst(4 + count)
        return block
    }
}
