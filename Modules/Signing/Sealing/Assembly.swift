import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryZip

/// The output as it grows together: what each entry will hold, bundle by bundle from the inside out.
struct Assembly {
    private enum Fate {
        case copied
        case replaced(EncodedEntry)
    }

    private let plan: SigningPlan
    private let replaced: [EntryName: [UInt8]]
    /// What lies below the app in the output, for the seals.
    private var contents: [EntryName: ResourceSeal.Content] = [:]
    private var fates: [Int: Fate] = [:]
    private var added: [(name: String, encoded: EncodedEntry)] = []
    private var waiting: [Int: PreparedCode] = [:]
    private var copied: [EntryName: Digests] = [:]
    private var spliced: [EntryName: SplicedCode] = [:]
    private var dropped: [Int: [String: String]] = [:]
    private var warnings: [String] = []
    private var signedFileCount = 0

    init(plan: SigningPlan, replaced: [EntryName: [UInt8]]) {
        self.plan = plan
        self.replaced = replaced
    }

    /// A file stays as it is.
    mutating func keep(_ file: ArchiveFile, _ content: ResourceSeal.Content) {
        fates[file.index] = .copied
        contents[EntryName(file.name)] = content
        if case .file(let digests) = content {
            copied[EntryName(file.name)] = digests
        }
    }

    /// A file is code that waits for its bundle's seal.
    mutating func wait(_ file: ArchiveFile, _ prepared: PreparedCode) {
        waiting[file.index] = prepared
        note(prepared)
    }

    /// A file got other contents, or is new; `content` is what seals say of it.
    mutating func replace(_ file: ArchiveFile, _ encoded: EncodedEntry, _ content: ResourceSeal.Content?) {
        fates[file.index] = .replaced(encoded)
        contents[EntryName(file.name)] = content
    }

    /// Keeps what people should know of a file of code.
    mutating func note(_ prepared: PreparedCode) {
        signedFileCount += 1
        spliced[EntryName(prepared.file.name)] = prepared.spliced
        warnings += prepared.warnings
        if !prepared.droppedEntitlements.isEmpty {
            dropped[prepared.file.index] = prepared.droppedEntitlements
        }
    }

    /// Puts Info.plists and profiles in.
    mutating func putInfoPlists() {
        for bundle in plan.bundles {
            for path in [bundle.bundle.infoPlistPath, bundle.bundle.profilePath] {
                if let bytes = replaced[EntryName(path)] {
                    put(bytes, at: path)
                }
            }
        }
    }

    /// Seals and signs every bundle after all those inside it; gives what is still to be packed.
    mutating func signBundles(identity: Identity?, time: Int64) throws -> [PreparedCode.Signed] {
        var done: [PreparedCode.Signed] = []
        // Sorted once: a bundle's files are a run of it.
        var names = contents.keys.sorted()
        for bundle in plan.bundles {
            try Task.checkCancellation()
            let path = bundle.bundle.path + "/"
            let executable = EntryName(bundle.executable.name)
            let below = names.run(below: path).filter { $0 != executable }
            let seal = ResourceSeal.encoded(
                below.compactMap { name in
                    contents[name].map { (name.text.dropping(path), $0) }
                },
                includesSHA1: waiting[bundle.executable.index]?.hasSHA1 ?? false
            )
            let sealPath = path + ResourceSeal.path
            put(seal, at: sealPath)
            names.insert(EntryName(sealPath), at: names.place(of: EntryName(sealPath)))

            var context = SignatureContext(identity: identity, time: time)
            context.resources = Digests(of: seal)
            if case .file(let digests)? = contents[EntryName(bundle.bundle.infoPlistPath)] {
                context.infoPlist = digests
            }
            guard let prepared = waiting[bundle.executable.index] else {
                preconditionFailure("the plan has only bundles whose executable is code")
            }
            let signed = try prepared.sign(context)
            waiting[bundle.executable.index] = nil
            done.append(signed)
            if let digests = signed.digests {
                contents[executable] = .file(digests)
                names.insert(executable, at: names.place(of: executable))
            }
        }
        return done
    }

    /// A bundle's executable was packed.
    mutating func pack(_ file: ArchiveFile, _ encoded: EncodedEntry) {
        fates[file.index] = .replaced(encoded)
    }

    private mutating func put(_ bytes: [UInt8], at path: String) {
        let encoded = Deflate.encode(bytes)
        if let file = plan.contents.file(named: path), !plan.isLeftOut(file) {
            replace(file, encoded, .file(Digests(of: bytes)))
        } else {
            added.append((path, encoded))
            contents[EntryName(path)] = .file(Digests(of: bytes))
        }
    }

    /// The output's entries: the old ones in the directory's order, then the new ones.
    func result() -> Sealer.Result {
        let executables = Set(plan.bundles.map(\.executable.index))
        let files = plan.contents.files.filter { !plan.isLeftOut($0) }
        let old = files.filter { $0.entry != nil }
        let date = old.first?.entry?.modified ?? .earliest
        var items: [OutputItem] = (old + files.filter { $0.entry == nil }).map { file in
            let mode = Self.mode(
                file,
                isExecutable: executables.contains(file.index),
                isCode: plan.contents.code[file.index] != nil
            )
            switch (file.entry, fates[file.index]) {
            case (let entry?, .replaced(let encoded)?):
                // A link's place may be taken by a file.
                let isLink = file.isSymbolicLink && file.newContent == nil
                return .replace(entry, encoded, mode: isLink ? 0o100644 : mode)
            case (let entry?, _): return .copy(entry, mode: mode)
            case (nil, .replaced(let encoded)?):
                return .new(name: file.name, mode: mode ?? file.mode ?? 0o100644, encoded, modified: date)
            case (nil, _): preconditionFailure("what is new was not copied")
            }
        }
        items += added.map { .new(name: $0.name, mode: 0o100644, $0.encoded, modified: date) }
        var droppedByBundle: [String: [String: String]] = [:]
        for bundle in plan.bundles {
            droppedByBundle[bundle.bundle.path] = dropped[bundle.executable.index]
        }
        return Sealer.Result(
            items: items,
            copied: copied,
            spliced: spliced,
            droppedEntitlements: droppedByBundle,
            signedFileCount: signedFileCount,
            warnings: warnings
        )
    }

    /// The kind and permissions to give; `nil` leaves them as they are.
    ///
    /// An archive that was not made on Unix says nothing of them, some say 0, and an executable that must not be run is no
    /// use. What lets a file run as somebody else, or everybody write it, is taken away.
    private static func mode(_ file: ArchiveFile, isExecutable: Bool, isCode: Bool) -> UInt16? {
        let standard: UInt16 = file.isDirectory || isCode || isExecutable ? 0o755 : 0o644
        guard let mode = file.mode else {
            return (file.isDirectory ? 0o40000 : 0o100000) | standard
        }
        if file.isSymbolicLink { return mode == file.entry?.unixMode ? nil : mode }
        var permissions = mode & 0o775
        if permissions == 0 || (isExecutable && permissions & 0o111 == 0) {
            permissions = standard
        }
        let wanted = mode & 0o170000 | permissions
        return wanted == file.entry?.unixMode ? nil : wanted
    }
}

extension PreparedCode {
    fileprivate var hasSHA1: Bool {
        switch packing {
        case .splice(_, let image, _), .prefix(_, let image, _): image.recipe.algorithms.contains(.sha1)
        case .fat(_, let images): images.contains { $0.image.recipe.algorithms.contains(.sha1) }
        }
    }
}

extension [EntryName] {
    /// Where `name` is, or would be, in a sorted list.
    fileprivate func place(of name: EntryName) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < name {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// The names that begin with `folder`, which ends in a slash.
    fileprivate func run(below folder: String) -> ArraySlice<EntryName> {
        let start = place(of: EntryName(folder))
        // "0" follows "/" in ASCII.
        let end = place(of: EntryName(folder.dropLast() + "0"))
        return self[start..<end]
    }
}
