import FerryAppBundle
import FerryBytes
import FerryZip

/// A file that may be the icon of an archive's app.
public struct ArchiveIcon: Sendable, Hashable {
    /// Its path in the archive.
    public let path: String
    /// The file: a PNG, as a rule crushed by Xcode. Nothing of it was checked.
    public let png: [UInt8]

    /// How many are read.
    public static let maximumCount = 4
    /// Larger files are passed over.
    public static let maximumBytes = 4 << 20

    /// The files that may be it, best first; empty where the app has none or only some in `Assets.car`.
    ///
    /// Reads the archive's directory, the app's Info.plist and those files, and blocks meanwhile. What is wrong with
    /// anything else in the archive does not matter; a file that is damaged is left out.
    public static func candidates(in archive: String) throws(SignError) -> [ArchiveIcon] {
        do {
            return try read(archive)
        } catch {
            throw SignError(wrapping: error, .input, archive)
        }
    }

    private static func read(_ archive: String) throws -> [ArchiveIcon] {
        let source = try FileSource(path: archive)
        let directory = try ZipDirectory(source)
        let inflater = Inflater()
        let tree = try OpenedArchive.appTree(directory, source, inflater)
        let app = tree.root.path + "/"
        let files = directory.entries.lazy.filter { entry in
            !entry.isDirectory && !entry.isSymbolicLink && entry.uncompressedSize <= maximumBytes
                && entry.name.beginsExactly(with: app)
        }.map { String(decoding: $0.name.utf8.dropFirst(app.utf8.count), as: UTF8.self) }
        return tree.root.info.iconFiles(among: files).prefix(maximumCount).compactMap { name in
            guard let entry = directory.entry(named: app + name),
                let png = try? inflater.contents(of: entry, in: source)
            else { return nil }
            return ArchiveIcon(path: entry.name, png: png)
        }
    }
}
