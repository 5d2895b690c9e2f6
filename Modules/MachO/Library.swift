import FerryBytes

extension MachOImage {
    /// A library that an image loads.
    ///
    /// `dylib_command { cmd, cmdsize, name offset, timestamp, current_version, compatibility_version }`, 32 bits each, then
    /// the path and zeros. Since 2024 the timestamp may be `DYLIB_USE_MARKER`; then a word of flags follows, and after it the
    /// path. Source: `<mach-o/loader.h>`.
    public struct Library: Sendable, Hashable {
        /// What loading it means.
        public enum Kind: Sendable, Hashable {
            /// Without it the image does not load.
            case regular
            /// Without it the image loads, and what it takes from it is null.
            case weak
            /// Whoever loads the image has what this library exports too.
            case reexported
            /// A library that itself loads this image.
            case upward
            /// Loaded at the first use; no loader since 2007 knows it otherwise than as a name.
            case lazy
        }

        /// What loading it means.
        public let kind: Kind
        /// The install name that it is loaded by, with repairs where it is no UTF-8.
        public var path: String { String(decoding: pathBytes, as: UTF8.self) }
        /// The install name as it is written.
        public let pathBytes: [UInt8]
        /// The version that it had at link time, as `major << 16 | minor << 8 | patch`.
        public let currentVersion: UInt32
        /// The oldest version that will do, in the same form.
        public let compatibilityVersion: UInt32
        /// The place of its load command in ``MachOImage/loadCommands``.
        public let commandIndex: Int
        /// The number, from 1 on, that bindings know it by; `nil` for a lazy one, which the loader does not count.
        public let ordinal: Int?

        /// `LC_ID_DYLIB`.
        static let idCommand: UInt32 = 0x0D
        /// `LC_RPATH`.
        static let rpathCommand: UInt32 = 0x8000_001C

        init(_ command: UInt32, at index: Int, _ body: ByteReader, ordinal: Int) throws {
            kind = Self.kind(command, body)
            pathBytes = try Self.name(in: body)
            // A command too short for versions has none.
            currentVersion = (try? body.integer(at: 16, .little)) ?? 0
            compatibilityVersion = (try? body.integer(at: 20, .little)) ?? 0
            commandIndex = index
            self.ordinal = kind == .lazy ? nil : ordinal
        }

        /// What the command's number says, or the flags of `dylib_use_command`.
        private static func kind(_ command: UInt32, _ body: ByteReader) -> Kind {
            let kind = Kind(command: command) ?? .regular
            guard kind == .regular || kind == .weak,
                let place = try? body.integer(at: 8, as: UInt32.self, .little), place == 28,
                let marker = try? body.integer(at: 12, as: UInt32.self, .little), marker == 0x1A74_1800,
                let flags = try? body.integer(at: 24, as: UInt32.self, .little)
            else { return kind }
            if flags & 2 != 0 { return .reexported }
            if flags & 4 != 0 { return .upward }
            return flags & 1 != 0 ? .weak : kind
        }

        /// The text of an `lc_str` whose offset is the command's third word, up to the first zero or the command's end.
        static func name(in body: ByteReader) throws -> [UInt8] {
            let offset = Int(try body.integer(at: 8, as: UInt32.self, .little))
            guard offset >= 12, offset <= body.count else {
                throw MachOError.malformed("a library's name lies outside its load command.")
            }
            return Array(try body.bytes(at: offset, count: body.count - offset).prefix { $0 != 0 })
        }
    }

    /// The install names of the libraries that are loaded, in order, each with its load command's number.
    public var dylibs: [(command: UInt32, name: String)] {
        libraries.map { (loadCommands[$0.commandIndex].number, $0.path) }
    }
}

extension MachOImage.Library.Kind {
    /// What a load command's number says; `nil` for one that loads no library.
    init?(command: UInt32) {
        switch command {
        case 0x0C: self = .regular
        case 0x8000_0018: self = .weak
        case 0x8000_001F: self = .reexported
        case 0x8000_0023: self = .upward
        case 0x20: self = .lazy
        default: return nil
        }
    }

    /// The load command's number.
    var command: UInt32 {
        switch self {
        case .regular: 0x0C
        case .weak: 0x8000_0018
        case .reexported: 0x8000_001F
        case .upward: 0x8000_0023
        case .lazy: 0x20
        }
    }
}

extension MachOImage.Library {
    /// Whether `name` means the library with this path: the whole path, or its last part or parts, byte by byte.
    ///
    /// `libz.dylib` and `lib/libz.dylib` mean `/usr/lib/libz.dylib`; `z.dylib` and `/lib/libz.dylib` do not.
    public static func name(_ name: String, means path: some Collection<UInt8>) -> Bool {
        let wanted = Array(name.utf8)
        guard !wanted.isEmpty, path.count >= wanted.count else { return false }
        if path.count == wanted.count { return path.elementsEqual(wanted) }
        guard wanted[0] != UInt8(ascii: "/") else { return false }
        return path.suffix(wanted.count + 1).elementsEqual([UInt8(ascii: "/")] + wanted)
    }
}
