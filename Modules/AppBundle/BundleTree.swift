/// What an archive holds: the one app in `Payload`, and every bundle in it at any depth.
///
/// Made from the list of the archive's entries; of files only the Info.plists are read. Making it throws only where there
/// is nothing to work on; all else that is wrong is gathered, so that people hear it at once.
public struct BundleTree: Sendable {
    /// The most bundles in one app.
    public static let maximumBundleCount = 5000
    /// The most bundles inside one another.
    public static let maximumBundleDepth = 16

    /// The app.
    public let root: Bundle
    /// Entries in `Payload` that are no part of the app, which is where installing stumbles over them: to be left out.
    public let strays: [String]
    /// What a signer should hear, though it may go on.
    public let warnings: [BundleWarning]

    private let faults: [AppBundleError]

    /// Finds the app and its bundles; `readInfoPlist` gives the bytes of the file at a path of the list.
    public init(
        paths: [BundlePath],
        readInfoPlist: (String) throws -> [UInt8]
    ) throws(AppBundleError) {
        var listing = ArchiveListing(paths)
        let app = try listing.app()
        var builder = BundleBuilder(listing: listing, app: app)
        root = try builder.build(readInfoPlist)
        strays = listing.strays.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        warnings = builder.warnings
        faults = listing.faults + builder.faults
    }

    /// Everything for which the app cannot be signed, whatever profile or identifier is chosen.
    public func problems() -> [AppBundleError] { faults }

    /// The app and all bundles in it, each before those inside it.
    public var bundles: [Bundle] { root.all() }

    /// The bundle at a path.
    public func bundle(at path: String) -> Bundle? {
        bundles.first { $0.path == path }
    }
}

/// The entries of an archive, by path, with what is wrong about them as a list.
struct ArchiveListing {
    enum Entry {
        case file
        case link
    }

    static let payload = "Payload"

    /// Every file and link in the app's part of the archive.
    private(set) var entries: [Substring: Entry] = [:]
    /// Every folder that an entry lies in or is.
    private(set) var folders: Set<Substring> = []
    private(set) var strays: [String] = []
    private(set) var faults: [AppBundleError] = []
    /// The applications in `Payload`, in the archive's order.
    private var apps: [Substring] = []
    private var misplacedApp: Substring?
    private var topNames: [Substring] = []

    init(_ paths: [BundlePath]) {
        entries.reserveCapacity(paths.count)
        for entry in paths { add(entry) }
        for folder in folders where entries[folder] != nil {
            faults.append(
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
            faults.append(
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
            if entries.updateValue(entry.isSymbolicLink ? .link : .file, forKey: path) != nil {
                faults.append(
                    AppBundleError(
                        .duplicatePath,
                        entry.path,
                        "the archive has it twice, and which one counts depends on the reader.",
                        remedy: "Get the archive again from where it comes."
                    )
                )
            }
            if let slash = path.lastIndex(of: "/") { addFolder(path[..<slash]) }
        }
        note(path, isFolder: entry.isDirectory, original: entry.path)
    }

    private mutating func addFolder(_ folder: Substring) {
        var folder = folder
        while folders.insert(folder).inserted, let slash = folder.lastIndex(of: "/") {
            folder = folder[..<slash]
        }
    }

    /// Sorts an entry by its first two parts.
    private mutating func note(_ path: Substring, isFolder: Bool, original: String) {
        guard let slash = path.firstIndex(of: "/") else {
            if path != Self.payload, !BundlePath.isJunk(original) { noteTop(path) }
            return
        }
        let top = path[..<slash]
        guard top == Self.payload else {
            if !BundlePath.isJunk(original) {
                noteTop(top)
                noteMisplaced(path)
            }
            return
        }
        let rest = path[path.index(after: slash)...]
        let second = rest.firstIndex(of: "/")
        let name = rest[..<(second ?? rest.endIndex)]
        guard second != nil || isFolder, Bundle.Kind(folderName: name) == .app, !BundlePath.isJunk(String(name)) else {
            strays.append(original)
            if apps.isEmpty, topNames.count < Self.mostNames, !BundlePath.isJunk(original) { noteTop(path) }
            return
        }
        let app = path[..<name.endIndex]
        if apps.last != app, !apps.contains(app) { apps.append(app) }
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
