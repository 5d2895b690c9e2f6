import FerryAppBundle
import FerryBytes
import FerryMachO
import FerryZip

/// An archive that was opened and found to be an app: its directory, its bundles, and which entries are code.
struct ArchiveContents: Sendable {
    /// A Mach-O file in the archive, as far as its header tells.
    struct Code: Sendable {
        let entry: ZipEntry
        /// A parsed header for each slice; a universal file's are read whole.
        let images: [MachOImage]
        /// What would keep a signature out.
        let obstacle: MachOError?
    }

    let source: FileSource
    let directory: ZipDirectory
    let tree: BundleTree
    /// The Mach-O files below the app that are signed, by their entry's index.
    let code: [Int: Code]
    /// Mach-O files that are damaged, by their entry's index.
    let damaged: [Int: MachOError]

    /// Reads the directory, the Info.plists, and the first bytes of every entry of the app.
    static func open(_ path: String, with workers: Workers) async throws -> ArchiveContents {
        let source = try FileSource(path: path)
        let directory = try ZipDirectory(source)
        try directory.checkLinks(in: source)
        let inflater = Inflater()
        let tree = try BundleTree(
            paths: directory.entries.map {
                BundlePath(path: $0.name, isDirectory: $0.isDirectory, isSymbolicLink: $0.isSymbolicLink)
            },
            readInfoPlist: { path in
                guard let entry = directory.entry(named: path) else {
                    throw FileFailure("find", path, errorNumber: 2)
                }
                guard entry.uncompressedSize <= infoPlistLimit else { throw TooLarge(size: entry.uncompressedSize) }
                return try inflater.contents(of: entry, in: source)
            }
        )

        let app = tree.root.path + "/"
        let files = directory.entries.filter { entry in
            !entry.isDirectory && !entry.isSymbolicLink && entry.name.beginsExactly(with: app)
                && entry.uncompressedSize >= 28
        }
        let looks = try await workers.map(files, cost: { _ in 1 }, context: { Inflater() }) { entry, inflater in
            try look(at: entry, in: source, inflater)
        }
        var code: [Int: Code] = [:]
        var damaged: [Int: MachOError] = [:]
        for (entry, look) in zip(files, looks) {
            switch look {
            case .code(let found): code[entry.index] = found
            case .damaged(let error): damaged[entry.index] = error
            case .other: break
            }
        }
        return ArchiveContents(source: source, directory: directory, tree: tree, code: code, damaged: damaged)
    }

    /// The largest Info.plist that is believed.
    static let infoPlistLimit = 16 << 20

    private struct TooLarge: Error, CustomStringConvertible {
        let size: Int
        var description: String { "It has \(size) bytes, more than any real one (\(infoPlistLimit))." }
    }

    /// The largest header with load commands that is believed; real ones have some kilobytes.
    private static let headerLimit = 4 << 20
    /// The largest file of code that is taken into memory.
    private static let codeLimit = 2 << 30

    private enum Look: Sendable {
        case code(Code)
        case damaged(MachOError)
        case other
    }

    private static func look(at entry: ZipEntry, in source: FileSource, _ inflater: Inflater) throws -> Look {
        let magic: [UInt8]
        do {
            magic = try inflater.prefix(of: entry, count: 32, in: source)
        } catch {
            // Whether it matters is found out when the whole entry is read, and its CRC with it.
            return .other
        }
        guard MachOFile.claims(magic) else { return .other }
        do {
            guard entry.uncompressedSize <= codeLimit else {
                throw MachOError.tooLarge("it has \(entry.uncompressedSize) bytes, more than \(codeLimit).")
            }
            if magic[0] == 0xCA {
                let bytes = try inflater.contents(of: entry, in: source)
                let file = try MachOFile(bytes)
                guard file.slices.allSatisfy(\.image.isSignable) else { return .other }
                let obstacle = file.slices.lazy.compactMap { slice in
                    slice.image.signatureObstacle(in: bytes[slice.offset..<slice.offset + slice.image.count])
                }.first
                return .code(Code(entry: entry, images: file.slices.map(\.image), obstacle: obstacle))
            }
            let header = try MachOImage.headerSize(magic[...])
            guard header <= headerLimit else {
                throw MachOError.tooLarge("its load commands claim \(header) bytes, more than \(headerLimit).")
            }
            // 16 bytes more, where LC_CODE_SIGNATURE would be added.
            let bytes = try inflater.prefix(of: entry, count: header + 16, in: source)
            let image = try MachOImage(bytes[...], count: entry.uncompressedSize)
            guard image.isSignable else { return .other }
            return .code(Code(entry: entry, images: [image], obstacle: image.signatureObstacle(in: bytes[...])))
        } catch let error as MachOError {
            return .damaged(error)
        }
    }
}
