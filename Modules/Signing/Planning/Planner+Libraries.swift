import FerryAppBundle
import FerryBytes
import FerryMachO

extension Planner {
    /// Tells what became of the edits of load commands, and refuses new code that nothing could load.
    mutating func checkLibraries() {
        guard !overlay.codeEdits.isEmpty || !overlay.loads.isEmpty else { return }
        var missing: [LibraryEdit] = []
        var found: Set<LibraryEdit> = []
        for file in contents.files {
            guard let edits = overlay.codeEdits[EntryName(file.name)], let code = contents.code[file.index] else {
                continue
            }
            for (number, edit) in edits.enumerated() {
                let outcomes = code.headers.map { $0.outcomes[number] }
                if outcomes.allSatisfy({ $0 == .notFound }) {
                    if !missing.contains(edit) { missing.append(edit) }
                } else {
                    found.insert(edit)
                }
                for outcome in outcomes { tell(outcome, of: edit, in: file.name) }
            }
        }
        for edit in missing where !found.contains(edit) {
            switch edit {
            case .remove(let name), .rename(let name, _):
                warnings.append("\(contents.tree.root.path): neither the app nor an extension loads \(name.printable).")
            case .add, .addRPath, .removeRPath, .setInstallName: break
            }
        }
        var seen: Set<Overlay.Load> = []
        for load in overlay.loads where seen.insert(load).inserted { check(load) }
    }

    private mutating func tell(_ outcome: EditedHeader.Outcome, of edit: LibraryEdit, in name: String) {
        let text: String
        switch (outcome, edit) {
        case (.alreadyThere, .add(let path, _)):
            text = "\(name): it loads \(path.printable) already."
        case (.standIn(let symbols), .remove(let library)):
            let first = (symbols ?? []).prefix(5).map(\.printable).joined(separator: ", ")
            let more = (symbols?.count ?? 0) > 5 ? ", …" : ""
            text =
                "\(name): \(library.printable) is loaded no longer"
                + (first.isEmpty ? "." : "; code that uses what it took from it ends the app there: \(first)\(more).")
        default: return
        }
        if !warnings.contains(text) { warnings.append(text) }
    }

    private mutating func check(_ load: Overlay.Load) {
        guard let executable = images(of: load.executable), let library = images(of: load.library) else { return }
        let alone = executable.filter { image in
            !library.contains { other in
                other.architecture == image.architecture
                    && (other.platform == nil || image.platform == nil || other.platform == image.platform)
            }
        }
        guard let image = alone.first else { return }
        let text = "\(load.library.text): it has no code that \(load.executable.text) could load (\(Self.kind(image)))"
        let own = library.map(Self.kind).joined(separator: ", ")
        if alone.count == executable.count {
            reasons.append(
                .init(text + ", only \(own).", remedy: "Get it for the processor and the system that the app is for.")
            )
        } else {
            warnings.append(text + "; on such devices the app does not start, unless it is loaded weakly.")
        }
    }

    private func images(of name: EntryName) -> [MachOImage]? {
        contents.file(named: name.text).flatMap { contents.code[$0.index]?.images }
    }

    /// Processor and system, for people: `arm64 for iOS`.
    private static func kind(_ image: MachOImage) -> String {
        image.architecture + (image.platform.map { " for " + Platform.buildPlatformName($0) } ?? "")
    }
}
