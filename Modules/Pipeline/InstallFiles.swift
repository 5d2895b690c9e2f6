public import FerryActivity
import FerryBytes
import FerryDownload
public import FerryRecord

/// The files of installs that a record knows: each has names of its own, made of its id, in two folders.
///
/// No two installs share one, whatever their sources and apps are called; and whoever knows an id, as one who cancels an
/// install that no process runs, finds all that belongs to it.
public struct InstallFiles: Sendable {
    /// What all names begin with.
    static let prefix = "job-"

    /// Where archives lie on their way.
    public let workFolder: String
    /// Where the downloader keeps partial files: its configuration's `stateFolder`.
    public let partialFolder: String

    /// Names files in these folders.
    public init(workFolder: String, partialFolder: String) {
        self.workFolder = workFolder
        self.partialFolder = partialFolder
    }

    /// The path of an install's archives, without an extension.
    func path(_ id: InstallID) -> String { workFolder + "/" + partialName(id) }

    /// What an install's partial file is called.
    func partialName(_ id: InstallID) -> String { Self.prefix + id.rawValue }

    /// Removes the archives of an install that is over; with `partial`, also what has arrived of its download.
    public func remove(_ id: InstallID, partial: Bool = true) {
        // Signed archives are written without a name, or with a hidden one that is theirs alone.
        for ending in [".ipa", ".signed.ipa"] { removeFile(path(id) + ending) }
        if partial { PartialFiles.remove(partialName(id), in: partialFolder) }
    }

    /// Removes what killed processes left of installs that have ended, or that the record has forgotten.
    ///
    /// Those of one that failed stay, for it may be tried again at this very moment.
    public func sweep(_ record: some InstallRecord) async throws(RecordError) {
        // In this order: what is there now belongs to an install that was in the record before.
        let archives = Set(((try? folderNames(workFolder)) ?? []).compactMap { Self.id(of: $0) })
        let partials = Set(PartialFiles.names(in: partialFolder).compactMap { Self.id(of: $0) })
        guard !archives.isEmpty || !partials.isEmpty else { return }
        let installs = try await record.installs(all: true)
        let open = Set(installs.filter { $0.outcome == nil || $0.outcome?.failure != nil }.map(\.id))
        for id in archives.union(partials).subtracting(open) { remove(id) }
    }

    private static func id(of name: String) -> InstallID? {
        guard name.hasPrefix(prefix) else { return nil }
        return InstallID(String(name.dropFirst(prefix.count).prefix { $0 != "." }))
    }
}
