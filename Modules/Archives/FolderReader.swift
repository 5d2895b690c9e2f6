import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads a folder with all below it into memory, never through a symbolic link.
struct FolderReader {
    private let limits: ArchiveLimits
    private var collection: FileCollection

    /// The files below the folder at `path`, their paths beginning with `name`.
    static func files(at path: String, as name: String, limits: ArchiveLimits) throws(ArchiveError) -> [PackedFile] {
        var reader = FolderReader(limits: limits, collection: FileCollection(limits))
        do {
            let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard folder >= 0 else { throw FileFailure("open", path, errorNumber: errno) }
            try reader.walk(folder, at: path, as: name)
        } catch {
            throw .reading(error)
        }
        // By name: the order of a folder is whatever its disk says.
        return reader.collection.files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// Reads a folder that is open, and closes it.
    private mutating func walk(_ folder: Int32, at path: String, as place: String) throws {
        guard let stream = fdopendir(folder) else {
            let number = errno
            close(folder)
            throw FileFailure("read", path, errorNumber: number)
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw FileFailure("read", path, errorNumber: errno) }
                return
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name else { throw ArchiveError(.badName, "\(path.printable): a name is not written in UTF-8.") }
            if name == "." || name == ".." { continue }
            try take(name, in: folder, at: path + "/" + name, as: place + "/" + name)
        }
    }

    private mutating func take(_ name: String, in folder: Int32, at path: String, as place: String) throws {
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw FileFailure("examine", path, errorNumber: errno)
        }
        guard let place = try collection.place(place) else { return }
        let isJunk = PackedFile.isJunk(place.pathParts)
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            let inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard inner >= 0 else { throw FileFailure("open", path, errorNumber: errno) }
            try collection.addFolder(place)
            try walk(inner, at: path, as: place)
        case S_IFLNK:
            if !isJunk { try collection.addLink(place, to: try target(name, in: folder, at: path)) }
        case S_IFREG:
            if isJunk { return }
            let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard file >= 0 else { throw FileFailure("open", path, errorNumber: errno) }
            defer { close(file) }
            let source = try FileSource(duplicating: file, path: path)
            guard source.count <= collection.room else { throw collection.tooLarge(place) }
            let mode = UInt16(truncatingIfNeeded: status.st_mode)
            try collection.add(place, try source.bytes(at: 0, count: source.count), mode: mode)
        default:
            throw ArchiveError(.unsupported, "\(path.printable) is neither a file nor a folder nor a link.")
        }
    }

    private func target(_ name: String, in folder: Int32, at path: String) throws -> String {
        var bytes = [UInt8](repeating: 0, count: limits.pathBytes + 1)
        let count = bytes.withUnsafeMutableBytes { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { readlinkat(folder, name, $0, text.count) } ?? -1
            }
        }
        guard count >= 0 else { throw FileFailure("read", path, errorNumber: errno) }
        bytes.removeLast(bytes.count - count)
        guard let target = String(validating: bytes, as: UTF8.self) else {
            throw ArchiveError(.badName, "\(path.printable): the link's target is not written in UTF-8.")
        }
        return target
    }
}
