import FerryAppBundle
import FerryBytes
import FerryZip

/// An archive that was opened and found to hold an app, before anything is changed.
struct OpenedArchive: Sendable {
    let source: FileSource
    let directory: ZipDirectory
    let tree: BundleTree

    /// Reads the directory and the Info.plists.
    init(_ path: String) throws {
        source = try FileSource(path: path)
        directory = try ZipDirectory(source)
        try directory.checkLinks(in: source)
        let (source, directory) = (source, directory)
        let inflater = Inflater()
        tree = try BundleTree(
            paths: directory.entries.map {
                BundlePath(path: $0.name, isDirectory: $0.isDirectory, isSymbolicLink: $0.isSymbolicLink)
            },
            readInfoPlist: { path in
                try Self.small(path, directory.entry(named: path).map(ArchiveFile.init), source, inflater)
            }
        )
    }

    /// The largest Info.plist that is believed, and text of its kind.
    static let smallLimit = 16 << 20

    /// Whether the path is `Payload/NAME.app/Info.plist`, and no extension's.
    static func isInfoPlistOfApp(_ path: String) -> Bool {
        path.utf8.count { $0 == UInt8(ascii: "/") } == 2
    }

    /// Why an Info.plist is not read.
    struct NotNeeded: Error {}

    /// The bundles of an archive, of which only the app's own Info.plist is read, for a look at the app alone.
    static func appTree(_ directory: ZipDirectory, _ source: FileSource, _ inflater: Inflater) throws -> BundleTree {
        try BundleTree(
            paths: directory.entries.map {
                BundlePath(path: $0.name, isDirectory: $0.isDirectory, isSymbolicLink: $0.isSymbolicLink)
            },
            readInfoPlist: { path in
                guard isInfoPlistOfApp(path) else { throw NotNeeded() }
                return try small(path, directory.entry(named: path).map(ArchiveFile.init), source, inflater)
            }
        )
    }

    private struct TooLarge: Error, CustomStringConvertible {
        let size: Int
        var description: String { "It has \(size) bytes, more than any real one (\(smallLimit))." }
    }

    /// The bytes of an Info.plist, or of something of its kind.
    static func small(
        _ path: String,
        _ file: ArchiveFile?,
        _ source: FileSource,
        _ inflater: Inflater
    ) throws -> [UInt8] {
        guard let file else { throw FileFailure("find", path, errorNumber: 2) }
        guard file.size <= smallLimit else { throw TooLarge(size: file.size) }
        return try file.bytes(in: source, inflater)
    }
}
