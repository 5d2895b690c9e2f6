import FerryBytes

/// What is signed: the hash of every page of the code, and of what goes with it.
///
/// `CS_CodeDirectory`, big-endian, offsets from its start:
///
/// ```
///  0 magic 0xfade0c02     20 identOffset         36 hashSize, hashType,      60 (part of) codeLimit64
///  4 length               24 nSpecialSlots          platform, log2(pageSize)  64 execSegBase
///  8 version              28 nCodeSlots          40 spare2                    72 execSegLimit
/// 12 flags                32 codeLimit           44 scatterOffset             80 execSegFlags
/// 16 hashOffset                                  48 teamOffset, 52 spare3, 56 codeLimit64
/// ```
///
/// Special slots lie before `hashOffset`, slot *n* at `hashOffset − n × hashSize`; code slots from it on.
/// Source: XNU `osfmk/kern/cs_blobs.h`.
public struct CodeDirectory: Sendable, Hashable {
    /// The number of a special slot.
    public enum SpecialSlot: Int, Sendable, CaseIterable {
        case infoPlist = 1
        case requirements = 2
        case resources = 3
        case application = 4
        case entitlements = 5
        case entitlementsDER = 7
    }

    /// `CS_ADHOC`.
    public static let adhocFlag: UInt32 = 2
    /// `CS_EXECSEG_MAIN_BINARY`.
    public static let mainBinaryFlag: UInt64 = 1
    /// `CS_EXECSEG_ALLOW_UNSIGNED`.
    public static let allowUnsignedFlag: UInt64 = 0x10

    /// The text segment's place in the file, and what it may do.
    public struct ExecSegment: Sendable, Hashable {
        /// `execSegBase`.
        public var base: UInt64
        /// `execSegLimit`: the size in the file.
        public var limit: UInt64
        /// `execSegFlags`.
        public var flags: UInt64

        /// Base, limit and flags.
        public init(base: UInt64 = 0, limit: UInt64, flags: UInt64) {
            self.base = base
            self.limit = limit
            self.flags = flags
        }
    }

    /// `version`; we write `0x20400`, which has the exec segment.
    public var version: UInt32 = 0x20400
    /// `flags`.
    public var flags: UInt32 = 0
    /// The hash of all slots.
    public var algorithm: HashAlgorithm
    /// The bundle identifier, or the file's name for loose code.
    public var identifier: String
    /// The team; `nil` before version `0x20200` and where there is none.
    public var team: String?
    /// Where the code that is hashed ends.
    public var codeLimit: Int
    /// Bytes a page, a power of two; zero for one page without an end.
    public var pageSize: Int
    /// The exec segment; `nil` before version `0x20400`.
    public var execSegment: ExecSegment?
    /// The digests of special slots 1, 2, …; an unused one is all zeros.
    public var specialSlots: [[UInt8]]
    /// The digests of the pages, one after the other.
    ///
    /// `ceil(codeLimit / pageSize)` × `algorithm.size` bytes.
    public var codeSlots: [UInt8]

    /// The digest of a special slot; `nil` where it is unused.
    public func special(_ slot: SpecialSlot) -> [UInt8]? {
        guard slot.rawValue <= specialSlots.count else { return nil }
        let digest = specialSlots[slot.rawValue - 1]
        return digest.allSatisfy { $0 == 0 } ? nil : digest
    }

    /// How many pages are hashed.
    public var pageCount: Int { codeSlots.count / algorithm.size }

    /// How many pages `codeLimit` bytes fill.
    public static func pageCount(codeLimit: Int, pageSize: Int) -> Int {
        guard pageSize > 0 else { return codeLimit > 0 ? 1 : 0 }
        return codeLimit / pageSize + (codeLimit % pageSize == 0 ? 0 : 1)
    }

    /// The size of a code directory with these parts, version `0x20400`.
    static func size(
        identifier: String,
        team: String?,
        specialSlots: Int,
        pages: Int,
        algorithm: HashAlgorithm
    ) -> Int {
        88 + identifier.utf8.count + 1 + (team.map { $0.utf8.count + 1 } ?? 0)
            + (specialSlots + pages) * algorithm.size
    }

    /// The bytes, magic number and length in front.
    public func encoded() -> [UInt8] {
        let identifierOffset = 88
        let teamOffset = team == nil ? 0 : identifierOffset + identifier.utf8.count + 1
        let stringsEnd = identifierOffset + identifier.utf8.count + 1 + (team.map { $0.utf8.count + 1 } ?? 0)
        let hashOffset = stringsEnd + specialSlots.count * algorithm.size
        let length = hashOffset + codeSlots.count
        let narrowLimit = UInt32(exactly: codeLimit)

        var bytes: [UInt8] = []
        bytes.reserveCapacity(length)
        bytes.append(SuperBlob.Magic.codeDirectory, .big)
        bytes.append(UInt32(length), .big)
        bytes.append(version, .big)
        bytes.append(flags, .big)
        bytes.append(UInt32(hashOffset), .big)
        bytes.append(UInt32(identifierOffset), .big)
        bytes.append(UInt32(specialSlots.count), .big)
        bytes.append(UInt32(pageCount), .big)
        bytes.append(narrowLimit ?? .max, .big)
        bytes.append(UInt8(algorithm.size), .big)
        bytes.append(algorithm.rawValue, .big)
        bytes.append(UInt8(0), .big)
        bytes.append(UInt8(pageSize == 0 ? 0 : pageSize.trailingZeroBitCount), .big)
        bytes.append(UInt32(0), .big)
        bytes.append(UInt32(0), .big)
        bytes.append(UInt32(teamOffset), .big)
        bytes.append(UInt32(0), .big)
        bytes.append(narrowLimit == nil ? UInt64(codeLimit) : 0, .big)
        bytes.append(execSegment?.base ?? 0, .big)
        bytes.append(execSegment?.limit ?? 0, .big)
        bytes.append(execSegment?.flags ?? 0, .big)
        bytes += identifier.utf8
        bytes.append(0)
        if let team {
            bytes += team.utf8
            bytes.append(0)
        }
        for slot in specialSlots.reversed() {
            bytes += slot
        }
        bytes += codeSlots
        return bytes
    }
}

extension CodeDirectory {
    /// Parses a code directory blob.
    public init(parsing blob: [UInt8]) throws(CodeSignatureError) {
        do {
            try self.init(reading: ByteReader(blob))
        } catch let error as CodeSignatureError {
            throw error
        } catch {
            throw CodeSignatureError(.malformed, "the code directory is cut short: \(error).")
        }
    }

    private init(reading reader: ByteReader) throws {
        guard try reader.integer(at: 0, as: UInt32.self, .big) == SuperBlob.Magic.codeDirectory else {
            throw CodeSignatureError(.malformed, "the code directory has another magic number than 0xfade0c02.")
        }
        version = try reader.integer(at: 8, .big)
        flags = try reader.integer(at: 12, .big)
        let hashOffset = Int(try reader.integer(at: 16, as: UInt32.self, .big))
        let specials = Int(try reader.integer(at: 24, as: UInt32.self, .big))
        let pages = Int(try reader.integer(at: 28, as: UInt32.self, .big))
        let type = try reader.integer(at: 37, as: UInt8.self, .big)
        guard let algorithm = HashAlgorithm(rawValue: type),
            try reader.integer(at: 36, as: UInt8.self, .big) == UInt8(algorithm.size)
        else {
            throw CodeSignatureError(.malformed, "the code directory uses hash type \(type), which is not known here.")
        }
        self.algorithm = algorithm
        let shift = Int(try reader.integer(at: 39, as: UInt8.self, .big))
        guard shift == 0 || (9...20).contains(shift) else {
            throw CodeSignatureError(.malformed, "the code directory claims pages of 2^\(shift) bytes.")
        }
        pageSize = shift == 0 ? 0 : 1 << shift
        identifier = try reader.text(at: Int(try reader.integer(at: 20, as: UInt32.self, .big)))
        var limit = UInt64(try reader.integer(at: 32, as: UInt32.self, .big))
        if version >= 0x20200 {
            let offset = Int(try reader.integer(at: 48, as: UInt32.self, .big))
            team = offset == 0 ? nil : try reader.text(at: offset)
        }
        if version >= 0x20300 {
            let wide = try reader.integer(at: 56, as: UInt64.self, .big)
            limit = wide == 0 ? limit : wide
        }
        if version >= 0x20400 {
            execSegment = ExecSegment(
                base: try reader.integer(at: 64, .big),
                limit: try reader.integer(at: 72, .big),
                flags: try reader.integer(at: 80, .big)
            )
        }
        guard let codeLimit = Int(exactly: limit), specials <= 64, pages <= reader.count / algorithm.size else {
            throw CodeSignatureError(.malformed, "the code directory claims \(pages) pages and \(limit) bytes of code.")
        }
        self.codeLimit = codeLimit
        specialSlots = []
        for slot in stride(from: 1, through: specials, by: 1) {
            let digest = try reader.bytes(at: hashOffset - slot * algorithm.size, count: algorithm.size)
            specialSlots.append(Array(digest))
        }
        codeSlots = Array(try reader.bytes(at: hashOffset, count: pages * algorithm.size))
    }
}
