import FerryAppBundle
import FerryBytes
import FerryZip

/// Holds what is to be added and removed against what an archive has, and says what cannot be.
struct OverlayCheck {
    private let opened: OpenedArchive
    private let overlay: Overlay
    /// Every file and link of the archive, and every folder that one lies in, as they are spelled.
    private var files: Set<EntryName> = []
    private var folders: Set<EntryName> = []
    private(set) var reasons: [SignError.Reason] = []
    /// The names that they are about.
    private(set) var refused: Set<EntryName> = []

    /// The longest part of a path that file systems take, in bytes.
    private static let partLimit = 255
    /// The longest path in an archive, in bytes.
    private static let pathLimit = 4096

    /// Checks all of it.
    init(_ overlay: Overlay, on opened: OpenedArchive) {
        self.opened = opened
        self.overlay = overlay
        guard !overlay.additions.isEmpty || !overlay.removed.isEmpty else { return }
        for entry in opened.directory.entries {
            let path = entry.isDirectory ? String(entry.name.dropLast()) : entry.name
            if entry.isDirectory {
                folders.insert(EntryName(path))
            } else {
                files.insert(EntryName(path))
            }
            addFolders(above: path)
        }
        checkRemovals()
        if !overlay.additions.isEmpty { checkAdditions() }
    }

    private mutating func addFolders(above path: String) {
        for folder in path.foldersAbove where !folders.insert(EntryName(folder)).inserted { return }
    }

    private mutating func refuse(_ name: String, _ why: String, remedy: String? = nil) {
        refused.insert(EntryName(name))
        reasons.append(SignError.Reason("\(name.printable): \(why).", remedy: remedy))
    }

    // MARK: Removals

    private mutating func checkRemovals() {
        let root = opened.tree.root.path
        let bundles = opened.tree.bundles
        for removed in overlay.removed {
            let name = removed.text
            guard files.contains(removed) || folders.contains(removed) else {
                refuse(
                    name,
                    "it cannot be removed, for there is no such file or folder",
                    remedy: "See what the archive has with unzip -l; capitals count."
                )
                continue
            }
            guard !Overlay.isAtOrBelow(root, name) else {
                refuse(name, "it cannot be removed, for it is the app itself")
                continue
            }
            for bundle in bundles where !Overlay.isAtOrBelow(bundle.path, name) {
                if bundle.isCode, let executable = bundle.executable, Overlay.isAtOrBelow(executable, name) {
                    refuse(
                        name,
                        "it cannot be removed, for it is the executable of \(bundle.path)",
                        remedy: "Remove the whole bundle, or leave the file."
                    )
                } else if bundle.kind.hasProfile, Overlay.isAtOrBelow(bundle.infoPlistPath, name) {
                    refuse(
                        name,
                        "it cannot be removed, for it is the Info.plist of \(bundle.path)",
                        remedy: "Remove the whole bundle, or leave the file."
                    )
                }
            }
        }
    }

    // MARK: Additions

    private mutating func checkAdditions() {
        var executables: [EntryName: String] = [:]
        var reserved: Set<EntryName> = []
        /// What injected code may take the place of.
        var replaceable: Set<EntryName> = []
        for bundle in opened.tree.bundles {
            if bundle.isCode, let executable = bundle.executable {
                executables[EntryName(executable)] = bundle.path
                if !bundle.kind.hasProfile { replaceable.insert(EntryName(executable)) }
            }
            if bundle.hasInfoPlist {
                reserved.insert(EntryName(bundle.infoPlistPath))
                if !bundle.kind.hasProfile { replaceable.insert(EntryName(bundle.infoPlistPath)) }
            }
            if bundle.kind.hasProfile { reserved.insert(EntryName(bundle.profilePath)) }
        }
        let links = Set(opened.directory.entries.lazy.filter(\.isSymbolicLink).map { EntryName($0.name) })
        var seen: Set<EntryName> = []
        // Under one spelling for all: file systems differ in which they tell apart.
        var spellings: [String: EntryName] = [:]
        for name in files where !overlay.removes(name.text) { spellings[name.text.lowercased()] = name }
        for name in folders where !overlay.removes(name.text) { spellings[name.text.lowercased()] = name }
        let app = opened.tree.root.path + "/"

        func mayReplace(_ addition: Overlay.Addition) -> Bool {
            addition.takesPlaceOfCode && replaceable.contains(addition.name)
        }
        for addition in overlay.additions {
            let name = addition.name.text
            if let fault = Self.fault(in: name) {
                refuse(name, "nothing can be added there: \(fault)", remedy: "Give a path below the app's folder.")
            } else if !name.beginsExactly(with: app) {
                refuse(name, "it cannot be added, for it is not in the app", remedy: "Give a path below its folder.")
            } else if !seen.insert(addition.name).inserted {
                refuse(name, "it is added twice")
            } else if let bundle = executables[addition.name], !mayReplace(addition) {
                refuse(
                    name,
                    "it cannot be added, for it would take the place of the executable of \(bundle)",
                    remedy: "Add it under another name."
                )
            } else if reserved.contains(addition.name) && !mayReplace(addition) || isInSignature(name) {
                refuse(
                    name,
                    "it cannot be added, for signing writes it",
                    remedy: "Change an Info.plist with --set, and give a profile with --profile."
                )
            } else if overlay.removes(name), !addition.takesPlaceOfCode {
                refuse(
                    name,
                    "it is added, and what it lies in is removed or dropped",
                    remedy: "Add it elsewhere, or keep that."
                )
            } else if folders.contains(addition.name) {
                refuse(name, "it cannot be added, for there is a folder of this name")
            } else if let obstacle = name.foldersAbove.first(where: { isFile($0, seen) }) {
                let kind = links.contains(EntryName(obstacle)) ? "a symbolic link" : "a file"
                refuse(name, "it cannot be added, for \(obstacle.printable) is \(kind), not a folder")
            } else {
                checkSpelling(of: name, among: &spellings)
            }
        }
        checkNewFolders(seen)
    }

    private func isFile(_ path: String, _ added: Set<EntryName>) -> Bool {
        let name = EntryName(path)
        return files.contains(name) || added.contains(name)
    }

    /// Refuses a file that was added where a later one wants a folder.
    private mutating func checkNewFolders(_ added: Set<EntryName>) {
        for addition in overlay.additions {
            for folder in addition.name.text.foldersAbove where added.contains(EntryName(folder)) {
                refuse(folder, "it is added as a file, and as the folder of \(addition.name.text.printable)")
            }
        }
    }

    private mutating func checkSpelling(of name: String, among spellings: inout [String: EntryName]) {
        for path in [name] + name.foldersAbove {
            let own = EntryName(path)
            let spelling = path.lowercased()
            guard let other = spellings[spelling], other != own else {
                spellings[spelling] = own
                continue
            }
            refuse(
                name,
                "it cannot be added beside \(other.text.printable), whose name differs only in capitals or in how "
                    + "its letters are composed",
                remedy: "Spell it as that is spelled to take its place, or give it another name."
            )
            return
        }
    }

    private func isInSignature(_ name: String) -> Bool {
        opened.tree.bundles.contains { $0.isCode && name.beginsExactly(with: $0.path + "/_CodeSignature/") }
    }

    /// Why nothing can have this path; `nil` where something can.
    private static func fault(in path: String) -> String? {
        if path.utf8.count > pathLimit { return "the path has more than \(pathLimit) bytes" }
        if path.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            return "the path has a control character"
        }
        if path.utf8.contains(UInt8(ascii: "\\")) { return "the path has a backslash" }
        for part in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            if part.isEmpty { return "the path has an empty part" }
            if part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) { return "the path climbs out of it" }
            if part.count > partLimit { return "the path has a part of more than \(partLimit) bytes" }
        }
        return BundlePath.isJunk(path) ? "such a file is always left out" : nil
    }
}

extension String {
    /// The folders that a path lies in, the nearest first.
    var foldersAbove: [String] {
        let parts = utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count > 1 else { return [] }
        return (1..<parts.count).reversed().map { count in
            parts[..<count].map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
        }
    }
}
