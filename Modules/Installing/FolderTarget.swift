import FerryAppBundle
import FerryBytes
import FerryZip

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A folder of apps: `FOLDER/BUNDLE.ID/Name.app`, as in a device's container folder.
///
/// An app is unpacked beside its place and then put there in one step, so a reader finds the old or the new version, and
/// a kill at any instant leaves one of them. What such a kill leaves of the work is swept by the next install.
public struct FolderTarget: InstallTarget {
    /// The folder; made where it is missing.
    public let folder: String

    /// `folder:` and the path.
    public var name: String { "folder:" + folder }

    /// Installs to a folder.
    public init(folder: String) {
        let trimmed = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
        self.folder = trimmed
    }

    /// Unpacks the app and puts it in the place of an older one.
    public func install(
        _ path: String,
        tell: @escaping @Sendable (InstallEvent) -> Void
    ) async throws(InstallError) -> InstalledApp {
        do {
            return try await place(path, tell)
        } catch {
            throw InstallError(wrapping: error, archive: path)
        }
    }

    private func place(_ path: String, _ tell: (InstallEvent) -> Void) async throws -> InstalledApp {
        let source = try FileSource(path: path)
        let directory = try ZipDirectory(source)
        try directory.checkLinks(in: source)
        let app = try Self.app(in: directory, source)
        let entries = directory.entries.filter { entry in
            entry.name.beginsExactly(with: app.path + "/") && !BundlePath.isJunk(entry.name)
        }
        try makeFolders(folder, permissions: 0o755)
        let total = entries.reduce(0) { $0 + $1.uncompressedSize }
        try checkRoom(for: total)
        WorkFolder.sweep(in: folder)
        let work = try WorkFolder(in: folder)
        var unpacker = Unpacker(source: source, prefix: "Payload/")
        var meter = PercentMeter(total: total)
        for entry in entries {
            try Task.checkCancellation()
            try unpacker.unpack(entry, below: work.path) { bytes in
                if let completed = meter.add(bytes) {
                    tell(.progress(completed: completed, total: total))
                }
            }
            // Gives the thread back between files: unpacking is no reason to stop other tasks.
            await Task.yield()
        }
        try unpacker.makeLinks(below: work.path)
        try Task.checkCancellation()
        let isUpdate = try work.put(at: folder + "/" + app.identifier)
        return InstalledApp(
            identifier: app.identifier,
            location: folder + "/" + app.identifier + "/" + app.path.dropping("Payload/"),
            isUpdate: isUpdate
        )
    }

    private static func app(
        in directory: ZipDirectory,
        _ source: FileSource
    ) throws -> (path: String, identifier: String) {
        let inflater = Inflater()
        let tree = try BundleTree(
            paths: directory.entries.map {
                BundlePath(path: $0.name, isDirectory: $0.isDirectory, isSymbolicLink: $0.isSymbolicLink)
            },
            readInfoPlist: { path in
                guard let entry = directory.entry(named: path), entry.uncompressedSize <= 16 << 20 else {
                    throw FileFailure("read", path, errorNumber: ENOENT)
                }
                return try inflater.contents(of: entry, in: source)
            }
        )
        if let problem = tree.problems().first { throw problem }
        guard let identifier = tree.root.identifier else {
            throw InstallError(.archive, "\(tree.root.path): the app has no bundle identifier.")
        }
        // It becomes a folder's name, and hidden ones are those that are swept.
        guard !identifier.beginsExactly(with: ".") else {
            throw InstallError(
                .archive,
                "\(tree.root.path): the bundle identifier “\(identifier)” begins with a dot.",
                remedy: "Get the app again, or sign it with another --bundle-id."
            )
        }
        return (tree.root.path, identifier)
    }

    private func checkRoom(for bytes: Int) throws {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return }
        let free = Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue
        )
        guard bytes > free else { return }
        throw InstallError(
            .room,
            "\(folder): the app needs \(bytes) bytes, but only \(free) are free.",
            remedy: "Make room on the disk, or choose another folder."
        )
    }
}

/// Counts bytes and says when another percent is full.
struct PercentMeter {
    let total: Int
    private var completed = 0
    private var percent = -1

    init(total: Int) {
        self.total = total
    }

    /// The bytes so far, where that is a percent more than was said last.
    mutating func add(_ bytes: Int) -> Int? {
        completed += bytes
        let now = total > 0 ? Int(Double(completed) / Double(total) * 100) : 100
        guard now > percent else { return nil }
        percent = now
        return completed
    }
}
