/// One entry of the archive that an app comes in.
public struct BundlePath: Sendable, Hashable {
    /// The path from the archive's root, with `/` between its parts and, for folders, perhaps at its end.
    public let path: String
    /// Whether it is a folder.
    public let isDirectory: Bool
    /// Whether it is a symbolic link.
    public let isSymbolicLink: Bool

    /// An entry; by default a regular file.
    public init(path: String, isDirectory: Bool = false, isSymbolicLink: Bool = false) {
        self.path = path
        self.isDirectory = isDirectory
        self.isSymbolicLink = isSymbolicLink
    }

    /// Whether a path is what a Mac or Windows leaves behind, which no app misses: `.DS_Store`, `__MACOSX/…`, `._x`.
    public static func isJunk(_ path: String) -> Bool {
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }
        guard let first = parts.first, let last = parts.last else { return false }
        return first == "__MACOSX" || last == ".DS_Store" || last.hasPrefix("._") || last == "Thumbs.db"
            || last == "desktop.ini"
    }

    /// The path without a `/` at its end.
    var trimmed: Substring {
        path.utf8.last == UInt8(ascii: "/") ? Substring(path.utf8.dropLast()) : path[...]
    }

    /// Why a path must not be used; `nil` where it may.
    var fault: String? {
        var path = path
        return path.withUTF8 { bytes in
            if bytes.isEmpty { return "the path is empty" }
            if bytes[0] == UInt8(ascii: "/") { return "the path is absolute" }
            var start = 0
            for end in 0...bytes.count where end == bytes.count || bytes[end] == UInt8(ascii: "/") {
                // A folder's path may end in a slash.
                if end == bytes.count, start == end { break }
                if let fault = Self.fault(ofName: bytes[start..<end]) { return fault }
                start = end + 1
            }
            return nil
        }
    }

    private static func fault(ofName name: Slice<UnsafeBufferPointer<UInt8>>) -> String? {
        if name.isEmpty { return "the path has an empty part" }
        if name.contains(0) { return "the path has a zero byte" }
        guard name.count <= 2, name.allSatisfy({ $0 == UInt8(ascii: ".") }) else { return nil }
        return name.count == 1 ? "the path has a part that is only a dot" : "the path climbs out of the archive"
    }
}

/// Paths by their bytes: a `/` that a combining mark follows parts two names all the same.
extension Substring {
    private static var slash: UInt8 { UInt8(ascii: "/") }

    /// The folder that this path lies in; `nil` for one at the top.
    var folder: Substring? {
        utf8.lastIndex(of: Self.slash).map { self[..<$0] }
    }

    /// The last name of this path.
    var lastName: Substring {
        utf8.lastIndex(of: Self.slash).map { self[utf8.index(after: $0)...] } ?? self
    }

    /// The first name of this path, and what comes after it; `nil` where nothing does.
    var splitAtFirstName: (first: Substring, rest: Substring?) {
        guard let slash = utf8.firstIndex(of: Self.slash) else { return (self, nil) }
        return (self[..<slash], self[utf8.index(after: slash)...])
    }
}
