import FerryBytes

/// A file or a symbolic link out of an archive or a folder.
public struct PackedFile: Sendable, Hashable {
    /// What it holds.
    public enum Content: Sendable, Hashable {
        /// A regular file's bytes.
        case bytes([UInt8])
        /// A symbolic link's target, as it is written.
        case link(String)
    }

    /// The path from the root, parts between single slashes, without `.`, `..` or a slash at either end.
    public let path: String
    /// What it holds.
    public let content: Content
    /// The permissions, the lower twelve bits of a Unix mode.
    public let mode: UInt16

    /// A file or link; `path` must be in the form that ``path`` has.
    public init(path: String, content: Content, mode: UInt16) {
        self.path = path
        self.content = content
        self.mode = mode
    }

    /// A regular file's bytes; `nil` for a link.
    public var bytes: [UInt8]? {
        if case .bytes(let bytes) = content { bytes } else { nil }
    }

    /// A link's target; `nil` for a regular file.
    public var target: String? {
        if case .link(let target) = content { target } else { nil }
    }

    /// The same file at another path.
    func moved(to path: String) -> PackedFile {
        PackedFile(path: path, content: content, mode: mode)
    }

    /// What a Mac leaves behind beside real files.
    static func isJunk(_ parts: [String]) -> Bool {
        guard let last = parts.last else { return false }
        return parts[0] == "__MACOSX" || last == ".DS_Store" || last.beginsExactly(with: "._")
    }
}

/// Files as they come in, one after the other, checked against each other and the limits.
struct FileCollection {
    private let limits: ArchiveLimits
    private var entries = 0
    private var totalBytes = 0
    private var places: [String: Int] = [:]
    private var folders: Set<String> = []
    private(set) var files: [PackedFile] = []

    init(_ limits: ArchiveLimits) {
        self.limits = limits
    }

    /// The path of an entry in its plain form; `nil` for the root. Names with a leading `/` count from the root too, as
    /// packages mean them.
    mutating func place(_ name: String) throws(ArchiveError) -> String? {
        entries += 1
        guard entries <= limits.entryCount else {
            throw ArchiveError(.limit, "There are more than \(limits.entryCount) entries.")
        }
        guard name.utf8.count <= limits.pathBytes else {
            throw ArchiveError(.limit, "A name has \(name.utf8.count) bytes, more than \(limits.pathBytes).")
        }
        let parts = name.pathParts.filter { $0 != "." }
        guard !parts.contains(".."), !name.utf8.contains(0) else {
            throw ArchiveError(.badName, "“\(name.printable)” leads out of where it lies.")
        }
        guard parts.count <= limits.depth else {
            throw ArchiveError(.limit, "“\(name.printable)” lies more than \(limits.depth) folders deep.")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "/")
    }

    /// How many bytes the next file may have.
    var room: Int { min(limits.fileBytes, limits.totalBytes - totalBytes) }

    /// What to say of a file with more bytes than ``room``.
    func tooLarge(_ path: String) -> ArchiveError {
        let isOne = limits.totalBytes - totalBytes > limits.fileBytes
        let limit = isOne ? "\(limits.fileBytes) bytes" : "what is left of \(limits.totalBytes) bytes for all files"
        return ArchiveError(.limit, "\(path.printable): the file unpacks to more than \(limit).")
    }

    /// An earlier file's bytes, for a hard link to it.
    func bytes(at path: String) -> [UInt8]? { places[path].flatMap { files[$0].bytes } }

    mutating func addFolder(_ path: String) throws(ArchiveError) {
        try open(path)
        guard places[path] == nil else { throw Self.twice(path) }
        folders.insert(path)
    }

    /// Counts a file's bytes that are not kept.
    mutating func pass(over count: Int) { totalBytes += min(count, room) }

    mutating func add(_ path: String, _ bytes: [UInt8], mode: UInt16) throws(ArchiveError) {
        guard bytes.count <= room else { throw tooLarge(path) }
        totalBytes += bytes.count
        try add(PackedFile(path: path, content: .bytes(bytes), mode: mode & 0o7777))
    }

    /// A link whose target may be absolute (then it counts from the archive's root) but must not climb out of it.
    mutating func addLink(_ path: String, to target: String) throws(ArchiveError) {
        guard !target.isEmpty, target.utf8.count <= limits.pathBytes, Self.resolve(target, from: path) != nil else {
            throw ArchiveError(
                .escapingLink,
                "\(path.printable): the link to “\(target.prefix(200).printable)” leads out of where it lies."
            )
        }
        try add(PackedFile(path: path, content: .link(target), mode: 0o777))
    }

    private mutating func add(_ file: PackedFile) throws(ArchiveError) {
        try open(file.path)
        guard places[file.path] == nil, !folders.contains(file.path) else { throw Self.twice(file.path) }
        places[file.path] = files.count
        files.append(file)
    }

    /// Makes the folders above a path, which must be no files or links.
    private mutating func open(_ path: String) throws(ArchiveError) {
        let parts = path.pathParts
        for count in 1..<max(1, parts.count) {
            let folder = parts.prefix(count).joined(separator: "/")
            if let place = places[folder] {
                throw ArchiveError(
                    files[place].target == nil ? .duplicateName : .escapingLink,
                    "\(path.printable) lies beneath \(folder.printable), which is no folder."
                )
            }
            folders.insert(folder)
        }
    }

    private static func twice(_ path: String) -> ArchiveError {
        ArchiveError(.duplicateName, "\(path.printable) is there twice.")
    }

    /// The path that a link at `path` leads to, from the root; `nil` where it climbs out.
    static func resolve(_ target: String, from path: String) -> String? {
        var parts = target.beginsExactly(with: "/") ? [] : path.pathParts.dropLast().map { $0 }
        for part in target.pathParts where part != "." {
            if part != ".." {
                parts.append(part)
            } else if parts.popLast() == nil {
                return nil
            }
        }
        return parts.joined(separator: "/")
    }
}
