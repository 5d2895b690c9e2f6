/// A property list: what Apple's Info.plist, profiles, seals and entitlements are made of.
///
/// It keeps what Foundation's types blur: the order of keys, and whether a number was an integer, a real or a boolean.
/// Equal values encode to equal bytes, in every process.
public enum PropertyList: Sendable, Hashable {
    case string(String)
    case integer(Int64)
    /// An integer above `Int64.max`; smaller ones are always ``integer(_:)``.
    case unsigned(UInt64)
    case real(Double)
    case boolean(Bool)
    case date(PropertyListDate)
    case data([UInt8])
    case array([PropertyList])
    case dictionary(Dictionary)
    /// A keyed archiver's reference; in XML it is written as a dictionary with the one key `CF$UID`.
    case uid(UInt64)

    /// The two encodings that are read and written.
    public enum Format: Sendable, Hashable {
        /// Apple's XML, with DOCTYPE and tabs.
        case xml
        /// `bplist00`.
        case binary
    }

    /// How much a property list from outside may ask for.
    public struct Limits: Sendable, Hashable {
        /// The longest input in bytes, and the most bytes that all its text and data may come to with shared ones counted each time.
        public var maximumByteCount: Int
        /// The most dictionaries and arrays inside one another.
        public var maximumDepth: Int
        /// The most values and keys, with shared ones counted each time.
        public var maximumValueCount: Int

        /// Sets the three limits.
        public init(maximumByteCount: Int, maximumDepth: Int, maximumValueCount: Int) {
            self.maximumByteCount = maximumByteCount
            self.maximumDepth = maximumDepth
            self.maximumValueCount = maximumValueCount
        }

        /// Enough for the resource seal of an app of 400,000 files, and no deeper than a small thread's stack bears.
        public static let standard = Limits(
            maximumByteCount: 256 << 20,
            maximumDepth: 128,
            maximumValueCount: 4_000_000
        )
    }

    /// Reads XML or binary; says which it was.
    public static func parse(
        _ bytes: [UInt8],
        limits: Limits = .standard
    ) throws(PropertyListError) -> (value: PropertyList, format: Format) {
        guard bytes.count <= limits.maximumByteCount else {
            throw PropertyListError.tooMuch("it has \(bytes.count) bytes, more than \(limits.maximumByteCount)")
        }
        if bytes.starts(with: BinaryReader.magic) {
            var reader = try BinaryReader(bytes, limits: limits)
            return (try reader.root(), .binary)
        }
        var reader = try XMLReader(bytes, limits: limits)
        return (try reader.document(), .xml)
    }

    /// Reads XML or binary; says which it was.
    public static func parse(
        _ bytes: ArraySlice<UInt8>,
        limits: Limits = .standard
    ) throws(PropertyListError) -> (value: PropertyList, format: Format) {
        try parse(Array(bytes), limits: limits)
    }

    /// The bytes of a file that holds this value.
    public func encoded(as format: Format) -> [UInt8] {
        switch format {
        case .xml:
            var writer = XMLWriter()
            return writer.document(self)
        case .binary:
            var writer = BinaryWriter()
            return writer.document(self)
        }
    }
}
