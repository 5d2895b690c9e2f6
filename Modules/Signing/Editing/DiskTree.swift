import FerryAppBundle
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Files that are to be put into an app, read from the disk.
enum DiskTree {
    /// A file or link below what was asked for.
    struct Item: Sendable {
        /// From what was asked for; empty for that itself.
        let path: String
        let content: Overlay.Content
        let permissions: UInt16
    }

    /// The most files in one folder that is added.
    static let itemLimit = 100_000
    /// The most bytes that are added at once: they are held in memory.
    static let byteLimit = 2 << 30
    private static let depthLimit = 64

    /// What is there: one file, or everything in a folder, by name; what a Mac leaves behind is passed over.
    static func read(_ path: String) throws(FileFailure) -> [Item] {
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileFailure("open", path, errorNumber: errno) }
        var walk = Walk(root: path)
        if status.st_mode & S_IFMT == S_IFDIR {
            try walk.folder(path, below: "", depth: 0)
        } else {
            try walk.file(path, below: "", status)
        }
        return walk.items
    }

    private struct Walk {
        let root: String
        var items: [Item] = []
        var byteCount = 0

        mutating func folder(_ path: String, below: String, depth: Int) throws(FileFailure) {
            guard depth <= DiskTree.depthLimit else { throw FileFailure("read", path, errorNumber: ELOOP) }
            for name in try Self.names(in: path) where !BundlePath.isJunk(name) {
                let inner = path + "/" + name
                let place = below.isEmpty ? name : below + "/" + name
                var status = stat()
                guard lstat(inner, &status) == 0 else { throw FileFailure("open", inner, errorNumber: errno) }
                switch status.st_mode & S_IFMT {
                case S_IFDIR: try folder(inner, below: place, depth: depth + 1)
                case S_IFLNK: try link(inner, below: place)
                default: try file(inner, below: place, status)
                }
            }
        }

        mutating func file(_ path: String, below: String, _ status: stat) throws(FileFailure) {
            let bytes = try WholeFile.read(path, limit: DiskTree.byteLimit - byteCount)
            byteCount += bytes.count
            let permissions = UInt16(truncatingIfNeeded: status.st_mode & 0o777)
            try add(Item(path: below, content: .file(bytes), permissions: permissions), path)
        }

        private mutating func link(_ path: String, below: String) throws(FileFailure) {
            let target = try linkTarget(path)
            // One that leads out of the folder would lead to another place on the device, or out of the app.
            guard linkStays(target, below: below.pathParts.count - 1) else {
                throw FileFailure("follow", path, errorNumber: EXDEV)
            }
            try add(Item(path: below, content: .link(target), permissions: 0o777), path)
        }

        private mutating func add(_ item: Item, _ path: String) throws(FileFailure) {
            guard items.count < DiskTree.itemLimit else { throw FileFailure("read", root, errorNumber: EFBIG) }
            items.append(item)
        }

        private static func names(in path: String) throws(FileFailure) -> [String] {
            let names = try folderNames(path, limit: DiskTree.itemLimit)
            return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }
}
