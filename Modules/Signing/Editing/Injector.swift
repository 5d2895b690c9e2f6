import FerryAppBundle
import FerryArchives
import FerryBytes
import FerryMachO
import FerryZip

/// Makes an overlay of what a recipe injects, and of the libraries that it removes and renames.
struct Injector {
    private let opened: OpenedArchive
    private let recipe: SigningRecipe
    /// The overlay of everything else that is asked for.
    private let others: Overlay
    private(set) var overlay = Overlay()
    private(set) var reasons: [SignError.Reason] = []
    private(set) var warnings: [String] = []

    init(_ recipe: SigningRecipe, on opened: OpenedArchive, beside others: Overlay) {
        self.recipe = recipe
        self.opened = opened
        self.others = others
        // What is injected may take the place of a framework with extensions in it: those are not there to be changed.
        let injected = inject()
        // What goes makes room for what comes.
        let edits =
            recipe.removedLibraries.map(LibraryEdit.remove)
            + recipe.renamedLibraries.map { .rename($0.name, to: $0.path) }
        for bundle in executables { overlay.edit(bundle.executable, edits) }
        if (recipe.removedLibraries + recipe.renamedLibraries.map(\.name)).contains("") {
            reasons.append(
                .init(
                    "A library is to be removed or renamed, and its name is empty.",
                    remedy: "Give its path, or the last part of it: libOld.dylib."
                )
            )
        }
        guard let injected else { return }
        for injection in recipe.injections {
            guard let number = injected.sources.firstIndex(of: injection.source) else { continue }
            load(injected.plan, tweak: number, injection)
        }
    }

    private var root: Bundle { opened.tree.root }

    /// The app and the extensions and apps in it that stay, with their executables.
    private var executables: [(bundle: Bundle, executable: String)] {
        opened.tree.bundles.compactMap { bundle in
            guard bundle.kind.hasProfile, bundle.isCode, !others.removes(bundle.path), !overlay.removes(bundle.path)
            else { return nil }
            return bundle.executable.map { (bundle, $0) }
        }
    }

    private func targets(of injection: SigningRecipe.Injection) -> [(bundle: Bundle, executable: String)] {
        switch injection.target {
        case .app: executables.filter { $0.bundle.path == root.path }
        case .all: executables.filter { $0.bundle.path == root.path || $0.bundle.kind == .appExtension }
        case .bundle(let name):
            executables.filter { $0.bundle.identifier == name || $0.bundle.name.utf8.elementsEqual(name.utf8) }
        }
    }

    /// Puts in what the recipe injects; gives where each tweak came from, by its number, and the plan of all.
    private mutating func inject() -> (sources: [String], plan: InjectedFiles)? {
        guard !recipe.injections.isEmpty else { return nil }
        var sources: [String] = []
        for injection in recipe.injections where !sources.contains(injection.source) {
            sources.append(injection.source)
        }
        var tweaks: [Tweak] = []
        for source in sources {
            do {
                tweaks.append(try Tweak(path: source))
            } catch {
                reasons.append(SignError.Reason(error))
            }
        }
        // The numbers of the tweaks are those of their sources.
        guard tweaks.count == sources.count else { return nil }
        let app = root.path + "/"
        let own = opened.directory.entries.lazy
            .filter { !$0.isDirectory && $0.name.beginsExactly(with: app) }
            .map { $0.name.dropping(app) }
        let plan: InjectedFiles
        do {
            plan = try InjectedFiles(
                tweaks,
                naming: recipe.injectionNaming == .executablePath ? .executablePath : .rpath,
                identifier: root.identifier,
                executable: root.executable?.pathParts.last,
                appFiles: own
            )
        } catch {
            reasons.append(SignError.Reason(error))
            return nil
        }
        warnings += plan.notes.map(\.text)
        add(plan, replacing: Set(own.map(EntryName.init)))
        return (sources, plan)
    }

    /// Puts the files in; those of the same names that the app has give way.
    private mutating func add(_ plan: InjectedFiles, replacing own: Set<EntryName>) {
        // Of a framework that was there nothing stays.
        for library in plan.libraries {
            guard let framework = library.path.foldersAbove.first(where: { $0.hasSuffix(".framework") }) else {
                continue
            }
            if own.contains(where: { $0.text.beginsExactly(with: framework + "/") }) {
                overlay.remove(root.path + "/" + framework)
            }
        }
        for file in plan.files where !file.path.pathParts.contains("_CodeSignature") {
            let name = root.path + "/" + file.path
            let content: Overlay.Content =
                switch file.content {
                case .bytes(let bytes): .file(bytes)
                case .link(let target): .link(target)
                }
            overlay.add(name, content, permissions: file.mode & 0o777, takesPlaceOfCode: true)
        }
        for library in plan.libraries {
            let name = root.path + "/" + library.path
            overlay.edit(name, library.edits)
            if own.contains(EntryName(library.path)) {
                warnings.append("\(name): what the app had there gives way to what is injected.")
            }
        }
    }

    private mutating func load(_ plan: InjectedFiles, tweak: Int, _ injection: SigningRecipe.Injection) {
        let targets = targets(of: injection)
        if targets.isEmpty {
            let names = executables.compactMap(\.bundle.identifier).joined(separator: ", ")
            reasons.append(
                .init(
                    "\(injection.source): it is to be injected into “\(injection.target.name.printable)”, and no app or "
                        + "extension that stays is called that.",
                    remedy: names.isEmpty ? nil : "There is \(names)."
                )
            )
        }
        for (bundle, executable) in targets {
            let folder = bundle.path == root.path ? "" : bundle.path.dropping(root.path + "/")
            // What was asked for twice, as by “app” and “all”, is done once.
            let done = overlay.codeEdits[EntryName(executable)] ?? []
            let edits = plan.edits(forExecutableIn: folder, isWeak: injection.isWeak, tweak: tweak)
            overlay.edit(executable, edits.filter { !done.contains($0) })
            for library in plan.libraries where library.tweak == tweak {
                overlay.note(root.path + "/" + library.path, isLoadedBy: executable)
            }
        }
    }
}
