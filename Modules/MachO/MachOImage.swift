import FerryBytes

/// The header and load commands of one Mach-O image.
///
/// `mach_header_64 { magic, cputype, cpusubtype, filetype, ncmds, sizeofcmds, flags, reserved }`, 32 bits each and
/// little-endian on every iOS device (`mach_header` has no reserved word), then `ncmds` load commands, each
/// `{ cmd, cmdsize, … }`, within `sizeofcmds` bytes. Source: `<mach-o/loader.h>`.
public struct MachOImage: Sendable {
    /// What the image is for (`filetype`).
    public enum FileType: UInt32, Sendable {
        case object = 1
        case execute = 2
        case dylib = 6
        case dylinker = 7
        case bundle = 8
        case dsym = 10
    }

    /// A load command: its number and its place from the start of the image.
    public struct LoadCommand: Sendable, Hashable {
        /// `cmd`, for instance `0x1d` for `LC_CODE_SIGNATURE`.
        public let number: UInt32
        /// Where the command begins.
        public let offset: Int
        /// `cmdsize`, at least 8.
        public let size: Int
    }

    /// A segment, with its place in the file and in memory.
    public struct Segment: Sendable, Hashable {
        /// `segname`, for instance `__LINKEDIT`.
        public let name: String
        /// Where its load command begins.
        public let commandOffset: Int
        /// `vmaddr`.
        public let memoryAddress: UInt64
        /// `vmsize`.
        public let memorySize: UInt64
        /// `fileoff`.
        public let fileOffset: Int
        /// `filesize`.
        public let fileSize: Int
        /// The smallest file offset of a section that has bytes in the file; `nil` without any.
        public let firstSectionOffset: Int?
    }

    /// A range of bytes in the image.
    public struct Region: Sendable, Hashable {
        /// Where it begins.
        public let offset: Int
        /// How long it is.
        public let size: Int
        /// Where it ends.
        public var end: Int { offset + size }
    }

    static let magic32: UInt32 = 0xFEED_FACE
    static let magic64: UInt32 = 0xFEED_FACF
    static let codeSignatureCommand: UInt32 = 0x1D

    /// `cputype`; `0x0100000c` is arm64.
    public let cpuType: UInt32
    /// `cpusubtype` as it is written, with its capability bits.
    public let rawCPUSubtype: UInt32
    /// `filetype` as it is written.
    public let rawFileType: UInt32
    /// Whether addresses have 64 bits.
    public let is64Bit: Bool
    /// The load commands in order.
    public let loadCommands: [LoadCommand]
    /// The segments in order.
    public let segments: [Segment]
    /// Where the code signature lies; `nil` where there is none.
    public let codeSignature: Region?
    /// Whether `LC_ENCRYPTION_INFO` has a `cryptid` other than zero: FairPlay code that only its buyer's device runs.
    public let isEncrypted: Bool
    /// `LC_BUILD_VERSION.platform`, or what an `LC_VERSION_MIN_…` stands for: 1 macOS, 2 iOS, 3 tvOS, 4 watchOS,
    /// 7 iOS simulator. `nil` where neither is there.
    public let platform: UInt32?
    /// The oldest system, as `major << 16 | minor << 8 | patch`.
    public let minimumOS: UInt32?
    /// The libraries that are loaded, in the order of their load commands.
    public let libraries: [Library]
    /// Where libraries are searched that are named by `@rpath/…` (`LC_RPATH`), in order.
    public let rpaths: [String]
    /// `LC_ID_DYLIB`'s install name.
    public let installName: String?
    /// `LC_UUID`, 16 bytes.
    public let uuid: [UInt8]?
    /// The smallest offset at which a load command says that content begins; `nil` where none does.
    let contentStart: Int?
    /// How many bytes the image has.
    public let count: Int

    /// `cpusubtype` without its capability bits.
    public var cpuSubtype: UInt32 { rawCPUSubtype & 0x00FF_FFFF }

    /// What the image is for; `nil` for a kind that is never signed here.
    public var fileType: FileType? { FileType(rawValue: rawFileType) }

    /// Whether the image is one that iOS checks a signature on: an executable, a library or a loadable bundle.
    public var isSignable: Bool { fileType == .execute || fileType == .dylib || fileType == .bundle }

    /// Whether a process can start with it.
    public var isMainBinary: Bool { fileType == .execute }

    /// The size of the header, before the load commands.
    public var headerSize: Int { is64Bit ? 32 : 28 }

    /// Where the load commands end.
    public var commandsEnd: Int { loadCommands.last.map { $0.offset + $0.size } ?? headerSize }

    /// `__LINKEDIT`.
    public var linkEdit: Segment? { segments.first { $0.name == "__LINKEDIT" } }

    /// `__TEXT`.
    public var text: Segment? { segments.first { $0.name == "__TEXT" } }

    /// The processor's name as `lipo` writes it, for people.
    public var architecture: String {
        switch (cpuType, cpuSubtype) {
        case (0x0100_000C, 2): "arm64e"
        case (0x0100_000C, _): "arm64"
        case (0x0200_000C, _): "arm64_32"
        case (12, 9): "armv7"
        case (12, 11): "armv7s"
        case (12, 12): "armv7k"
        case (12, _): "arm"
        case (7, _): "i386"
        case (0x0100_0007, _): "x86_64"
        default: "cpu \(cpuType)/\(cpuSubtype)"
        }
    }

    /// How many bytes from the start of an image its header and load commands fill, judged by the first 32.
    public static func headerSize(_ prefix: ArraySlice<UInt8>) throws(MachOError) -> Int {
        guard let magic = try? ByteReader(prefix).integer(at: 0, as: UInt32.self, .little),
            let size = try? ByteReader(prefix).integer(at: 20, as: UInt32.self, .little)
        else {
            throw .malformed("the file has only \(prefix.count) bytes, too few for a Mach-O header.")
        }
        return Int(size) + (magic == magic64 ? 32 : 28)
    }

    /// Parses the header and load commands of an image that fills `bytes`.
    ///
    /// - Parameter bytes: the image, or as much of its start as ``headerSize(_:)`` says.
    /// - Parameter count: how many bytes the image has, where `bytes` is only its start.
    public init(_ bytes: ArraySlice<UInt8>, count: Int? = nil) throws(MachOError) {
        do {
            try self.init(reading: ByteReader(bytes), count: count ?? bytes.count)
        } catch let error as MachOError {
            throw error
        } catch {
            throw .malformed("the header is cut short: \(error).")
        }
    }

    private init(reading reader: ByteReader, count: Int) throws {
        let magic = try reader.integer(at: 0, as: UInt32.self, .little)
        switch magic {
        case Self.magic64: is64Bit = true
        case Self.magic32: is64Bit = false
        case Self.magic32.byteSwapped, Self.magic64.byteSwapped:
            throw MachOError(.unsupported, "the Mach-O is big-endian; no iOS device runs such code.")
        default:
            throw MachOError(
                .notMachO,
                "it is no Mach-O: it begins with \(try reader.bytes(at: 0, count: 4).hex).",
                remedy: "Check that the archive holds an app built for devices."
            )
        }
        self.count = count
        cpuType = try reader.integer(at: 4, .little)
        rawCPUSubtype = try reader.integer(at: 8, .little)
        rawFileType = try reader.integer(at: 12, .little)
        loadCommands = try Self.commands(reader, headerSize: is64Bit ? 32 : 28)

        var pieces = Pieces()
        for (index, command) in loadCommands.enumerated() {
            try pieces.take(command, at: index, from: reader, imageSize: count)
        }
        segments = pieces.segments
        codeSignature = pieces.codeSignature
        isEncrypted = pieces.isEncrypted
        platform = pieces.platform
        minimumOS = pieces.minimumOS
        libraries = pieces.libraries
        rpaths = pieces.rpaths
        contentStart = pieces.contentStart
        installName = pieces.installName
        uuid = pieces.uuid
    }

    private static func commands(_ reader: ByteReader, headerSize: Int) throws -> [LoadCommand] {
        let number = Int(try reader.integer(at: 16, as: UInt32.self, .little))
        let size = Int(try reader.integer(at: 20, as: UInt32.self, .little))
        guard size <= reader.count - headerSize else {
            throw MachOError.malformed(
                "the load commands need \(size) bytes at offset \(headerSize), "
                    + "but the file has only \(max(0, reader.count - headerSize)) left."
            )
        }
        guard number <= size / 8 else {
            throw MachOError.malformed("\(number) load commands cannot lie in \(size) bytes.")
        }
        var commands: [LoadCommand] = []
        var offset = headerSize
        for index in 0..<number {
            let left = headerSize + size - offset
            guard left >= 8 else {
                throw MachOError.malformed("load command \(index + 1) of \(number) runs past sizeofcmds.")
            }
            let commandSize = Int(try reader.integer(at: offset + 4, as: UInt32.self, .little))
            guard commandSize >= 8, commandSize <= left else {
                throw MachOError.malformed(
                    "load command \(index + 1) of \(number) at offset \(offset) claims \(commandSize) bytes, "
                        + "but \(left) are left of sizeofcmds."
                )
            }
            commands.append(
                LoadCommand(number: try reader.integer(at: offset, .little), offset: offset, size: commandSize)
            )
            offset += commandSize
        }
        guard offset == headerSize + size else {
            throw MachOError.malformed("the load commands fill \(offset - headerSize) bytes, not the \(size) claimed.")
        }
        return commands
    }
}
