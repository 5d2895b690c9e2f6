import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryZip

/// Checks a signed app, in an archive or a folder: every signature, every seal, every profile.
struct ArchiveVerifier: Sendable {
    let input: AppFiles.Input
    /// How the archive is called in faults about the whole.
    let name: String
    /// The date to judge validity by, in seconds since 1970.
    let now: Int64
    /// Entries that need not be read, with their digests.
    let known: [EntryName: Digests]
    /// Code of which only the end need be read.
    let spliced: [EntryName: SplicedCode]
    /// Where the app is to be installed; `nil` to look at what was signed alone.
    let device: TargetDevice?
    let workers: Workers

    init(
        input: AppFiles.Input,
        name: String,
        now: Int64,
        known: [EntryName: Digests] = [:],
        spliced: [EntryName: SplicedCode] = [:],
        device: TargetDevice? = nil,
        workers: Workers
    ) {
        self.input = input
        self.name = name
        self.now = now
        self.known = known
        self.spliced = spliced
        self.device = device
        self.workers = workers
    }

    /// Checks what was signed in an archive.
    init(
        source: any ByteSource,
        name: String,
        now: Int64,
        known: [EntryName: Digests] = [:],
        spliced: [EntryName: SplicedCode] = [:],
        workers: Workers
    ) {
        self.init(input: .archive(source), name: name, now: now, known: known, spliced: spliced, workers: workers)
    }

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
        /// Without digests where no seal names it.
        indirect case code(Digests?, CodeFile)
        indirect case broken(Fault)
    }

    private enum ReadSeal: Sendable {
        case seal(ResourceSeal)
        case fault(Fault)
    }

    func run() async throws -> Report {
        var report = Report()
        let app: AppFiles
        let tree: BundleTree
        do {
            app = try AppFiles(input)
            tree = try app.tree()
        } catch let error as CancellationError {
            throw error
        } catch {
            let explained = error as? any ExplainedError
            report.faults = [
                Fault(.ofArchive(error), at: name, explained?.message ?? "\(error)", remedy: explained?.remedy)
            ]
            return report
        }
        report.faults += tree.problems().map { Fault($0.faultCode, at: $0.path, $0.message, remedy: $0.remedy) }

        let bundles = tree.root.deepestFirst()
        let contexts = contexts(of: bundles, in: app)
        let prefix = tree.root.path + "/"
        let files = app.files.filter { $0.kind != .folder && $0.path.beginsExactly(with: prefix) }
        // The app's own seal takes as long to read as all that was packed anew.
        async let reading = workers.map(bundles, cost: { _ in 1 }, context: { Inflater() }) { bundle, inflater in
            seal(of: bundle, in: app, inflater)
        }
        let found = try await workers.map(
            files,
            // Of spliced code little is read.
            cost: { spliced[EntryName($0.path)] == nil ? $0.size : min($0.size, 1 << 16) },
            hugeCost: Sealer.hugeCode,
            context: { Inflater() }
        ) { file, inflater in
            try inspect(file, of: app, contexts[EntryName(file.path)], inflater)
        }

        var contents: [(path: String, content: ResourceSeal.Content)] = []
        for (file, result) in zip(files, found) {
            switch result {
            case .file(let digests): contents.append((file.path, .file(digests)))
            case .link(let target): contents.append((file.path, .link(target: target)))
            case .code(let digests, let code):
                if let digests { contents.append((file.path, .file(digests))) }
                report.code.append(code)
                report.faults += code.images.flatMap(\.report.faults)
            case .broken(let fault): report.faults.append(fault)
            }
        }
        contents.sort { EntryName($0.path) < EntryName($1.path) }
        for (bundle, seal) in zip(bundles, try await reading) {
            try Task.checkCancellation()
            report.faults += check(seal, of: bundle, contents)
            report.faults += checkPermissions(of: bundle, in: app)
        }
        for bundle in bundles where bundle.kind.hasProfile {
            report.profiles[bundle.path] = profile(of: bundle, in: app)
        }
        let rules = InstallRules(tree: tree, code: report.code, now: now, deviceIdentifier: device?.identifier)
        report.faults += rules.faults(profiles: report.profiles)
        if let device {
            report.faults += SignerRules(code: report.code, place: tree.root.path, now: now).faults()
            report.faults += DeviceRules(tree: tree, code: report.code, device: device).faults()
            report.faults += LiveActivityRules(tree: tree, code: report.code).faults()
            report.faults += PathRules(files: app.files, tree: tree).faults()
        }
        if !app.inventedPrefix.isEmpty {
            let (invented, shown) = (tree.root.path, tree.root.path.dropping(app.inventedPrefix))
            report.faults = report.faults.map { $0.naming(invented, as: shown) }
        }
        return report
    }

    /// What each bundle's executable is to be compared with.
    private func contexts(of bundles: [Bundle], in app: AppFiles) -> [EntryName: ImageVerifier.Context] {
        let inflater = Inflater()
        var contexts: [EntryName: ImageVerifier.Context] = [:]
        for bundle in bundles {
            guard let executable = bundle.executable else { continue }
            contexts[EntryName(executable)] = ImageVerifier.Context(
                place: executable,
                infoPlist: try? app.small(bundle.infoPlistPath, inflater).map { Digests(of: $0) },
                resources: try? app.small(bundle.path + "/" + ResourceSeal.path, inflater).map { Digests(of: $0) },
                identifier: bundle.identifier
            )
        }
        return contexts
    }

    private func inspect(
        _ file: AppFiles.File,
        of app: AppFiles,
        _ context: ImageVerifier.Context?,
        _ inflater: Inflater
    ) throws -> Found {
        if context == nil, let digests = known[EntryName(file.path)] { return .file(digests) }
        try Task.checkCancellation()
        do {
            if file.kind == .link {
                return .link(String(decoding: try app.bytes(of: file, inflater), as: UTF8.self))
            }
            if let entry = file.entry, let spliced = spliced[EntryName(file.path)] {
                let context = context ?? ImageVerifier.Context(place: file.path)
                let (digests, code) = try spliced.check(entry, in: app, of: file, context, inflater)
                return .code(digests, code)
            }
            if MachOFile.claims(try app.prefix(8, of: file, inflater)) {
                let bytes = try app.bytes(of: file, inflater)
                let digests = Digests(of: bytes)
                return try Self.code(file.path, bytes, context).map { .code(digests, $0) } ?? .file(digests)
            }
            var digests = RunningDigests()
            try app.read(file, inflater) { digests.update($0) }
            if context != nil {
                return .broken(
                    Fault(
                        .machO,
                        at: file.path,
                        "The executable is no Mach-O file.",
                        remedy: "Get the app again; it cannot be installed."
                    )
                )
            }
            return .file(digests.finish())
        } catch let error as MachOError {
            return .broken(Fault(.machO, at: file.path, error.message, remedy: error.remedy))
        } catch let error as any ExplainedError {
            return .broken(Fault(.archive, at: file.path, error.message, remedy: error.remedy))
        }
    }

    /// Checks the images of a file; `nil` for a Mach-O that iOS never looks at.
    static func code(_ path: String, _ bytes: [UInt8], _ context: ImageVerifier.Context?) throws -> CodeFile? {
        let file: MachOFile
        do {
            file = try MachOFile(bytes)
        } catch {
            guard context != nil else { return nil }
            throw error
        }
        guard context != nil || file.slices.allSatisfy(\.image.isSignable) else { return nil }
        let images = file.slices.map { slice in
            var context = context ?? ImageVerifier.Context(place: path)
            if file.isFat {
                context.place += " (\(slice.image.architecture))"
            }
            let range = slice.offset..<slice.offset + slice.image.count
            return (slice.image, ImageVerifier.verify(slice.image, in: bytes[range], context: context))
        }
        return CodeFile(path: path, images: images)
    }

    /// Reads a bundle's seal, or says why it cannot be read.
    private func seal(of bundle: Bundle, in app: AppFiles, _ inflater: Inflater) -> ReadSeal {
        let path = bundle.path + "/" + ResourceSeal.path
        do {
            guard let bytes = try app.small(path, inflater) else {
                return .fault(
                    Fault(.sealMissing, at: path, "The bundle has no resource seal.", remedy: "Sign the archive again.")
                )
            }
            return .seal(try ResourceSeal(parsing: bytes))
        } catch {
            let explained = error as? any ExplainedError
            return .fault(
                Fault(.sealMissing, at: path, explained?.message ?? "\(error)", remedy: "Sign the archive again.")
            )
        }
    }

    private func check(
        _ found: ReadSeal,
        of bundle: Bundle,
        _ contents: [(path: String, content: ResourceSeal.Content)]
    ) -> [Fault] {
        let seal: ResourceSeal
        switch found {
        case .seal(let read): seal = read
        case .fault(let fault): return [fault]
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

    private func checkPermissions(of bundle: Bundle, in app: AppFiles) -> [Fault] {
        guard let executable = bundle.executable, let file = app.file(at: executable), (file.mode ?? 0) & 0o111 == 0
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

    private func profile(of bundle: Bundle, in app: AppFiles) -> ProvisioningProfile? {
        guard let bytes = try? app.small(bundle.profilePath, Inflater()) else { return nil }
        return try? ProvisioningProfile(bytes: bytes, path: bundle.profilePath)
    }
}

extension [(path: String, content: ResourceSeal.Content)] {
    /// Where `path` is, or would be, in the sorted list.
    fileprivate func place(of path: String) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if EntryName(self[middle].path) < EntryName(path) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}
