import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryZip

/// Carries out a plan: hashes every entry once, makes the seals and signatures, and says what the output holds.
struct Sealer: Sendable {
    /// What came of it.
    struct Result: Sendable {
        /// The output's entries, in order.
        let items: [OutputItem]
        /// The digests of what is copied raw, by name: what the check of the output need not read again.
        let copied: [EntryName: Digests]
        /// What the same pass knows of code that is copied raw but for its end.
        let spliced: [EntryName: SplicedCode]
        let droppedEntitlements: [String: [String: String]]
        let signedFileCount: Int
        let warnings: [String]
    }

    /// Above this unpacked size one file of code at a time is in memory; its hashing is for all threads.
    static let hugeCode = 4 << 20

    let plan: SigningPlan
    let workers: Workers
    /// The signing time, in seconds since 1970.
    let time: Int64
    let progress: @Sendable (_ completed: Int, _ total: Int) -> Void

    enum Hashed: Sendable {
        case file(Digests)
        case link(String)
        /// Bytes that were not in the archive.
        case new(EncodedEntry, ResourceSeal.Content)
        case code(PreparedCode)
        case finished(PreparedCode, EncodedEntry, Digests?)
    }

    /// The entries below the app that go into the output, and how many bytes they unpack to.
    static func files(of plan: SigningPlan) -> [ArchiveFile] {
        let app = plan.contents.tree.root.path + "/"
        return plan.contents.files.filter { file in
            !file.isDirectory && file.name.beginsExactly(with: app) && !plan.isLeftOut(file)
        }
    }

    func run() async throws -> Result {
        let replaced = replacements()
        let toRead = Self.files(of: plan).filter { replaced[EntryName($0.name)] == nil }
        let meter = Meter(total: toRead.reduce(0) { $0 + $1.size }, report: progress)
        let roles = roles()
        let preparer = CodePreparer(
            source: plan.contents.source,
            identity: plan.request.options.identity,
            renames: plan.renames,
            pageSize: plan.request.options.pageSize,
            workers: workers
        )
        let code = plan.contents.code
        let source = plan.contents.source
        let signs = plan.request.options.signs
        let isStripped = if case .removed = plan.request.options.signatures { true } else { false }
        let loose = SignatureContext(identity: plan.request.options.identity, time: time)

        let hashed = try await workers.map(
            toRead,
            cost: { code[$0.index] == nil ? min($0.size, Self.hugeCode) : $0.size },
            hugeCost: Self.hugeCode,
            context: { CodeReader() }
        ) { file, reader -> Hashed in
            defer { meter.add(file.size) }
            guard let found = code[file.index] else { return try Self.hash(file, in: source, reader.inflater) }
            guard signs else {
                return try Self.naming(file) { try preparer.unsigned(found, isStripped: isStripped, reader.inflater) }
            }
            let role = roles[file.index]
            let prepared = try Self.naming(file) {
                try preparer.prepare(found, as: role ?? Self.looseRole(file), reader)
            }
            guard role == nil else { return .code(prepared) }
            let (encoded, digests) = try prepared.finish(loose)
            return .finished(prepared, encoded, digests)
        }
        var assembly = Assembly(plan: plan, replaced: replaced)
        for (file, result) in zip(toRead, hashed) {
            switch result {
            case .file(let digests): assembly.keep(file, .file(digests))
            case .link(let target): assembly.keep(file, .link(target: target))
            case .new(let encoded, let content): assembly.replace(file, encoded, content)
            case .code(let prepared): assembly.wait(file, prepared)
            case .finished(let prepared, let encoded, let digests):
                assembly.replace(file, encoded, digests.map { .file($0) })
                assembly.note(prepared)
            }
        }
        assembly.putInfoPlists()
        if signs { try assembly.signBundles(identity: plan.request.options.identity, time: time) }
        return assembly.result()
    }

    /// Says in an error which file it is about, where it does not say so itself.
    private static func naming<Value>(_ file: ArchiveFile, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as MachOError {
            throw error.inside(file.name)
        }
    }

    /// New contents that are known before anything is hashed: Info.plists and profiles.
    private func replacements() -> [EntryName: [UInt8]] {
        var replaced: [EntryName: [UInt8]] = [:]
        for bundle in plan.bundles {
            if let infoPlist = bundle.infoPlist {
                replaced[EntryName(bundle.bundle.infoPlistPath)] = infoPlist
            }
            if let profile = bundle.profile {
                replaced[EntryName(bundle.bundle.profilePath)] = profile.bytes
            }
            // The old seal is not worth reading; the new one takes its place in the end.
            guard plan.request.options.signs else { continue }
            replaced[EntryName(bundle.bundle.path + "/" + ResourceSeal.path)] = []
        }
        return replaced
    }

    private func roles() -> [Int: CodePreparer.Role] {
        var roles: [Int: CodePreparer.Role] = [:]
        for bundle in plan.bundles { roles[bundle.executable.index] = plan.role(of: bundle) }
        return roles
    }

    /// Loose code is made out to its file's name without the ending, as Apple's tool does.
    private static func looseRole(_ file: ArchiveFile) -> CodePreparer.Role {
        CodePreparer.Role(
            identifier: Planner.stem(file.name.pathParts.last ?? file.name),
            isBundleExecutable: false,
            isSealed: true,
            isEntitled: false,
            profile: nil,
            oldIdentifier: nil,
            override: nil,
            mode: .app
        )
    }

    static func hash(_ file: ArchiveFile, in source: FileSource, _ inflater: Inflater) throws -> Hashed {
        switch file.newContent {
        case .file(let bytes)?: return .new(Deflate.encode(bytes), .file(Digests(of: bytes)))
        case .link(let target)?: return .new(Deflate.encode(Array(target.utf8), level: 0), .link(target: target))
        case nil: break
        }
        guard let entry = file.entry else { preconditionFailure("a file is in the archive, or has bytes of its own") }
        if entry.isSymbolicLink {
            return .link(String(decoding: try inflater.contents(of: entry, in: source), as: UTF8.self))
        }
        var digests = RunningDigests()
        try inflater.read(entry, in: source) { chunk in
            try Task.checkCancellation()
            digests.update(chunk)
        }
        return .file(digests.finish())
    }
}
