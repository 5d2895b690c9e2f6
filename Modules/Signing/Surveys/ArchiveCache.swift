import FerryBytes
import FerryCodeSignature
import FerryZip

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What is known of archives that were signed before, in a folder: one file an archive.
///
/// A file is named after the archive's length and central directory, but that alone is not believed: the archive must be the
/// very file that was read then (device, inode, length, times), or have its SHA-256. The digest is made where it may pay
/// off, for an archive that is met a second time as another file, and taken where a download made it.
///
/// Any number of processes may share the folder. A file appears as a whole, and what is damaged is none. It can be removed
/// at any time.
public struct ArchiveCache: Sendable {
    /// Where the files are.
    public let folder: String
    /// How many bytes they may take together; the ones that were not used for longest go first.
    public let limit: Int

    /// The standard ``limit``: about three hundred apps.
    public static let standardLimit = 256 << 20
    /// The largest file that is read.
    private static let fileLimit = 64 << 20
    private static let ending = ".survey"

    /// How old a file's last change must be in seconds for its times to tell it from the next change: whoever writes to
    /// it in the same instant as it was read changes none of them.
    private let settling: Int64

    /// Keeps files in `folder`, which is made when the first one is kept.
    public init(folder: String, limit: Int = ArchiveCache.standardLimit) {
        self.init(folder: folder, limit: limit, settling: 2)
    }

    init(folder: String, limit: Int = ArchiveCache.standardLimit, settling: Int64) {
        self.folder = folder
        self.limit = limit
        self.settling = settling
    }

    /// What was found of an archive, to be given back with what was learnt.
    struct Look: Sendable {
        let path: String
        /// What the file says, whether or not it is of the same archive.
        let saved: SavedSurvey?
        /// Whether it is.
        let isKnown: Bool
        /// The archive's SHA-256, where anybody had to know it.
        let sha256: [UInt8]?

        /// What can be used.
        var survey: ArchiveSurvey? { isKnown ? saved?.survey : nil }
    }

    /// Looks an archive up.
    ///
    /// - Parameter sha256: its digest, where that is known.
    func look(_ source: FileSource, _ directory: ZipDirectory, sha256: [UInt8]?) -> Look {
        var name = Array(directory.bytes)
        name.append(UInt64(source.count), .little)
        let path = folder + "/" + HashAlgorithm.sha256.digest(name).hex + Self.ending
        guard let bytes = try? WholeFile.read(path, limit: Self.fileLimit),
            let saved = SavedSurvey(bytes, of: directory)
        else { return Look(path: path, saved: nil, isKnown: false, sha256: sha256) }
        if saved.identities.contains(source.identity) {
            return Look(path: path, saved: saved, isKnown: true, sha256: saved.sha256)
        }
        let digest = try? sha256 ?? HashAlgorithm.sha256.digest(of: source)
        return Look(path: path, saved: saved, isKnown: digest != nil && digest == saved.sha256, sha256: digest)
    }

    /// Keeps what was learnt of an archive. A cache that cannot be written is none.
    ///
    /// - Parameter survey: all that is known; `nil` for what was known before.
    func keep(_ survey: ArchiveSurvey?, of source: FileSource, _ look: Look) {
        let isSame = look.isKnown && survey == nil
        if isSame, look.saved?.identities.contains(source.identity) == true {
            utimensat(AT_FDCWD, look.path, nil, 0)
            return
        }
        guard let survey = survey ?? look.survey, (try? makeFolders(folder)) != nil,
            let file = try? NewFile(path: look.path, permissions: 0o600),
            let now = try? FileSource(duplicating: file.descriptor, path: look.path).statusChanged
        else { return }
        var identities = look.isKnown ? look.saved?.identities ?? [] : []
        if source.statusChanged + settling <= now {
            identities.removeAll { $0 == source.identity }
            identities.insert(source.identity, at: 0)
        }
        guard !identities.isEmpty || look.sha256 != nil else { return }
        let saved = SavedSurvey(identities: identities, sha256: look.sha256, survey: survey)
        let bytes = saved.encoded
        guard bytes.count <= Self.fileLimit, (try? file.write(bytes)) != nil, (try? file.commit(syncs: false)) != nil
        else {
            return
        }
        prune()
    }

    /// Removes what turned out to be wrong.
    func forget(_ look: Look) {
        unlink(look.path)
    }
}

extension ArchiveCache {
    /// How many archives are known, and how many bytes that takes.
    public var usage: (count: Int, bytes: Int) {
        let files = files()
        return (files.count, files.reduce(0) { $0 + $1.bytes })
    }

    /// Forgets everything; gives what there was.
    @discardableResult
    public func clear() -> (count: Int, bytes: Int) {
        let files = files()
        for file in files { unlink(file.path) }
        return (files.count, files.reduce(0) { $0 + $1.bytes })
    }

    /// Removes the files that were not used for longest, until the others are within the limit.
    private func prune() {
        let files = files()
        var total = files.reduce(0) { $0 + $1.bytes }
        for file in files.sorted(by: { $0.used < $1.used }) where total > limit {
            unlink(file.path)
            total -= file.bytes
        }
    }

    private func files() -> [(path: String, bytes: Int, used: Int64)] {
        ((try? folderNames(folder)) ?? []).filter { $0.hasSuffix(Self.ending) }.compactMap { name in
            var status = stat()
            guard lstat(folder + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            let used = status.modified
            return (folder + "/" + name, Int(status.st_size), Int64(used.tv_sec) * 1_000_000_000 + Int64(used.tv_nsec))
        }
    }
}
