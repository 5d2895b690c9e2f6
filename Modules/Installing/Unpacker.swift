import FerryBytes
import FerryZip

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Writes entries of a checked archive into a new folder.
///
/// The directory was checked: no name climbs out, none is there twice, and nothing lies beneath a link. Links are made
/// last all the same, so that no file can be written through one.
struct Unpacker {
    let source: FileSource
    /// What the names begin with and the files do not.
    let prefix: String
    private let inflater = Inflater()
    private var folders: Set<String> = []
    private var links: [(name: String, target: String)] = []

    init(source: FileSource, prefix: String) {
        self.source = source
        self.prefix = prefix
    }

    /// Writes one entry; `tell` is told of bytes as they are written.
    mutating func unpack(_ entry: ZipEntry, below folder: String, tell: (Int) -> Void) throws {
        let name = entry.name.dropping(prefix)
        if entry.isDirectory {
            try makeFolders(name.utf8.last == UInt8(ascii: "/") ? String(name.dropLast()) : name, below: folder)
            return
        }
        if let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) {
            try makeFolders(String(decoding: name.utf8[..<slash], as: UTF8.self), below: folder)
        }
        if entry.isSymbolicLink {
            links.append((name, String(decoding: try inflater.contents(of: entry, in: source), as: UTF8.self)))
            return
        }
        let path = folder + "/" + name
        let isExecutable = (entry.unixMode ?? 0) & 0o111 != 0
        let descriptor = open(
            path,
            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
            isExecutable ? 0o755 : 0o644
        )
        guard descriptor >= 0 else { throw FileFailure("create", path, errorNumber: errno) }
        defer { close(descriptor) }
        try inflater.read(entry, in: source) { chunk in
            try Task.checkCancellation()
            try Self.write(chunk, to: descriptor, path)
            tell(chunk.count)
        }
        // Whatever the umask says: a device's files are for everybody to read.
        fchmod(descriptor, isExecutable ? 0o755 : 0o644)
    }

    /// Makes the links that were met.
    func makeLinks(below folder: String) throws(FileFailure) {
        for link in links {
            let path = folder + "/" + link.name
            guard symlink(link.target, path) == 0 else { throw FileFailure("create", path, errorNumber: errno) }
        }
    }

    private mutating func makeFolders(_ name: String, below folder: String) throws(FileFailure) {
        guard !name.isEmpty, folders.insert(name).inserted else { return }
        if let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) {
            try makeFolders(String(decoding: name.utf8[..<slash], as: UTF8.self), below: folder)
        }
        let path = folder + "/" + name
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
            throw FileFailure("create", path, errorNumber: errno)
        }
        chmod(path, 0o755)
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ path: String) throws(FileFailure)
    {
        var done = 0
        while done < bytes.count, let base = bytes.baseAddress {
            #if canImport(Darwin)
            let wrote = Darwin.write(descriptor, base + done, bytes.count - done)
            #else
            let wrote = Glibc.write(descriptor, base + done, bytes.count - done)
            #endif
            if wrote < 0 {
                if errno == EINTR { continue }
                throw FileFailure("write", path, errorNumber: errno)
            }
            done += wrote
        }
    }
}
