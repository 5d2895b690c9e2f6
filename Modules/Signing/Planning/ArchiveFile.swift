import FerryBytes
import FerryZip

/// One entry of the archive as it will be: an old one as it lies, an old one with other bytes, or a new one.
struct ArchiveFile: Sendable {
    /// What is not as it lies in the archive.
    private final class Change: Sendable {
        let name: String
        let content: Overlay.Content
        /// Kind and permissions; `nil` for those of the old entry.
        let mode: UInt16?

        init(name: String, content: Overlay.Content, mode: UInt16?) {
            self.name = name
            self.content = content
            self.mode = mode
        }
    }

    /// The old entry whose place it has; `nil` for a new one.
    let entry: ZipEntry?
    /// No other has it: that of the old entry; new ones are counted on from there.
    let index: Int
    private let change: Change?

    /// An old entry as it lies.
    init(_ entry: ZipEntry) {
        self.entry = entry
        index = entry.index
        change = nil
    }

    /// An old entry with other bytes.
    init(_ entry: ZipEntry, bytes: [UInt8]) {
        self.entry = entry
        index = entry.index
        change = Change(name: entry.name, content: .file(bytes), mode: nil)
    }

    /// A new entry, or one in an old one's place.
    init(_ addition: Overlay.Addition, over entry: ZipEntry?, index: Int) {
        self.entry = entry
        self.index = index
        let mode: UInt16 =
            switch addition.content {
            case .file: 0o100000 | addition.permissions & 0o777
            case .link: 0o120777
            }
        change = Change(name: addition.name.text, content: addition.content, mode: mode)
    }

    /// Its path in the archive.
    var name: String { change?.name ?? entry?.name ?? "" }

    /// What it holds, where that is not what lies in the archive.
    var newContent: Overlay.Content? { change?.content }

    /// Whether it is a folder.
    var isDirectory: Bool { change == nil && entry?.isDirectory == true }

    /// Whether it is a symbolic link.
    var isSymbolicLink: Bool {
        if case .link? = change?.content { return true }
        return change == nil && entry?.isSymbolicLink == true
    }

    /// How many bytes it unpacks to.
    var size: Int { change?.content.bytes.count ?? entry?.uncompressedSize ?? 0 }

    /// Kind and permissions, as wished or as they were; `nil` where nobody says.
    var mode: UInt16? { change?.mode ?? entry?.unixMode }

    /// All its bytes; those of a link are its target.
    func bytes(in source: FileSource, _ inflater: Inflater) throws -> [UInt8] {
        if let change { return change.content.bytes }
        return try entry.map { try inflater.contents(of: $0, in: source) } ?? []
    }

    /// Its first bytes, fewer where it has no more.
    func prefix(_ count: Int, in source: FileSource, _ inflater: Inflater) throws -> [UInt8] {
        if let change { return Array(change.content.bytes.prefix(count)) }
        return try entry.map { try inflater.prefix(of: $0, count: count, in: source) } ?? []
    }
}
