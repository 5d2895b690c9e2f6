/// The entries of an archive, by path, with what is wrong about them as a list.
struct ArchiveListing {
    enum Entry {
        case file
        case link
    }

    static let payload = "Payload"

    /// Every file and link of the archive.
    private(set) var entries: [String: Entry] = [:]
    /// Every folder that an entry lies in or is.
    private(set) var folders: Set<Substring> = []
    private(set) var strays: [String] = []
    private(set) var faults: [AppBundleError] = []
    /// The applications in `Payload`, in the archive's order.
    private var apps: [Substring] = []
    private var misplacedApp: Substring?
    private var topNames: [Substring] = []
    private var lastFolder: Substring?
    /// The bytes that begin all paths of the app found last.
    private var lastAppBytes: [UInt8] = []

    /// The most faults that are told; more say nothing more.
    private static let mostFaults = 100

    init(_ paths: [BundlePath]) {
        entries.reserveCapacity(paths.count)
        for entry in paths { add(entry) }
        for folder in folders where entries[String(folder)] != nil {
            note(
                AppBundleError(
                    .duplicatePath,
                    String(folder),
                    "it is a file and a folder at once.",
                    remedy: "Get the archive again from where it comes."
                )
            )
        }
        faults.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// The one app; throws where there is none or another beside it.
    mutating func app() throws(AppBundleError) -> String {
        guard let app = apps.first else {
            if let misplacedApp {
                throw AppBundleError(
                    .noApp,
                    Self.payload,
                    "there is no app in it; one lies at \(AppBundleError.printable(String(misplacedApp))).",
                    remedy: "Pack the archive anew so that Payload is at its top."
                )
            }
            let shown = 5
            let names = topNames.prefix(shown).map { AppBundleError.printable(String($0)) }.joined(separator: ", ")
            throw AppBundleError(
                .noApp,
                Self.payload,
                "there is no app in the archive; "
                    + (names.isEmpty ? "it is empty." : "it holds \(names)\(topNames.count > shown ? ", …" : "")."),
                remedy: "Give an .ipa, which holds Payload/NAME.app."
            )
        }
        guard apps.count == 1 else {
            let names = apps.dropFirst().map { AppBundleError.printable(String($0)) }.joined(separator: ", ")
            throw AppBundleError(
                .severalApps,
                String(app),
                "there is another app beside it: \(names).",
                remedy: "Leave one app in Payload."
            )
        }
        return String(app)
    }

    private mutating func add(_ entry: BundlePath) {
        if let fault = entry.fault {
            note(
                AppBundleError(
                    .unsafePath,
                    entry.path,
                    "\(fault).",
                    remedy: "Do not trust this archive; get it from where it was published."
                )
            )
            return
        }
        let path = entry.trimmed
        if entry.isDirectory {
            addFolder(path)
        } else {
            if entries.updateValue(entry.isSymbolicLink ? .link : .file, forKey: entry.path) != nil {
                note(
                    AppBundleError(
                        .duplicatePath,
                        entry.path,
                        "the archive has it twice, and which one counts depends on the reader.",
                        remedy: "Get the archive again from where it comes."
                    )
                )
            }
            if let folder = path.folder { addFolder(folder) }
        }
        note(path, isFolder: entry.isDirectory, original: entry.path)
    }

    private mutating func addFolder(_ folder: Substring) {
        var folder = folder
        // Entries of one folder mostly follow each other.
        guard folder != lastFolder else { return }
        lastFolder = folder
        while folders.insert(folder).inserted, let outer = folder.folder { folder = outer }
    }

    /// Sorts an entry by its first two parts.
    private mutating func note(_ path: Substring, isFolder: Bool, original: String) {
        if !lastAppBytes.isEmpty, path.utf8.starts(with: lastAppBytes) { return }
        let (top, rest) = path.splitAtFirstName
        guard let rest else {
            if path != Self.payload, !BundlePath.isJunk(original) { noteTop(path) }
            return
        }
        guard top == Self.payload else {
            if !BundlePath.isJunk(original) {
                noteTop(top)
                noteMisplaced(path)
            }
            return
        }
        let (name, inner) = rest.splitAtFirstName
        guard inner != nil || isFolder, Bundle.Kind(folderName: name) == .app, !BundlePath.isJunk(String(name)) else {
            strays.append(original)
            if apps.isEmpty, !BundlePath.isJunk(original) { noteTop(path) }
            return
        }
        let app = path[..<name.endIndex]
        lastAppBytes = Array(app.utf8) + [UInt8(ascii: "/")]
        if apps.last != app, apps.count < Self.mostNames, !apps.contains(app) { apps.append(app) }
    }

    private mutating func note(_ fault: AppBundleError) {
        if faults.count < Self.mostFaults { faults.append(fault) }
    }

    private static let mostNames = 6

    private mutating func noteTop(_ name: Substring) {
        if topNames.count < Self.mostNames, !topNames.contains(name) { topNames.append(name) }
    }

    private mutating func noteMisplaced(_ path: Substring) {
        guard misplacedApp == nil, let range = path.firstRange(of: ".app/") else { return }
        misplacedApp = path[..<path.index(before: range.upperBound)]
    }
}
