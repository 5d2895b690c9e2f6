import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryZip

/// Checks a signed archive: every signature, every seal, every profile.
struct ArchiveVerifier: Sendable {
    let source: any ByteSource
    /// How the archive is called in faults about the whole.
    let name: String
    /// The date to judge validity by, in seconds since 1970.
    let now: Int64
    /// Entries that need not be read, with their digests.
    var known: [EntryName: Digests] = [:]
    let workers: Workers

    /// One Mach-O file of the archive.
    struct CodeFile: Sendable {
        let path: String
        let images: [(image: MachOImage, report: ImageVerifier.Report)]
    }

    /// What was found.
    struct Report: Sendable {
        var faults: [Fault] = []
        var code: [CodeFile] = []
        var profiles: [String: ProvisioningProfile] = [:]
    }

    private enum Found: Sendable {
        case file(Digests)
        case link(String)
        case code(Digests, CodeFile)
        case broken(Fault)
    }

    func run() async throws -> Report {
        var report = Report()
        let directory: ZipDirectory
        let tree: BundleTree
        do {
            directory = try ZipDirectory(source)
            try directory.checkLinks(in: source)
            tree = try self.tree(of: directory)
        } catch let error as CancellationError {
            throw error
        } catch {
            let explained = error as? any ExplainedError
            report.faults = [Fault(.archive, at: name, explained?.message ?? "\(error)", remedy: explained?.remedy)]
            return report
        }
        report.faults += tree.problems().map { Fault($0.faultCode, at: $0.path, $0.message, remedy: $0.remedy) }

        let bundles = tree.root.deepestFirst()
        let contexts = try contexts(of: bundles, in: directory)
        let app = tree.root.path + "/"
        let entries = directory.entries.filter { !$0.isDirectory && $0.name.beginsExactly(with: app) }
        let found = try await workers.map(
            entries,
            cost: \.uncompressedSize,
            hugeCost: Sealer.hugeCode,
            context: { Inflater() }
        ) { entry, inflater in
            try inspect(entry, contexts[EntryName(entry.name)], inflater)
        }

        var contents: [(path: String, content: ResourceSeal.Content)] = []
        for (entry, result) in zip(entries, found) {
            switch result {
            case .file(let digests): contents.append((entry.name, .file(digests)))
            case .link(let target): contents.append((entry.name, .link(target: target)))
            case .code(let digests, let file):
                contents.append((entry.name, .file(digests)))
                report.code.append(file)
                report.faults += file.images.flatMap(\.report.faults)
            case .broken(let fault): report.faults.append(fault)
            }
        }
        contents.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        for bundle in bundles {
            try Task.checkCancellation()
            report.faults += try checkSeal(of: bundle, in: directory, contents)
            report.faults += checkPermissions(of: bundle, in: directory)
        }
        let rules = InstallRules(tree: tree, code: report.code, now: now)
        for bundle in bundles where bundle.kind.hasProfile {
            report.profiles[bundle.path] = try profile(of: bundle, in: directory)
        }
        report.faults += rules.faults(profiles: report.profiles)
        return report
    }

    private func tree(of directory: ZipDirectory) throws -> BundleTree {
        let inflater = Inflater()
        return try BundleTree(
            paths: directory.entries.map {
                BundlePath(path: $0.name, isDirectory: $0.isDirectory, isSymbolicLink: $0.isSymbolicLink)
            },
            readInfoPlist: { path in try bytes(path, in: directory, inflater) ?? [] }
        )
    }

    /// A small file's bytes; `nil` where it is not there.
    private func bytes(_ path: String, in directory: ZipDirectory, _ inflater: Inflater) throws -> [UInt8]? {
        guard let entry = directory.entry(named: path), !entry.isDirectory else { return nil }
        guard entry.uncompressedSize <= 256 << 20 else {
            throw FileFailure("read", path, errorNumber: 27)
        }
        var copy: [UInt8] = []
        try inflater.read(entry, in: source) { copy.append(contentsOf: $0) }
        return copy
    }

    /// What each bundle's executable is to be compared with.
    private func contexts(
        of bundles: [Bundle],
        in directory: ZipDirectory
    ) throws -> [EntryName: ImageVerifier.Context] {
        let inflater = Inflater()
        var contexts: [EntryName: ImageVerifier.Context] = [:]
        for bundle in bundles {
            guard let executable = bundle.executable else { continue }
            contexts[EntryName(executable)] = ImageVerifier.Context(
                place: executable,
                infoPlist: try? bytes(bundle.infoPlistPath, in: directory, inflater).map { Digests(of: $0) },
                resources: try? bytes(bundle.path + "/" + ResourceSeal.path, in: directory, inflater)
                    .map { Digests(of: $0) },
                identifier: bundle.identifier
            )
        }
        return contexts
    }

    private func inspect(
        _ entry: ZipEntry,
        _ context: ImageVerifier.Context?,
        _ inflater: Inflater
    ) throws -> Found {
        if context == nil, let digests = known[EntryName(entry.name)] { return .file(digests) }
        try Task.checkCancellation()
        do {
            if entry.isSymbolicLink {
                return .link(String(decoding: try inflater.contents(of: entry, in: source), as: UTF8.self))
            }
            let magic = try inflater.prefix(of: entry, count: 8, in: source)
            if MachOFile.claims(magic) {
                let bytes = try inflater.contents(of: entry, in: source)
                let digests = Digests(of: bytes)
                return try code(entry, bytes, context).map { .code(digests, $0) } ?? .file(digests)
            }
            let digests = RunningDigests()
            try inflater.read(entry, in: source) { digests.update($0) }
            if context != nil {
                return .broken(
                    Fault(
                        .machO,
                        at: entry.name,
                        "The executable is no Mach-O file.",
                        remedy: "Get the app again; it cannot be installed."
                    )
                )
            }
            return .file(digests.finish())
        } catch let error as any ExplainedError {
            return .broken(Fault(.archive, at: entry.name, error.message, remedy: error.remedy))
        }
    }

    /// Checks the images of a file; `nil` for a Mach-O that iOS never looks at.
    private func code(
        _ entry: ZipEntry,
        _ bytes: [UInt8],
        _ context: ImageVerifier.Context?
    ) throws -> CodeFile? {
        let file: MachOFile
        do {
            file = try MachOFile(bytes)
        } catch {
            guard context != nil else { return nil }
            throw error
        }
        guard context != nil || file.slices.allSatisfy(\.image.isSignable) else { return nil }
        let images = file.slices.map { slice in
            var context = context ?? ImageVerifier.Context(place: entry.name)
            if file.isFat {
                context.place += " (\(slice.image.architecture))"
            }
            let range = slice.offset..<slice.offset + slice.image.count
            return (slice.image, ImageVerifier.verify(slice.image, in: bytes[range], context: context))
        }
        return CodeFile(path: entry.name, images: images)
    }

    private func checkSeal(
        of bundle: Bundle,
        in directory: ZipDirectory,
        _ contents: [(path: String, content: ResourceSeal.Content)]
    ) throws -> [Fault] {
        let path = bundle.path + "/" + ResourceSeal.path
        let seal: ResourceSeal
        do {
            guard let bytes = try bytes(path, in: directory, Inflater()) else {
                return [
                    Fault(.sealMissing, at: path, "The bundle has no resource seal.", remedy: "Sign the archive again.")
                ]
            }
            seal = try ResourceSeal(parsing: bytes)
        } catch let error as any ExplainedError {
            return [Fault(.sealMissing, at: path, error.message, remedy: "Sign the archive again.")]
        }
        let prefix = bundle.path + "/"
        // A bundle's files are a run of the sorted list.
        let below = contents[contents.place(of: prefix)..<contents.place(of: bundle.path + "0")]
            .filter { EntryName($0.path) != bundle.executable.map(EntryName.init) }
        return SealVerifier.verify(
            seal,
            contents: below.map { ($0.path.dropping(prefix), $0.content) },
            bundle: bundle.path
        )
    }

    private func checkPermissions(of bundle: Bundle, in directory: ZipDirectory) -> [Fault] {
        guard let executable = bundle.executable, let entry = directory.entry(named: executable),
            (entry.unixMode ?? 0) & 0o111 == 0
        else { return [] }
        return [
            Fault(
                .permissions,
                at: executable,
                "The executable has no permission to be run.",
                remedy: "Sign the archive again."
            )
        ]
    }

    private func profile(of bundle: Bundle, in directory: ZipDirectory) throws -> ProvisioningProfile? {
        guard let bytes = try? bytes(bundle.profilePath, in: directory, Inflater()) else { return nil }
        return try? ProvisioningProfile(bytes: bytes, path: bundle.profilePath)
    }
}

extension [(path: String, content: ResourceSeal.Content)] {
    /// Where `path` is, or would be, in the sorted list.
    fileprivate func place(of path: String) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].path.utf8.lexicographicallyPrecedes(path.utf8) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}
