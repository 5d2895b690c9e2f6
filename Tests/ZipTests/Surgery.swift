import FerryBytes
import FerryZip

/// A small archive whose bytes can be changed one by one.
struct Surgery {
    /// A field of the central directory, or of a local header, by its place and size.
    enum Field {
        static let centralFlags = 8
        static let centralMethod = 10
        static let centralCRC = 16
        static let centralPacked = 20
        static let centralUnpacked = 24
        static let centralDisk = 34
        static let centralAttributes = 38
        static let centralOffset = 42
        static let centralName = 46
        static let localFlags = 6
        static let localMethod = 8
        static let localCRC = 14
        static let localPacked = 18
        static let localName = 30
        static let endDisk = 4
        static let endCountHere = 8
        static let endCount = 10
        static let endDirectoryBytes = 12
        static let endDirectoryOffset = 16
        static let endCommentBytes = 20
    }

    var bytes: [UInt8]
    /// Where the records of the central directory begin, as the builder wrote them.
    let central: [Int]
    /// Where the local headers begin.
    let local: [Int]
    /// Where the end record begins.
    let end: Int

    /// Two files of 400 bytes, the first deflated, the second stored.
    static func sample(_ names: [String] = ["Payload/a.txt", "Payload/b.bin"]) throws -> Surgery {
        var builder = ZipBuilder()
        builder.addFile(names[0], [UInt8](repeating: 0x61, count: 400))
        for name in names.dropFirst() {
            builder.addFile(name, (0..<400).map { UInt8(truncatingIfNeeded: $0 * 7) }, level: 0)
        }
        return try Surgery(builder)
    }

    init(_ builder: ZipBuilder, comment: [UInt8] = []) throws {
        bytes = try builder.bytes(comment: comment)
        let reader = ByteReader(bytes)
        end = bytes.count - 22 - comment.count
        var place = Int(try reader.integer(at: end + 16, as: UInt32.self, .little))
        var central: [Int] = []
        var local: [Int] = []
        while place < end {
            central.append(place)
            local.append(Int(try reader.integer(at: place + 42, as: UInt32.self, .little)))
            place += 46
            for field in [28, 30, 32] {
                place += Int(try reader.integer(at: central[central.count - 1] + field, as: UInt16.self, .little))
            }
        }
        self.central = central
        self.local = local
    }

    mutating func set16(_ value: UInt16, at offset: Int) {
        bytes.store(value, at: offset, .little)
    }

    mutating func set32(_ value: UInt32, at offset: Int) {
        bytes.store(value, at: offset, .little)
    }

    /// Gives an entry another name of the same length, in both headers.
    mutating func rename(_ index: Int, _ name: [UInt8]) {
        for (offset, byte) in name.enumerated() {
            bytes[central[index] + Field.centralName + offset] = byte
            bytes[local[index] + Field.localName + offset] = byte
        }
    }

    /// What reading it comes to: every entry's contents, or the error.
    func read(limits: ZipLimits = .standard) -> Result<[String: [UInt8]], ZipError> {
        Self.read(bytes, limits: limits)
    }

    static func read(_ bytes: [UInt8], limits: ZipLimits = .standard) -> Result<[String: [UInt8]], ZipError> {
        Result { () throws(ZipError) in
            let source = MemorySource(bytes)
            let directory = try ZipDirectory(source, limits: limits)
            try directory.checkLinks(in: source)
            let inflater = Inflater()
            var contents: [String: [UInt8]] = [:]
            for entry in directory.entries {
                contents[entry.name] = try inflater.contents(of: entry, in: source)
            }
            return contents
        }
    }
}

/// The error of a result; `nil` for a success.
func failure(_ result: Result<some Any, ZipError>) -> ZipError? {
    if case .failure(let error) = result { error } else { nil }
}
