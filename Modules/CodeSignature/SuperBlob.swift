import FerryBytes

/// The container of a code signature: blobs, each under the number of its slot.
///
/// `CS_SuperBlob { magic 0xfade0cc0, length, count, CS_BlobIndex { type, offset }[count] }`, then the blobs, each with
/// `{ magic, length }` in front; all big-endian, offsets from the start. Source: XNU `osfmk/kern/cs_blobs.h`.
public struct SuperBlob: Sendable, Hashable {
    /// The number of a slot.
    public struct Slot: RawRepresentable, Sendable, Hashable, Comparable {
        /// The number as it is written.
        public let rawValue: UInt32

        /// A slot by its number.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// By number.
        public static func < (one: Slot, other: Slot) -> Bool { one.rawValue < other.rawValue }

        /// `CSSLOT_CODEDIRECTORY`.
        public static let codeDirectory = Slot(rawValue: 0)
        /// `CSSLOT_REQUIREMENTS`.
        public static let requirements = Slot(rawValue: 2)
        /// `CSSLOT_ENTITLEMENTS`, an XML property list.
        public static let entitlements = Slot(rawValue: 5)
        /// `CSSLOT_DER_ENTITLEMENTS`.
        public static let entitlementsDER = Slot(rawValue: 7)
        /// `CSSLOT_ALTERNATE_CODEDIRECTORIES`, the first of at most five.
        public static let alternateCodeDirectory = Slot(rawValue: 0x1000)
        /// `CSSLOT_SIGNATURESLOT`, the CMS.
        public static let signature = Slot(rawValue: 0x10000)

        /// Whether it is a code directory, the primary or an alternate.
        public var isCodeDirectory: Bool { self == .codeDirectory || (0x1000..<0x1005).contains(rawValue) }
    }

    /// Magic numbers of blobs.
    public enum Magic {
        static let superBlob: UInt32 = 0xFADE_0CC0
        static let codeDirectory: UInt32 = 0xFADE_0C02
        static let requirement: UInt32 = 0xFADE_0C00
        static let requirements: UInt32 = 0xFADE_0C01
        static let entitlements: UInt32 = 0xFADE_7171
        static let entitlementsDER: UInt32 = 0xFADE_7172
        static let wrapper: UInt32 = 0xFADE_0B01
    }

    /// The most blobs that a signature is believed to hold.
    public static let blobLimit = 64

    /// A blob, its magic number and length in front.
    public struct Blob: Sendable, Hashable {
        /// The slot it is for.
        public let slot: Slot
        /// All its bytes.
        public let bytes: [UInt8]

        /// What follows magic number and length.
        public var payload: ArraySlice<UInt8> { bytes.dropFirst(8) }
    }

    /// The blobs by ascending slot, as they are written.
    public let blobs: [Blob]

    /// Makes a container of `blobs`.
    public init(_ blobs: [Blob]) {
        self.blobs = blobs.sorted { $0.slot < $1.slot }
    }

    /// The whole blob of a slot.
    public subscript(slot: Slot) -> [UInt8]? {
        blobs.first { $0.slot == slot }?.bytes
    }

    /// Parses the signature at the start of `room`; what follows its length is slack.
    public init(parsing room: ArraySlice<UInt8>) throws(CodeSignatureError) {
        do {
            blobs = try Self.parse(ByteReader(room))
        } catch let error as CodeSignatureError {
            throw error
        } catch {
            throw CodeSignatureError(.malformed, "the signature is cut short: \(error).")
        }
    }

    private static func parse(_ reader: ByteReader) throws -> [Blob] {
        let magic = try reader.integer(at: 0, as: UInt32.self, .big)
        guard magic == Magic.superBlob else {
            throw CodeSignatureError(
                .malformed,
                "the signature begins with 0x\(String(magic, radix: 16)), not with 0xfade0cc0."
            )
        }
        let length = Int(try reader.integer(at: 4, as: UInt32.self, .big))
        let count = Int(try reader.integer(at: 8, as: UInt32.self, .big))
        let whole = ByteReader(try reader.bytes(at: 0, count: length))
        guard count <= blobLimit else {
            throw CodeSignatureError(.malformed, "the signature claims \(count) blobs.")
        }
        var blobs: [Blob] = []
        var total = 0
        for index in 0..<count {
            let slot = Slot(rawValue: try whole.integer(at: 12 + index * 8, .big))
            let offset = Int(try whole.integer(at: 16 + index * 8, as: UInt32.self, .big))
            let size = Int(try whole.integer(at: offset + 4, as: UInt32.self, .big))
            guard size >= 8, !blobs.contains(where: { $0.slot == slot }) else {
                throw CodeSignatureError(
                    .malformed,
                    "the blob of slot 0x\(String(slot.rawValue, radix: 16)) is empty or there twice."
                )
            }
            let bytes = try whole.bytes(at: offset, count: size)
            total += size
            guard total <= length else {
                throw CodeSignatureError(.malformed, "the signature's blobs lie over each other.")
            }
            blobs.append(Blob(slot: slot, bytes: Array(bytes)))
        }
        return blobs
    }

    /// The bytes of the container.
    public func encoded() -> [UInt8] {
        let size = Self.size(of: blobs.map(\.bytes.count))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        bytes.append(Magic.superBlob, .big)
        bytes.append(UInt32(size), .big)
        bytes.append(UInt32(blobs.count), .big)
        var offset = 12 + blobs.count * 8
        for blob in blobs {
            bytes.append(blob.slot.rawValue, .big)
            bytes.append(UInt32(offset), .big)
            offset += blob.bytes.count
        }
        for blob in blobs {
            bytes += blob.bytes
        }
        return bytes
    }

    /// The size of a container of blobs of the given sizes.
    static func size(of blobs: [Int]) -> Int {
        12 + blobs.count * 8 + blobs.reduce(0, +)
    }

    /// `payload` with magic number and length in front.
    static func blob(_ magic: UInt32, _ payload: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(payload.count + 8)
        bytes.append(magic, .big)
        bytes.append(UInt32(payload.count + 8), .big)
        bytes += payload
        return bytes
    }
}
