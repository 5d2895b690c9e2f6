import FerryActivity
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Signed archives that are kept for a while, to be fetched and checked.
struct ArchiveFolder: Sendable {
    let path: String
    let limits: ControlLimits

    /// Where that of an install goes: always the same place, so that the next process finds it.
    func path(of id: InstallID) -> String { path + "/" + id.rawValue + ".ipa" }

    /// Whether that of an install is still kept.
    func has(_ id: InstallID) -> Bool { access(path(of: id), R_OK) == 0 }

    /// Removes those that are too old or too many, the oldest first.
    ///
    /// - Parameter now: seconds since 1970.
    func sweep(at now: Double) {
        let files = ((try? folderNames(path)) ?? []).filter { $0.hasSuffix(".ipa") }.compactMap { name in
            var status = stat()
            let file = path + "/" + name
            return stat(file, &status) == 0 ? (file: file, time: Double(status.modified.tv_sec)) : nil
        }.sorted { $0.time > $1.time }
        for (index, entry) in files.enumerated() where index >= limits.archives || now - entry.time > limits.archiveAge
        {
            removeFile(entry.file)
        }
    }
}
