import FerryPropertyList

/// Builds the tree of bundles below one app, and gathers what is wrong with each.
struct BundleBuilder {
    private let listing: ArchiveListing
    private let app: String
    private var inside: [String: [String]] = [:]
    private(set) var warnings: [BundleWarning] = []
    private(set) var faults: [AppBundleError] = []

    init(listing: ArchiveListing, app: String) {
        self.listing = listing
        self.app = app
    }

    /// The app with all in it; throws where that is more than any real app has.
    mutating func build(_ readInfoPlist: (String) throws -> [UInt8]) throws(AppBundleError) -> Bundle {
        try arrange()
        return bundle(at: app, container: nil, readInfoPlist)
    }

    /// Sorts the bundle folders under the nearest bundle around each.
    private mutating func arrange() throws(AppBundleError) {
        let prefix = Array((app + "/").utf8)
        let paths = listing.folders.filter { folder in
            Bundle.Kind(folderName: folder.lastName) != nil && folder.utf8.starts(with: prefix)
        }
        guard paths.count < BundleTree.maximumBundleCount else {
            throw Self.tooMany(app, "it holds \(paths.count) bundles, more than \(BundleTree.maximumBundleCount)")
        }
        for path in paths {
            var depth = 1
            var parent: Substring?
            var folder = path
            while let outer = folder.folder {
                folder = outer
                guard Bundle.Kind(folderName: folder.lastName) != nil else { continue }
                parent = parent ?? folder
                depth += 1
                if folder == app { break }
            }
            guard depth <= BundleTree.maximumBundleDepth else {
                throw Self.tooMany(String(path), "it lies in more than \(BundleTree.maximumBundleDepth) other bundles")
            }
            inside[String(parent ?? app[...]), default: []].append(String(path))
        }
    }

    private static func tooMany(_ path: String, _ what: String) -> AppBundleError {
        AppBundleError(
            .tooManyBundles,
            path,
            "\(what).",
            remedy: "No real app needs as many; get it from where it was published."
        )
    }

    private mutating func bundle(
        at path: String,
        container: String?,
        _ readInfoPlist: (String) throws -> [UInt8]
    ) -> Bundle {
        let kind = Bundle.Kind(folderName: path[...].lastName) ?? .resource
        let info = infoPlist(of: path, kind, readInfoPlist)
        let executable = info.flatMap { self.executable(of: path, $0, kind) }
        let own = info ?? InfoPlist()
        if kind.hasProfile, info != nil { checkIdentifier(of: path, own) }
        if own.isSimulatorOnly {
            warnings.append(BundleWarning(path, "it is built for the simulator, and no device will run it"))
        }
        let children = (inside[path] ?? []).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map {
            bundle(at: $0, container: kind.hasProfile ? path : container, readInfoPlist)
        }
        return Bundle(
            path: path,
            kind: kind,
            info: own,
            hasInfoPlist: info != nil,
            executable: executable?.path,
            executableExists: executable?.exists ?? false,
            container: container,
            children: children
        )
    }

    // MARK: Info.plist

    private mutating func infoPlist(
        of bundle: String,
        _ kind: Bundle.Kind,
        _ readInfoPlist: (String) throws -> [UInt8]
    ) -> InfoPlist? {
        let path = bundle + "/Info.plist"
        switch listing.entries[path] {
        case .file: break
        case .link:
            return refuse(
                AppBundleError(
                    .infoPlistUnreadable,
                    path,
                    "the Info.plist is a symbolic link, which no device follows.",
                    remedy: "Put the file itself there."
                ),
                kind
            )
        case nil:
            return refuse(
                AppBundleError(
                    .infoPlistMissing,
                    bundle,
                    "it has no Info.plist.",
                    remedy: "Get the app again; the archive is not whole."
                ),
                kind
            )
        }
        let bytes: [UInt8]
        do {
            bytes = try readInfoPlist(path)
        } catch {
            faults.append(AppBundleError.infoPlist(path, error))
            return nil
        }
        do throws(AppBundleError) {
            return try InfoPlist(bytes: bytes, path: path)
        } catch {
            return refuse(error, kind)
        }
    }

    /// A fault of an app or extension; of anything else only a warning, for iOS takes that for a folder of resources.
    private mutating func refuse(_ fault: AppBundleError, _ kind: Bundle.Kind) -> InfoPlist? {
        if kind.hasProfile {
            faults.append(fault)
        } else if kind != .resource || fault.code != .infoPlistMissing {
            let what = fault.message.dropFirst(AppBundleError.printable(fault.path).count + 2)
            warnings.append(BundleWarning(fault.path, "\(what) It is taken for a folder of resources."))
        }
        return nil
    }

    private mutating func checkIdentifier(of path: String, _ info: InfoPlist) {
        guard let identifier = info.identifier else {
            let isOther = info.dictionary["CFBundleIdentifier"] != nil
            faults.append(
                AppBundleError(
                    .identifierMissing,
                    path + "/Info.plist",
                    isOther ? "CFBundleIdentifier is no string." : "there is no CFBundleIdentifier.",
                    remedy: "Get the app again; it cannot be installed."
                )
            )
            return
        }
        guard !BundleIdentifier.isUsable(identifier) else { return }
        faults.append(
            AppBundleError(
                .identifierIllegal,
                path + "/Info.plist",
                "the bundle identifier “\(AppBundleError.printable(identifier))” is not legal.",
                remedy: "Only letters, digits, - and . may be in it; get an app that was built to the end."
            )
        )
    }

    // MARK: Executable

    private mutating func executable(
        of bundle: String,
        _ info: InfoPlist,
        _ kind: Bundle.Kind
    ) -> (path: String, exists: Bool)? {
        let isLenient = !kind.hasProfile || (bundle != app && Self.mayLackExecutable(bundle, info))
        guard let name = info.executable, !name.isEmpty else {
            lacking(
                .executableUnnamed,
                bundle,
                "its Info.plist names no executable",
                kind,
                isLenient
            )
            return nil
        }
        guard !name.utf8.contains(UInt8(ascii: "/")), !name.utf8.contains(0), name != ".", name != ".." else {
            faults.append(
                AppBundleError(
                    .executableIllegal,
                    bundle + "/Info.plist",
                    "CFBundleExecutable is “\(AppBundleError.printable(name))”, which is no plain name.",
                    remedy: "Do not trust this app; get it from where it was published."
                )
            )
            return nil
        }
        let path = bundle + "/" + name
        let shown = AppBundleError.printable(name)
        guard let place = listing.entries.index(forKey: path) else {
            lacking(.executableMissing, bundle, "its executable “\(shown)” is not there", kind, isLenient)
            return (path, false)
        }
        // Spelled as the archive does: its accents may be composed otherwise than the Info.plist's.
        let entry = listing.entries[place]
        guard entry.value == .file else {
            lacking(.executableMissing, bundle, "its executable “\(shown)” is a symbolic link", kind, isLenient)
            return (path, false)
        }
        return (entry.key, true)
    }

    private mutating func lacking(
        _ code: AppBundleError.Code,
        _ bundle: String,
        _ what: String,
        _ kind: Bundle.Kind,
        _ isLenient: Bool
    ) {
        guard isLenient else {
            faults.append(
                AppBundleError(code, bundle, "\(what).", remedy: "Get the app again; the archive is not whole.")
            )
            return
        }
        // A folder of resources that names no executable is just that.
        guard kind != .resource || code == .executableMissing else { return }
        warnings.append(BundleWarning(bundle, "\(what); it is taken for a folder of resources"))
    }

    /// Watch apps of the first kinds are stubs whose code the system brings along.
    private static func mayLackExecutable(_ bundle: String, _ info: InfoPlist) -> Bool {
        let path = bundle.lowercased()
        return info.isWatchApp || path.contains("watchplaceholder") || path.contains("_watchkitstub")
    }
}
