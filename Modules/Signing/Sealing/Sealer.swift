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
        let droppedEntitlements: [String: [String: String]]
        let signedFileCount: Int
        let warnings: [String]
    }

    /// Above this unpacked size one file of code at a time is in memory.
    ///
    /// Low enough that the rest, which runs beside it, keeps the other cores busy in an app of the usual shape.
    static let hugeCode = 24 << 20

    let plan: SigningPlan
    let workers: Workers
    /// The signing time, in seconds since 1970.
    let time: Int64
    let progress: @Sendable (_ completed: Int, _ total: Int) -> Void

    private enum Hashed: Sendable {
        case file(Digests)
        case link(String)
        case code(PreparedCode)
        case finished(PreparedCode, EncodedEntry, Digests)
    }

    /// The entries below the app that go into the output, and how many bytes they unpack to.
    static func entries(of plan: SigningPlan) -> [ZipEntry] {
        let app = plan.contents.tree.root.path + "/"
        return plan.contents.directory.entries.filter { entry in
            !entry.isDirectory && entry.name.beginsExactly(with: app) && !plan.isLeftOut(entry)
        }
    }

    func run() async throws -> Result {
        let entries = Self.entries(of: plan)
        let replaced = replacements()
        let toRead = entries.filter { replaced[EntryName($0.name)] == nil }
        let meter = Meter(total: toRead.reduce(0) { $0 + $1.uncompressedSize }, report: progress)
        let roles = roles()
        let preparer = CodePreparer(
            source: plan.contents.source,
            identity: plan.request.options.identity,
            renames: plan.renames,
            pageSize: plan.request.options.pageSize
        )
        let code = plan.contents.code
        let source = plan.contents.source
        let loose = SignatureContext(identity: plan.request.options.identity, time: time)

        let hashed = try await workers.map(
            toRead,
            cost: { code[$0.index] == nil ? min($0.uncompressedSize, Self.hugeCode) : $0.uncompressedSize },
            hugeCost: Self.hugeCode,
            context: { Inflater() }
        ) { entry, inflater -> Hashed in
            defer { meter.add(entry.uncompressedSize) }
            guard code[entry.index] != nil else { return try Self.hash(entry, in: source, inflater) }
            let role = roles[entry.index]
            let prepared = try Self.naming(entry) {
                try preparer.prepare(entry, as: role ?? Self.looseRole(entry), inflater)
            }
            guard role == nil else { return .code(prepared) }
            let (encoded, digests) = try prepared.finish(loose)
            return .finished(prepared, encoded, digests)
        }
        var assembly = Assembly(plan: plan, replaced: replaced)
        for (entry, result) in zip(toRead, hashed) {
            switch result {
            case .file(let digests): assembly.keep(entry, .file(digests))
            case .link(let target): assembly.keep(entry, .link(target: target))
            case .code(let prepared): assembly.wait(entry, prepared)
            case .finished(let prepared, let encoded, let digests):
                assembly.replace(entry, encoded, digests)
                assembly.note(prepared)
            }
        }
        try assembly.signBundles(identity: plan.request.options.identity, time: time)
        return assembly.result()
    }

    /// Says in an error which file it is about, where it does not say so itself.
    private static func naming<Value>(_ entry: ZipEntry, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as MachOError {
            throw error.inside(entry.name)
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
            replaced[EntryName(bundle.bundle.path + "/" + ResourceSeal.path)] = []
        }
        return replaced
    }

    private func roles() -> [Int: CodePreparer.Role] {
        var roles: [Int: CodePreparer.Role] = [:]
        let root = plan.contents.tree.root.path
        for bundle in plan.bundles {
            roles[bundle.executable.index] = CodePreparer.Role(
                identifier: bundle.identifier,
                isBundleExecutable: true,
                profile: bundle.profile,
                oldIdentifier: bundle.bundle.identifier,
                override: bundle.bundle.path == root ? plan.request.options.entitlements : nil
            )
        }
        return roles
    }

    /// Loose code is made out to its file's name without the ending, as Apple's tool does.
    private static func looseRole(_ entry: ZipEntry) -> CodePreparer.Role {
        let parts = entry.name.utf8.split(separator: UInt8(ascii: "/"))
        let name = parts.last.map { String(decoding: $0, as: UTF8.self) } ?? entry.name
        let stem = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : String(name[..<$0]) } ?? name
        return CodePreparer.Role(
            identifier: stem,
            isBundleExecutable: false,
            profile: nil,
            oldIdentifier: nil,
            override: nil
        )
    }

    private static func hash(_ entry: ZipEntry, in source: FileSource, _ inflater: Inflater) throws -> Hashed {
        if entry.isSymbolicLink {
            return .link(String(decoding: try inflater.contents(of: entry, in: source), as: UTF8.self))
        }
        let digests = RunningDigests()
        try inflater.read(entry, in: source) { chunk in
            try Task.checkCancellation()
            digests.update(chunk)
        }
        return .file(digests.finish())
    }
}
