import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryPropertyList
import FerryZip

/// Makes an ``ArchiveComparison``.
struct Comparer: Sendable {
    let before: Side
    let after: Side
    let workers: Workers

    /// One of the two apps.
    struct Side: Sendable {
        let name: String
        let app: AppFiles
        let tree: BundleTree

        init(_ name: String, _ input: AppFiles.Input) throws {
            self.name = name
            app = try AppFiles(input)
            tree = try app.tree()
        }

        /// A path as the other side may have it: from the app on, where it lies in the app.
        func key(_ path: String) -> EntryName {
            let root = tree.root.path
            return EntryName(path.beginsExactly(with: root + "/") || path == root ? path.dropping(root) : path)
        }
    }

    /// What both sides have under one path, or one of them.
    private struct Pair: Sendable {
        var old: AppFiles.File?
        var new: AppFiles.File?
        var path: String { (new ?? old)?.path ?? "" }
    }

    /// What a file turned out to be.
    private struct Look: Sendable {
        let isOther: Bool
        let old: Code?
        let new: Code?
    }

    /// What a Mach-O file says.
    private struct Code: Sendable {
        let images: [ArchiveInspection.Image]
        let entitlements: PropertyList.Dictionary?
    }

    func run() async throws -> ArchiveComparison {
        let pairs = pairs()
        let (before, after) = (before, after)
        let looks = try await workers.map(
            pairs,
            cost: { ($0.old?.size ?? 0) + ($0.new?.size ?? 0) },
            hugeCost: 2 * Sealer.hugeCode,
            context: { Inflater() }
        ) { pair, inflater in
            try Self.look(at: pair, before.app, after.app, inflater)
        }
        var others: [(pair: Pair, look: Look)] = []
        for (pair, look) in zip(pairs, looks) where look.isOther { others.append((pair, look)) }
        let bundles = try self.bundles(others)
        return ArchiveComparison(
            before: before.name,
            after: after.name,
            bundles: bundles,
            code: others.flatMap { Self.images($0.pair.path, $0.look) },
            addedFiles: files(others) { $0.old == nil },
            changedFiles: files(others) { $0.old != nil && $0.new != nil },
            removedFiles: files(others) { $0.new == nil },
            warnings: warnings(bundles)
        )
    }

    // MARK: Files

    /// All files and links of both, by path; what lies outside the app only where both are whole archives.
    private func pairs() -> [Pair] {
        let isWhole = before.app.inventedPrefix.isEmpty && after.app.inventedPrefix.isEmpty
        func files(_ side: Side) -> [(EntryName, AppFiles.File)] {
            let app = side.tree.root.path + "/"
            return side.app.files.filter { $0.kind != .folder && (isWhole || $0.path.beginsExactly(with: app)) }
                .map { (side.key($0.path), $0) }
        }
        var pairs: [EntryName: Pair] = [:]
        for (key, file) in files(before) { pairs[key, default: Pair()].old = file }
        for (key, file) in files(after) { pairs[key, default: Pair()].new = file }
        return pairs.values.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    private static func look(
        at pair: Pair,
        _ before: AppFiles,
        _ after: AppFiles,
        _ inflater: Inflater
    ) throws -> Look {
        try Task.checkCancellation()
        if let old = pair.old, let new = pair.new, old.kind == new.kind, old.size == new.size,
            try digest(old, before, inflater) == digest(new, after, inflater)
        {
            return Look(isOther: false, old: nil, new: nil)
        }
        return Look(
            isOther: true,
            old: try pair.old.flatMap { try code($0, before, inflater) },
            new: try pair.new.flatMap { try code($0, after, inflater) }
        )
    }

    private static func digest(_ file: AppFiles.File, _ app: AppFiles, _ inflater: Inflater) throws -> [UInt8] {
        if file.kind == .link { return try app.bytes(of: file, inflater) }
        let digester = Digester(.sha256)
        try app.read(file, inflater) { digester.update($0) }
        return digester.finish()
    }

    private static func code(_ file: AppFiles.File, _ app: AppFiles, _ inflater: Inflater) throws -> Code? {
        // Nobody's code is as large as that, nor could it be taken into memory.
        guard file.kind == .file, file.size <= AppFiles.codeLimit,
            MachOFile.claims(try app.prefix(8, of: file, inflater))
        else { return nil }
        let bytes = try app.bytes(of: file, inflater)
        // Damaged code is a file like any other here.
        guard let parsed = try? MachOFile(bytes) else { return nil }
        let (images, entitlements) = Inspector.inspect(parsed, bytes)
        return Code(images: images, entitlements: entitlements)
    }

    private func files(
        _ others: [(pair: Pair, look: Look)],
        _ isMeant: (Pair) -> Bool
    ) -> [ArchiveComparison.File] {
        others.filter { isMeant($0.pair) }.map {
            ArchiveComparison.File(path: $0.pair.path, oldSize: $0.pair.old?.size, size: $0.pair.new?.size)
        }
    }

    // MARK: Code

    private static func images(_ path: String, _ look: Look) -> [ArchiveComparison.Image] {
        let (old, new) = (look.old?.images ?? [], look.new?.images ?? [])
        var names: [String] = []
        for name in (old + new).map(\.architecture) where !names.contains(name) { names.append(name) }
        return names.compactMap { name in
            let (was, now) = (old.first { $0.architecture == name }, new.first { $0.architecture == name })
            let changes = (was?.facts ?? [:]).changes(to: now?.facts ?? [:])
            guard !changes.isEmpty || was == nil || now == nil else { return nil }
            return ArchiveComparison.Image(
                path: path,
                architecture: name,
                isNew: was == nil,
                isDropped: now == nil,
                changes: was == nil || now == nil ? [] : changes
            )
        }
    }

    // MARK: Bundles

    private func bundles(_ others: [(pair: Pair, look: Look)]) throws -> [ArchiveComparison.Bundle] {
        let looks = Dictionary(others.map { (EntryName($0.pair.path), $0.look) }) { one, _ in one }
        var pairs: [EntryName: (old: Bundle?, new: Bundle?)] = [:]
        for bundle in before.tree.bundles { pairs[before.key(bundle.path)] = (bundle, nil) }
        for bundle in after.tree.bundles { pairs[after.key(bundle.path), default: (nil, nil)].new = bundle }
        let inflater = Inflater()
        return pairs.sorted { $0.key < $1.key }.compactMap { _, pair in
            let (old, new) = pair
            guard let bundle = new ?? old else { return nil }
            let look = bundle.executable.flatMap { looks[EntryName($0)] }
            let isBoth = old != nil && new != nil
            let comparison = ArchiveComparison.Bundle(
                path: bundle.path,
                kind: bundle.kind.rawValue,
                oldIdentifier: old?.identifier,
                identifier: new?.identifier,
                isNew: old == nil,
                isDropped: new == nil,
                infoPlist: isBoth ? (old?.info.dictionary ?? [:]).changes(to: new?.info.dictionary ?? [:]) : [],
                entitlements: isBoth
                    ? (look?.old?.entitlements ?? [:]).changes(to: look?.new?.entitlements ?? [:]) : [],
                profile: isBoth ? facts(old, before, inflater).changes(to: facts(new, after, inflater)) : []
            )
            let isSame =
                isBoth && comparison.infoPlist.isEmpty && comparison.entitlements.isEmpty && comparison.profile.isEmpty
            return isSame ? nil : comparison
        }
    }

    /// What the bundle's profile says; empty where there is none that can be read.
    private func facts(_ bundle: Bundle?, _ side: Side, _ inflater: Inflater) -> PropertyList.Dictionary {
        guard let bundle, let bytes = try? side.app.small(bundle.profilePath, inflater),
            let profile = try? ProvisioningProfile(bytes: bytes, path: bundle.profilePath)
        else { return [:] }
        return ArchiveInspection.Profile(profile).facts
    }

    private func warnings(_ bundles: [ArchiveComparison.Bundle]) -> [String] {
        guard let app = bundles.first(where: { $0.path == after.tree.root.path && !$0.isNew }),
            let change = app.entitlements.first(where: { $0.key == EntitlementsPlan.applicationIdentifierKey }),
            let old = change.old?.string, let new = change.new?.string, app.oldIdentifier == app.identifier
        else { return [] }
        return [
            "The application identifier was \(old) and is \(new): iOS refuses to install the one over the other "
                + "(MismatchedApplicationIdentifierEntitlement). Remove the old app from the device first."
        ]
    }
}
