import FerryBytes

/// A Debian package, as tweaks are published: what it says of itself, and its files.
///
/// An `ar` archive of three members: `debian-binary` (the version, `2.0`), `control.tar.…` and `data.tar.…`; the tars plain
/// or packed. Source: deb(5).
public struct DebianPackage: Sendable {
    /// The fields of `control`.
    public let control: ControlFields
    /// The files and links of `data.tar`, by their paths from the device's root.
    public let files: [PackedFile]

    /// Whether a file that begins with `prefix` claims to be one.
    public static func claims(_ prefix: some Collection<UInt8>) -> Bool {
        prefix.starts(with: magic)
    }

    static let magic = Array("!<arch>\n".utf8)

    /// Reads the package at a path.
    public init(path: String, limits: ArchiveLimits = .standard) throws(ArchiveError) {
        try self.init(try wholeFile(path, limits), limits: limits)
    }

    /// Reads a package in memory.
    public init(_ bytes: [UInt8], limits: ArchiveLimits = .standard) throws(ArchiveError) {
        let members = try Self.members(of: bytes)
        guard let version = members.first, version.name == "debian-binary", version.bytes.starts(with: "2.".utf8) else {
            throw ArchiveError(.notAnArchive, "It is no Debian package of version 2.")
        }
        let control = try Self.member("control.tar", of: members)
        var controlLimits = limits
        controlLimits.fileBytes = limits.controlBytes
        controlLimits.totalBytes = limits.controlBytes
        let described = try Self.unpack(control, controlLimits) { $0 == "control" }
        guard let text = described.first(where: { $0.path == "control" })?.bytes else {
            throw ArchiveError(.malformed, "\(control.name.printable) has no control file.")
        }
        self.control = try ControlFields(text)
        files = try Self.unpack(try Self.member("data.tar", of: members), limits) { _ in true }
    }

    private static func unpack(
        _ member: Member,
        _ limits: ArchiveLimits,
        _ isWanted: (String) -> Bool
    ) throws(ArchiveError) -> [PackedFile] {
        do {
            return try Unpacking.files(in: member.bytes, as: .tar, limits: limits, isWanted: isWanted)
        } catch {
            throw error.inside(member.name)
        }
    }

    // MARK: ar

    private struct Member {
        let name: String
        let bytes: ArraySlice<UInt8>
    }

    /// How many members an `ar` archive may have; packages have three, and a few of somebody's own.
    private static let memberLimit = 32

    private static func member(_ name: String, of members: [Member]) throws(ArchiveError) -> Member {
        let found = members.filter { $0.name == name || $0.name.beginsExactly(with: name + ".") }
        guard found.count == 1 else {
            throw ArchiveError(.malformed, "There are \(found.count) members \(name) in the package, and not one.")
        }
        return found[0]
    }

    /// `ar`: headers of 60 bytes, each the name (16), time, owner and group (12, 6, 6), mode (8), size in decimal (10) and
    /// two bytes that end it, then the content, filled up to an even length.
    private static func members(of bytes: [UInt8]) throws(ArchiveError) -> [Member] {
        guard bytes.starts(with: magic) else {
            throw ArchiveError(.notAnArchive, "It is no Debian package: it begins with \(bytes.prefix(8).hex).")
        }
        let reader = ByteReader(bytes)
        var members: [Member] = []
        var offset = magic.count
        while offset < bytes.count {
            guard members.count < memberLimit else {
                throw ArchiveError(.limit, "The package has more than \(memberLimit) members.")
            }
            guard let header = try? reader.bytes(at: offset, count: 60),
                header.suffix(2).elementsEqual([0x60, 0x0A]),
                let size = decimal(header.dropFirst(48).prefix(10)),
                let content = try? reader.bytes(at: offset + 60, count: size)
            else {
                throw ArchiveError(.malformed, "The package's member at offset \(offset) is cut short or has no size.")
            }
            var name = header.prefix(16)
            while let last = name.last, last == 0x20 { name = name.dropLast() }
            if name.last == UInt8(ascii: "/") { name = name.dropLast() }
            members.append(Member(name: String(decoding: name, as: UTF8.self), bytes: content))
            offset += 60 + size + size % 2
        }
        return members
    }

    private static func decimal(_ digits: ArraySlice<UInt8>) -> Int? {
        let text = String(decoding: digits, as: UTF8.self)
        let number = text.prefix { $0 != " " }
        guard !number.isEmpty, text.dropFirst(number.count).allSatisfy({ $0 == " " }),
            number.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(number)
    }
}

/// A file's bytes, if they are no more than a packed file may have.
func wholeFile(_ path: String, _ limits: ArchiveLimits) throws(ArchiveError) -> [UInt8] {
    do {
        let source = try FileSource(path: path)
        guard source.count <= limits.packedBytes else {
            throw ArchiveError(
                .limit,
                "\(path.printable) has \(source.count) bytes, more than \(limits.packedBytes)."
            )
        }
        return try source.bytes(at: 0, count: source.count)
    } catch {
        throw .reading(error)
    }
}
