import FerryBytes

/// The folders and files that the names of an archive make, to find two that want one place.
///
/// Names are compared as Swift compares text: `ü` in one code point and in two is one name, as on Apple's file
/// systems. Work and memory grow with the bytes of the names, however deep they nest.
struct PathTree: Sendable {
    private struct Step: Hashable {
        let folder: Int
        let name: String
    }

    private enum Node {
        /// A folder that only the names of others speak of.
        case implied
        case folder(Int)
        case file(Int)
        case link(Int)
    }

    private var nodes: [Node] = [.implied]
    private var children: [Step: Int] = [:]
    /// Entries of one folder mostly follow each other: where the last one was put.
    private var lastFolder = ""
    private var lastFolderNode: Int = 0

    init(entryCount: Int) {
        nodes.reserveCapacity(entryCount)
        children.reserveCapacity(entryCount)
    }

    /// Puts an entry into its place.
    mutating func insert(_ entry: ZipEntry, of entries: [ZipEntry]) throws(ZipError) {
        let path = entry.name.utf8.last == UInt8(ascii: "/") ? entry.name.dropLast() : entry.name[...]
        var folder: Int = 0
        var name = path
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
            name = path[path.utf8.index(after: slash)...]
            let above = path[..<slash]
            if above == lastFolder {
                folder = lastFolderNode
            } else {
                for part in above.pathParts {
                    folder = try step(into: part, of: folder, for: entry, of: entries)
                }
                lastFolder = String(above)
                lastFolderNode = folder
            }
        }
        let own: Node =
            entry.isDirectory ? .folder(entry.index) : entry.isSymbolicLink ? .link(entry.index) : .file(entry.index)
        let key = Step(folder: folder, name: String(name))
        guard let place = children[key] else {
            children[key] = nodes.count
            nodes.append(own)
            return
        }
        switch nodes[place] {
        case .implied where entry.isDirectory:
            nodes[place] = own
        case .implied:
            throw entry.isSymbolicLink
                ? ZipError(.escapingLink, entry: entry.name, "Other entries lie beneath this symbolic link.")
                : ZipError(.duplicateName, entry: entry.name, "The name is a file's and a folder's at once.")
        case .folder(let other), .file(let other), .link(let other):
            throw ZipError(
                .duplicateName,
                entry: entry.name,
                "The archive has this name twice, as entries \(other + 1) and \(entry.index + 1), so that readers would differ."
            )
        }
    }

    /// A folder or file that a name speaks of.
    struct Place {
        fileprivate let node: Int

        /// The folder that the archive is unpacked to.
        static let root = Place(node: 0)
    }

    /// What is called `name` in a folder; `nil` where there is nothing, or no folder.
    func child(_ name: String, of place: Place?) -> Place? {
        guard let place, let node = children[Step(folder: place.node, name: name)] else { return nil }
        return Place(node: node)
    }

    /// The entry at a place; `nil` for a folder that has none.
    func index(at place: Place) -> Int? {
        switch nodes[place.node] {
        case .implied: nil
        case .folder(let index), .file(let index), .link(let index): index
        }
    }

    /// The entry of this name, a folder's with or without its last slash.
    func index(of path: String) -> Int? {
        var place: Place? = .root
        for part in path.pathParts {
            place = child(part, of: place)
        }
        return place.flatMap { index(at: $0) }
    }

    private mutating func step(
        into name: String,
        of folder: Int,
        for entry: ZipEntry,
        of entries: [ZipEntry]
    ) throws(ZipError) -> Int {
        let key = Step(folder: folder, name: name)
        guard let place = children[key] else {
            let place = nodes.count
            children[key] = place
            nodes.append(.implied)
            return place
        }
        switch nodes[place] {
        case .implied, .folder: return place
        case .file(let other):
            throw ZipError(
                .duplicateName,
                entry: entries[other].name,
                "The name is a file's and, for \(ZipError.shown(entry.name)), a folder's at once."
            )
        case .link(let other):
            throw ZipError(
                .escapingLink,
                entry: entry.name,
                "The entry lies beneath the symbolic link \(ZipError.shown(entries[other].name))."
            )
        }
    }
}
