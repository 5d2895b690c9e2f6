public import FerryAppBundle
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension FolderTarget {
    /// An app in the folder.
    public struct FoundApp: Sendable {
        /// Its path: `FOLDER/BUNDLE.ID/Name.app`.
        public let path: String
        /// Its Info.plist.
        public let info: InfoPlist
    }

    /// The most apps that are looked for.
    public static let maximumAppCount = 100_000
    /// The largest Info.plist that is read.
    private static let maximumInfoPlistBytes = 16 << 20

    /// The apps in the folder, by their identifiers, and what could not be read of it.
    ///
    /// Hidden folders are passed over, as those in which an install is under way are hidden.
    public func apps() throws(InstallError) -> (apps: [FoundApp], problems: [InstallError]) {
        let names: [String]
        do {
            names = try folderNames(folder, limit: Self.maximumAppCount)
        } catch {
            throw InstallError(.target, error.message, remedy: error.remedy)
        }
        var apps: [FoundApp] = []
        var problems: [InstallError] = []
        for name in names.sorted() where !name.hasPrefix(".") {
            let place = folder + "/" + name
            // A file beside the apps is none of ours.
            let inside = (try? folderNames(place, limit: 1000)) ?? []
            for bundle in inside.sorted() where bundle.hasSuffix(".app") && !bundle.hasPrefix(".") {
                let path = place + "/" + bundle
                do {
                    let bytes = try WholeFile.read(path + "/Info.plist", limit: Self.maximumInfoPlistBytes)
                    apps.append(FoundApp(path: path, info: try InfoPlist(bytes: bytes, path: path + "/Info.plist")))
                } catch {
                    let explained = error as? any ExplainedError
                    problems.append(InstallError(.archive, explained?.message ?? "\(error)", remedy: explained?.remedy))
                }
            }
        }
        return (apps, problems)
    }
}
