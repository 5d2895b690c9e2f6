import FerryAppBundle
import FerryBytes
import FerryIcons
import FerryInstalling
import FerryZip

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What is known of an archive that is to be offered.
package struct AirApp: Sendable {
    let path: String
    let title: String
    let identifier: String
    let version: String?
    let byteCount: Int
    /// PNGs of 57 and 512 pixels a side.
    let smallIcon: [UInt8]
    let largeIcon: [UInt8]

    /// The largest Info.plist that is read.
    private static let maximumInfoPlistBytes = 16 << 20

    /// Reads the archive at `path`.
    ///
    /// - Parameter icons: The files in it that may be the app's icon, the best first.
    package init(_ path: String, icons: (String) -> [[UInt8]]) throws {
        let source = try FileSource(path: path)
        let directory = try ZipDirectory(source)
        let inflater = Inflater()
        let tree = try BundleTree(
            paths: directory.entries.map {
                BundlePath(path: $0.name, isDirectory: $0.isDirectory, isSymbolicLink: $0.isSymbolicLink)
            },
            readInfoPlist: { path in
                guard let entry = directory.entry(named: path), entry.uncompressedSize <= Self.maximumInfoPlistBytes
                else { throw FileFailure("read", path, errorNumber: ENOENT) }
                return try inflater.contents(of: entry, in: source)
            }
        )
        if let problem = tree.problems().first { throw problem }
        let info = tree.root.info
        guard let identifier = tree.root.identifier else {
            throw InstallError(.archive, "\(path): the app has no bundle identifier, which a phone asks for.")
        }
        self.path = path
        self.identifier = identifier
        title = info.displayName ?? identifier
        version = info.version ?? info.build
        byteCount = source.count
        let sized = icons(path).lazy.compactMap { png -> ([UInt8], [UInt8])? in
            guard let small = try? Icon.square(from: png, side: 57), let large = try? Icon.square(from: png, side: 512)
            else { return nil }
            return (small, large)
        }.first
        (smallIcon, largeIcon) = sized ?? (Icon.drawn(side: 57), Icon.drawn(side: 512))
    }
}
