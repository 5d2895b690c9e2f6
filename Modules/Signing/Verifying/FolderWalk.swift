import FerryAppBundle
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The files of an app on the disk, under the paths that they would have in an archive.
struct FolderWalk {
    /// By path.
    private(set) var files: [AppFiles.File] = []
    /// What the paths have before the app's name that is not on the disk.
    let inventedPrefix: String

    /// The most files that are believed of one app.
    private static let fileLimit = 1_000_000
    private static let depthLimit = 128

    /// What lies there is no app, or has in it what no app has.
    private struct OddFolder: ExplainedError {
        let message: String
        let remedy: String?
    }

    /// A link that leads out of the app.
    struct EscapingLink: ExplainedError {
        let path: String
        let target: String
        var message: String { "\(path): the symbolic link to \(target.printable) leads out of the app." }
        var remedy: String? { "Leave it out, or let it lead to a file of the app." }
    }

    /// Lists the app at `path`, or the one in it.
    init(of path: String) throws {
        let folder = try Self.resolved(path)
        let names = try folderNames(folder, limit: Self.fileLimit)
        let own = Substring(folder).utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
        if own.lowercased().hasSuffix(".app") {
            inventedPrefix = "Payload/"
            try walk(folder, as: "Payload/" + own, depth: 0)
        } else if names.contains("Payload") {
            inventedPrefix = ""
            try walk(folder + "/Payload", as: "Payload", depth: 0)
        } else {
            let apps = names.filter { $0.lowercased().hasSuffix(".app") }.sorted()
            guard apps.count == 1, let app = apps.first else {
                throw OddFolder(
                    message: apps.isEmpty
                        ? "\(path): there is no app in this folder."
                        : "\(path): there are \(apps.count) apps in this folder: "
                            + apps.map(\.printable).joined(separator: ", ") + ".",
                    remedy: "Give the folder of one app: NAME.app."
                )
            }
            inventedPrefix = "Payload/"
            try walk(folder + "/" + app, as: "Payload/" + app, depth: 0)
        }
        files.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// The path without slashes at its end, and with the folder's real name where it ends in a dot.
    private static func resolved(_ path: String) throws(FileFailure) -> String {
        guard let real = realpath(path, nil) else { throw FileFailure("open", path, errorNumber: errno) }
        defer { free(real) }
        return String(cString: real)
    }

    private mutating func walk(_ folder: String, as path: String, depth: Int) throws {
        guard depth <= Self.depthLimit else { throw FileFailure("read", folder, errorNumber: ELOOP) }
        files.append(.init(path: path + "/", kind: .folder, mode: nil, size: 0, entry: nil, diskPath: folder))
        for name in try folderNames(folder, limit: Self.fileLimit) {
            let (disk, place) = (folder + "/" + name, path + "/" + name)
            var status = stat()
            guard lstat(disk, &status) == 0 else {
                let number = errno
                // What is no UTF-8 was repaired, and the repaired name is nowhere.
                guard number == ENOENT, name.unicodeScalars.contains("\u{FFFD}") else {
                    throw FileFailure("open", disk, errorNumber: number)
                }
                throw OddFolder(
                    message: "\(place.dropping(inventedPrefix)): its name is not written in UTF-8.",
                    remedy: "Rename it, or leave it out."
                )
            }
            let kind: AppFiles.File.Kind
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                try walk(disk, as: place, depth: depth + 1)
                continue
            case S_IFLNK:
                try checkLink(disk, as: place)
                kind = .link
            case S_IFREG: kind = .file
            default:
                throw OddFolder(
                    message: "\(place.dropping(inventedPrefix)): it is neither a file nor a folder nor a link.",
                    remedy: "Leave it out."
                )
            }
            guard files.count < Self.fileLimit else { throw FileFailure("read", folder, errorNumber: EFBIG) }
            files.append(
                .init(
                    path: place,
                    kind: kind,
                    mode: UInt16(truncatingIfNeeded: status.st_mode),
                    size: Int(status.st_size),
                    entry: nil,
                    diskPath: disk
                )
            )
        }
    }

    /// Refuses a link that leads out of `Payload/NAME.app`.
    private func checkLink(_ disk: String, as path: String) throws {
        let target = try linkTarget(disk)
        // The link's own folder, counted from inside the app.
        guard linkStays(target, below: path.pathParts.count - 3) else {
            throw EscapingLink(path: path.dropping(inventedPrefix), target: target)
        }
    }
}

/// Whether a link's target lies in the folder that the link lies so many folders below of.
func linkStays(_ target: String, below depth: Int) -> Bool {
    guard target.utf8.first != UInt8(ascii: "/") else { return false }
    var depth = depth
    for part in target.pathParts where part != "." {
        depth += part == ".." ? -1 : 1
        if depth < 0 { return false }
    }
    return true
}

/// What a symbolic link on the disk points to.
func linkTarget(_ path: String) throws(FileFailure) -> String {
    var buffer = [UInt8](repeating: 0, count: 4097)
    let count = buffer.withUnsafeMutableBytes { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
            characters.baseAddress.map { readlink(path, $0, characters.count) } ?? -1
        }
    }
    guard count > 0, count < buffer.count else {
        throw FileFailure("read", path, errorNumber: count < 0 ? errno : ENAMETOOLONG)
    }
    return String(decoding: buffer[..<count], as: UTF8.self)
}
