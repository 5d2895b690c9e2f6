import FerryAppBundle
import FerryBytes
import FerryZip

/// What an archive's app calls itself in its Info.plist.
public struct ArchiveIdentity: Sendable, Hashable {
    /// Its bundle identifier; `nil` where it has none, or its Info.plist cannot be read.
    public let identifier: String?
    /// Its `CFBundleShortVersionString`.
    public let version: String?
    /// Its `CFBundleVersion`.
    public let build: String?

    /// Reads the archive's directory and the app's Info.plist, and blocks meanwhile; what is wrong with anything else in it
    /// does not matter.
    ///
    /// - Parameter name: what messages call the archive; `nil` for its path.
    public init(of archive: String, name: String? = nil) throws(SignError) {
        do {
            let source = try FileSource(path: archive)
            let directory = try ZipDirectory(source)
            let tree = try OpenedArchive.appTree(directory, source, Inflater())
            (identifier, version, build) = (tree.root.identifier, tree.root.info.version, tree.root.info.build)
        } catch {
            throw SignError(wrapping: error, .input, archive, name: name)
        }
    }
}
