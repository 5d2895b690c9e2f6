import FerryAppBundle
import FerryBytes
import FerryMachO
import FerryZip

/// An app as it will be: its entries after all edits, its bundles, and which entries are code.
struct ArchiveContents: Sendable {
    /// A Mach-O file in the archive, as far as its header tells.
    struct Code: Sendable {
        let file: ArchiveFile
        /// Whether it is a universal file.
        let isFat: Bool
        /// A parsed header for each slice, after its edits; a universal file's are read whole.
        let images: [MachOImage]
        /// Each slice's new header, for the slice's start; empty where none changes.
        let headers: [EditedHeader]
        /// What would keep a signature out.
        let obstacle: MachOError?
    }

    let source: FileSource
    let directory: ZipDirectory
    /// All that the output has, but for what signing adds and leaves out: the archive's order, then what is new.
    let files: [ArchiveFile]
    let tree: BundleTree
    /// The Mach-O files below the app that are signed, by their file's index.
    let code: [Int: Code]
    /// Mach-O files that are damaged, by their file's index.
    let damaged: [Int: MachOError]
    /// Edits of code that could not be made.
    let reasons: [SignError.Reason]
    /// The code that they were for, by its file's index.
    let refused: Set<Int>
    /// What is not where the directory has it: new, changed, and `nil` for gone.
    private let moved: [EntryName: ArchiveFile?]

    /// The entry of exactly this name; a folder's ends in `/`.
    func file(named name: String) -> ArchiveFile? {
        if !moved.isEmpty, let file = moved[EntryName(name)] { return file }
        return directory.entry(named: name).map(ArchiveFile.init)
    }

    /// Reads an archive as it is.
    static func open(_ path: String, with workers: Workers) async throws -> ArchiveContents {
        try await read(OpenedArchive(path), Overlay(), with: workers)
    }

    /// Lays the edits over an archive, and reads the first bytes of every entry of the app.
    ///
    /// What ``OverlayCheck`` objects to must not come here.
    ///
    /// - Parameter survey: what an earlier pass found, which need not be looked at again.
    static func read(
        _ opened: OpenedArchive,
        _ overlay: Overlay,
        survey: ArchiveSurvey = ArchiveSurvey(),
        with workers: Workers
    ) async throws -> ArchiveContents {
        let source = opened.source
        let directory = opened.directory
        let (files, moved) = lay(overlay, over: directory)
        let tree = try overlay.isEmpty ? opened.tree : tree(of: files, source)

        let app = tree.root.path + "/"
        let candidates = files.filter { file in
            !file.isDirectory && !file.isSymbolicLink && file.name.beginsExactly(with: app) && file.size >= 28
                && (file.newContent != nil || !survey.isResource(file.index))
        }
        let edits = overlay.codeEdits
        let looks = try await workers.map(candidates, cost: { _ in 1 }, context: { Inflater() }) { file, inflater in
            let own = edits.isEmpty ? [] : edits[EntryName(file.name)] ?? []
            return try CodeLook(at: file, edits: own, in: source, inflater)
        }
        var code: [Int: Code] = [:]
        var damaged: [Int: MachOError] = [:]
        var reasons: [SignError.Reason] = []
        var refused: Set<Int> = []
        var edited: Set<EntryName> = []
        for (file, look) in zip(candidates, looks) {
            switch look {
            case .code(let found):
                code[file.index] = found
                if !edits.isEmpty { edited.insert(EntryName(file.name)) }
            case .damaged(let error): damaged[file.index] = error
            case .refused(let reason):
                reasons.append(reason)
                refused.insert(file.index)
                edited.insert(EntryName(file.name))
            case .other: break
            }
        }
        for name in edits.keys.sorted() where !edited.contains(name) {
            reasons.append(
                .init("\(name.text): its load commands cannot be changed, for there is no such code in the app.")
            )
        }
        return ArchiveContents(
            source: source,
            directory: directory,
            files: files,
            tree: tree,
            code: code,
            damaged: damaged,
            reasons: reasons,
            refused: refused,
            moved: moved
        )
    }

    private static func lay(
        _ overlay: Overlay,
        over directory: ZipDirectory
    ) -> (files: [ArchiveFile], moved: [EntryName: ArchiveFile?]) {
        guard !overlay.isEmpty else { return (directory.entries.map(ArchiveFile.init), [:]) }
        var moved: [EntryName: ArchiveFile?] = [:]
        var added: [ArchiveFile] = []
        for addition in overlay.additions {
            let entry = directory.entry(named: addition.name.text)
            let index = entry?.index ?? directory.entries.count + added.count
            let file = ArchiveFile(addition, over: entry, index: index)
            moved[addition.name] = .some(file)
            if entry == nil { added.append(file) }
        }
        var files: [ArchiveFile] = []
        files.reserveCapacity(directory.entries.count + added.count)
        for entry in directory.entries {
            let name = EntryName(entry.name)
            if let file = moved[name] ?? nil {
                files.append(file)
            } else if overlay.removes(entry.name) {
                moved[name] = .some(nil)
            } else if let bytes = overlay.replaced[name] {
                let file = ArchiveFile(entry, bytes: bytes)
                moved[name] = .some(file)
                files.append(file)
            } else {
                files.append(ArchiveFile(entry))
            }
        }
        return (files + added, moved)
    }

    private static func tree(of files: [ArchiveFile], _ source: FileSource) throws -> BundleTree {
        let inflater = Inflater()
        let named = Dictionary(
            files.lazy.filter { $0.name.utf8.count >= 11 && $0.name.utf8.suffix(11).elementsEqual("/Info.plist".utf8) }
                .map { (EntryName($0.name), $0) },
            uniquingKeysWith: { one, _ in one }
        )
        return try BundleTree(
            paths: files.map {
                BundlePath(path: $0.name, isDirectory: $0.isDirectory, isSymbolicLink: $0.isSymbolicLink)
            },
            readInfoPlist: { path in
                try OpenedArchive.small(path, named[EntryName(path)], source, inflater)
            }
        )
    }
}
