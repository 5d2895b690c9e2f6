/// An archive made from nothing: samples and tests.
package struct ZipBuilder: Sendable {
    /// What was added, in order; ready for ``writeArchive(_:from:to:path:comment:progress:)`` without a source.
    package private(set) var items: [OutputItem] = []
    /// The date that all entries get.
    package var modified: DOSDateTime

    /// An empty archive; its entries get the date `modified`.
    package init(modified: DOSDateTime = .earliest) {
        self.modified = modified
    }

    /// Adds a file; `mode` holds its permissions.
    package mutating func addFile(_ name: String, _ bytes: [UInt8], mode: UInt16 = 0o644, level: Int = 6) {
        add(name, Format.Kind.file | mode & 0o7777, Deflate.encode(bytes, level: level))
    }

    /// Adds a folder; the slash at the end of its name may be left out.
    package mutating func addFolder(_ name: String, mode: UInt16 = 0o755) {
        let name = name.hasSuffix("/") ? name : name + "/"
        add(name, Format.Kind.folder | mode & 0o7777, Deflate.encode([], level: 0))
    }

    /// Adds a symbolic link.
    package mutating func addLink(_ name: String, to target: String) {
        add(name, Format.Kind.link | 0o777, Deflate.encode(Array(target.utf8), level: 0))
    }

    /// Adds an entry with any mode and any packed contents.
    package mutating func add(_ name: String, _ mode: UInt16, _ encoded: EncodedEntry) {
        items.append(.new(name: name, mode: mode, encoded, modified: modified))
    }

    /// The archive.
    package func bytes(comment: [UInt8] = []) throws -> [UInt8] {
        try archiveBytes(items, comment: comment)
    }
}
