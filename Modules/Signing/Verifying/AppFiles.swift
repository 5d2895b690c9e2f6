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

/// The files of an app, wherever they lie: in an archive, or in a folder on the disk.
///
/// Paths are those that an archive has: `Payload/A.app/Info.plist`, also where only a folder `A.app` is there.
struct AppFiles: Sendable {
    /// Where they lie.
    enum Input: Sendable {
        case archive(any ByteSource)
        /// The path of a folder: the app itself, one with `Payload` in it, or one with one app in it.
        case folder(String)
    }

    /// A file, folder or symbolic link.
    struct File: Sendable {
        enum Kind: Sendable {
            case file
            case folder
            case link
        }

        /// From the top of the archive; an archive's folders may have a slash at the end.
        let path: String
        let kind: Kind
        /// Kind and permissions; `nil` where nobody says.
        let mode: UInt16?
        /// How many bytes it unpacks to.
        let size: Int
        /// Which entry of the archive it is; `nil` for one on the disk.
        let entry: ZipEntry?
        /// Where it lies on the disk; empty for one in an archive.
        let diskPath: String
    }

    /// In the archive's order, or by path.
    let files: [File]
    /// How many bytes the archive has, or all files of a folder together.
    let byteCount: Int
    /// What stands before the app's name in paths, and is not there on the disk: `Payload/`; empty for nothing.
    let inventedPrefix: String
    private let place: Place

    private enum Place: Sendable {
        case archive(any ByteSource, ZipDirectory)
        case folder([EntryName: Int])
    }

    /// The largest file that is taken for an Info.plist, a seal or a profile.
    private static let smallLimit = 256 << 20

    /// The largest file that is taken into memory as a whole: code.
    static let codeLimit = 2 << 30

    /// Lists them, and refuses names and links that lead out of their place.
    init(_ input: Input) throws {
        switch input {
        case .archive(let source):
            let directory = try ZipDirectory(source)
            try directory.checkLinks(in: source)
            files = directory.entries.map(File.init)
            byteCount = source.count
            inventedPrefix = ""
            place = .archive(source, directory)
        case .folder(let path):
            let walk = try FolderWalk(of: path)
            files = walk.files
            byteCount = walk.files.reduce(0) { $0 + $1.size }
            inventedPrefix = walk.inventedPrefix
            let named = walk.files.enumerated().map { (EntryName($1.path), $0) }
            place = .folder(Dictionary(named, uniquingKeysWith: { one, _ in one }))
        }
    }

    /// The bundles among them.
    func tree() throws -> BundleTree {
        let inflater = Inflater()
        return try BundleTree(
            paths: files.map {
                BundlePath(path: $0.path, isDirectory: $0.kind == .folder, isSymbolicLink: $0.kind == .link)
            },
            readInfoPlist: { path in try small(path, inflater) ?? [] }
        )
    }

    /// The file of exactly this path.
    func file(at path: String) -> File? {
        switch place {
        case .archive(_, let directory): directory.entry(named: path).map(File.init)
        case .folder(let indexes): indexes[EntryName(path)].map { files[$0] }
        }
    }

    /// A small file's bytes; `nil` where it is not there.
    func small(_ path: String, _ inflater: Inflater) throws -> [UInt8]? {
        guard let file = file(at: path), file.kind != .folder else { return nil }
        guard file.size <= Self.smallLimit else { throw FileFailure("read", path, errorNumber: EFBIG) }
        return try bytes(of: file, inflater)
    }

    /// All bytes of a file, which must be no larger than ``codeLimit``; those of a link are its target.
    func bytes(of file: File, _ inflater: Inflater) throws -> [UInt8] {
        guard file.size <= Self.codeLimit else { throw FileFailure("read", file.path, errorNumber: EFBIG) }
        switch place {
        case .archive(let source, _): return try file.entry.map { try inflater.contents(of: $0, in: source) } ?? []
        case .folder:
            switch file.kind {
            case .link: return Array(try linkTarget(file.diskPath).utf8)
            case .file, .folder: return try WholeFile.read(file.diskPath, limit: Self.codeLimit)
            }
        }
    }

    /// Its first bytes, fewer where it has no more.
    func prefix(_ count: Int, of file: File, _ inflater: Inflater) throws -> [UInt8] {
        switch place {
        case .archive(let source, _):
            return try file.entry.map { try inflater.prefix(of: $0, count: count, in: source) } ?? []
        case .folder:
            let source = try FileSource(path: file.diskPath)
            return try source.bytes(at: 0, count: min(count, source.count))
        }
    }

    /// The bytes that follow a seam in a file of an archive.
    func end(of file: File, after seam: EntrySeam, _ inflater: Inflater) throws -> [UInt8] {
        guard case .archive(let source, _) = place, let entry = file.entry else { return [] }
        return try inflater.end(of: entry, after: seam, in: source)
    }

    /// Hands all bytes of a regular file to `chunk`, in order, with bounded memory.
    func read(_ file: File, _ inflater: Inflater, chunk: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch place {
        case .archive(let source, _):
            guard let entry = file.entry else { return }
            try inflater.read(entry, in: source, chunk: chunk)
        case .folder:
            let source = try FileSource(path: file.diskPath)
            var done = 0
            while done < source.count {
                let piece = try source.bytes(at: done, count: min(1 << 20, source.count - done))
                try piece.withUnsafeBytes { try chunk($0) }
                done += piece.count
            }
        }
    }
}

extension AppFiles.File {
    /// An archive's entry.
    init(_ entry: ZipEntry) {
        path = entry.name
        kind = entry.isDirectory ? .folder : entry.isSymbolicLink ? .link : .file
        mode = entry.unixMode
        size = entry.uncompressedSize
        self.entry = entry
        diskPath = ""
    }
}
