import FerryBytes
import FerryMachO

/// What an archive's tree is to look like: entries with other bytes, entries more, entries less.
///
/// It says what is wished, by name; ``ArchiveContents`` lays it over the archive, and ``OverlayCheck`` says which wishes
/// cannot be. An empty one costs nothing.
struct Overlay: Sendable {
    /// What an entry holds.
    enum Content: Sendable, Hashable {
        /// A regular file's bytes.
        case file([UInt8])
        /// A symbolic link's target.
        case link(String)

        /// The bytes that an entry of the archive holds.
        var bytes: [UInt8] {
            switch self {
            case .file(let bytes): bytes
            case .link(let target): Array(target.utf8)
            }
        }
    }

    /// An entry that was not there, or whose place is taken.
    struct Addition: Sendable {
        let name: EntryName
        let content: Content
        /// The permissions of a file.
        let permissions: UInt16
        /// Whether a framework's executable or Info.plist may give way to it.
        let takesPlaceOfCode: Bool
    }

    /// New code that an executable is to load.
    struct Load: Sendable, Hashable {
        let library: EntryName
        let executable: EntryName
    }

    /// New bytes of entries that are there.
    private(set) var replaced: [EntryName: [UInt8]] = [:]
    /// In the order in which they were asked for.
    private(set) var additions: [Addition] = []
    /// Files, and folders with all that is in them; without a slash at the end.
    private(set) var removed: [EntryName] = []
    /// Changes of load commands, in the order in which they are made.
    private(set) var codeEdits: [EntryName: [LibraryEdit]] = [:]
    /// Which new code is loaded by which executable, for checks: what loads it is in ``codeEdits``.
    private(set) var loads: [Load] = []

    /// Whether nothing is wished.
    var isEmpty: Bool {
        replaced.isEmpty && additions.isEmpty && removed.isEmpty && codeEdits.isEmpty
    }

    /// Gives an entry that is there other bytes; name and permissions stay.
    mutating func replace(_ name: String, with bytes: [UInt8]) {
        replaced[EntryName(name)] = bytes
    }

    /// Adds an entry, or puts it in another's place.
    ///
    /// - Parameter takesPlaceOfCode: whether that may be a framework's executable or Info.plist.
    mutating func add(
        _ name: String,
        _ content: Content,
        permissions: UInt16 = 0o644,
        takesPlaceOfCode: Bool = false
    ) {
        additions.append(
            Addition(
                name: EntryName(name),
                content: content,
                permissions: permissions,
                takesPlaceOfCode: takesPlaceOfCode
            )
        )
    }

    /// Notes who loads new code.
    mutating func note(_ library: String, isLoadedBy executable: String) {
        loads.append(Load(library: EntryName(library), executable: EntryName(executable)))
    }

    /// Removes a file or link, or a folder with all that is in it.
    mutating func remove(_ path: String) {
        removed.append(EntryName(path))
    }

    /// Changes the load commands of a Mach-O file, every image of it.
    mutating func edit(_ name: String, _ edits: [LibraryEdit]) {
        guard !edits.isEmpty else { return }
        codeEdits[EntryName(name), default: []] += edits
    }

    /// Takes back what was wished of these names.
    mutating func forget(_ names: Set<EntryName>) {
        additions.removeAll { names.contains($0.name) }
        removed.removeAll { names.contains($0) }
    }

    /// Adds what another one wishes.
    mutating func merge(_ other: Overlay) {
        replaced.merge(other.replaced) { $1 }
        additions += other.additions
        removed += other.removed
        codeEdits.merge(other.codeEdits) { $0 + $1 }
        loads += other.loads
    }

    /// Whether an entry goes, or one of the folders that it lies in.
    func removes(_ name: String) -> Bool {
        removed.contains { Self.isAtOrBelow(name, $0.text) }
    }

    /// Whether `name` is the path, or lies in the folder of that path.
    static func isAtOrBelow(_ name: String, _ path: String) -> Bool {
        guard name.beginsExactly(with: path) else { return false }
        let rest = name.utf8.dropFirst(path.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/")
    }
}
