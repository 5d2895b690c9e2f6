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
        let parts = path.split(separator: "/")
        guard let last = parts.last else { return false }
        return parts[0] == "__MACOSX" || last == ".DS_Store" || last.hasPrefix("._") || last == "Thumbs.db"
            || last == "desktop.ini"
    }

    /// The path without a `/` at its end.
    var trimmed: Substring {
        path.hasSuffix("/") ? path.dropLast() : path[...]
    }

    /// Why a path must not be used; `nil` where it may.
    var fault: String? {
        if path.utf8.first == UInt8(ascii: "/") { return "the path is absolute" }
        var isFirst = true
        for part in trimmed.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            if part.isEmpty { return isFirst ? "the path is empty" : "the path has an empty part" }
            if part.elementsEqual("..".utf8) { return "the path climbs out of the archive" }
            if part.elementsEqual(".".utf8) { return "the path has a part that is only a dot" }
            if part.contains(0) { return "the path has a zero byte" }
            isFirst = false
        }
        return nil
    }
}
