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
        /// All that is known of the archive now; `nil` where that is no more than before.
        var learnt: ArchiveSurvey?
    }

    /// Above this unpacked size one file of code at a time is in memory; its hashing is for all threads.
    static let hugeCode = 4 << 20

    let plan: SigningPlan
    let workers: Workers
    /// The signing time, in seconds since 1970.
    let time: Int64
    let progress: @Sendable (_ completed: Int, _ total: Int) -> Void
    /// New contents that are known before anything is hashed: Info.plists and profiles.
    private let replaced: [EntryName: [UInt8]]

    init(
        plan: SigningPlan,
        workers: Workers,
        time: Int64,
        progress: @escaping @Sendable (_ completed: Int, _ total: Int) -> Void
    ) {
        self.plan = plan
        self.workers = workers
        self.time = time
        self.progress = progress
        replaced = Self.replacements(of: plan)
    }

    enum Hashed: Sendable {
        case file(Digests)
        case link(String)
        /// Bytes that were not in the archive.
        indirect case new(EncodedEntry, ResourceSeal.Content)
        // Apart, as they are few and large.
        indirect case code(PreparedCode)
        indirect case finished(PreparedCode, PreparedCode.Signed, EncodedEntry)
    }

    /// The entries below the app that go into the output, and how many bytes they unpack to.
    static func files(of plan: SigningPlan) -> [ArchiveFile] {
        let app = plan.contents.tree.root.path + "/"
        return plan.contents.files.filter { file in
            !file.isDirectory && file.name.beginsExactly(with: app) && !plan.isLeftOut(file)
        }
    }

    /// The entries that go into the output as they lie, whatever comes of the others; in the order in which they lie.
    func untouched() -> [ZipEntry] {
        plan.contents.files.filter { file in
            file.newContent == nil && plan.contents.code[file.index] == nil && !plan.isLeftOut(file)
                && replaced[EntryName(file.name)] == nil
        }
        .compactMap(\.entry)
        .sorted { $0.localHeaderOffset < $1.localHeaderOffset }
    }

    func run() async throws -> Result {
        let files = Self.files(of: plan).filter { replaced[EntryName($0.name)] == nil }
        let meter = Meter(total: files.reduce(0) { $0 + $1.size }, report: progress)
        let known = known(files)
        let toRead = files.filter { known[$0.index] == nil }
        meter.add(files.reduce(0) { $0 + (known[$1.index] == nil ? 0 : $1.size) })
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
        let survey = plan.survey
        let sample = sampledCode()
        let signs = plan.request.options.signs
        let isStripped = if case .removed = plan.request.options.signatures { true } else { false }
        let loose = SignatureContext(identity: plan.request.options.identity, time: time)

        let hashed = try await workers.map(
            toRead,
            cost: { file in
                guard code[file.index] != nil else { return min(file.size, Self.hugeCode) }
                return survey.code(file.index) == nil ? file.size : min(file.size, 1 << 18)
            },
            hugeCost: Self.hugeCode,
            context: { CodeReader() }
        ) { file, reader -> Hashed in
            defer { meter.add(file.size) }
            guard let found = code[file.index] else {
                let hashed = try Self.hash(file, in: source, reader.inflater)
                // One of the samples.
                if case .resource(let digests)? = survey.files[file.index], case .file(let now) = hashed, now != digests
                {
                    throw SurveyMismatch()
                }
                return hashed
            }
            guard signs else {
                return try Self.naming(file) { try preparer.unsigned(found, isStripped: isStripped, reader.inflater) }
            }
            let role = roles[file.index]
            let known = survey.code(file.index)
            let isSample = file.index == sample
            let prepared = try Self.naming(file) {
                let role = role ?? .unnamed(file, isBundleExecutable: false)
                return try preparer.prepare(found, as: role, known: isSample ? nil : known, reader)
            }
            if isSample, let known, let now = prepared.survey, !known.agrees(with: now) { throw SurveyMismatch() }
            guard role == nil else { return .code(prepared) }
            let signed = try prepared.sign(loose)
            return .finished(prepared, signed, try signed.packed())
        }
        var assembly = Assembly(plan: plan, replaced: replaced)
        for file in files {
            if let digests = known[file.index] { assembly.keep(file, .file(digests)) }
        }
        for (file, result) in zip(toRead, hashed) {
            switch result {
            case .file(let digests): assembly.keep(file, .file(digests))
            case .link(let target): assembly.keep(file, .link(target: target))
            case .new(let encoded, let content): assembly.replace(file, encoded, content)
            case .code(let prepared): assembly.wait(file, prepared)
            case .finished(let prepared, let signed, let encoded):
                assembly.replace(file, encoded, signed.digests.map { .file($0) })
                assembly.note(prepared)
            }
        }
        assembly.putInfoPlists()
        if signs {
            let signed = try assembly.signBundles(identity: plan.request.options.identity, time: time)
            let packed = try await workers.map(signed, cost: { $0.tail.count }, context: {}) { signed, _ in
                try signed.packed()
            }
            for (signed, encoded) in zip(signed, packed) { assembly.pack(signed.file, encoded) }
        }
        var result = assembly.result()
        result.learnt = learnt(zip(toRead, hashed))
        return result
    }

    /// Says in an error which file it is about, where it does not say so itself.
    private static func naming<Value>(_ file: ArchiveFile, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as MachOError {
            throw error.inside(file.name)
        }
    }

    private static func replacements(of plan: SigningPlan) -> [EntryName: [UInt8]] {
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
