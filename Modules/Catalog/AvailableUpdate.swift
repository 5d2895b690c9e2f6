public import FerryAppBundle

/// A newer version of an app that is installed.
public struct AvailableUpdate: Sendable, Hashable {
    /// The version that is installed.
    public let installed: InstalledVersion
    /// The newest that the target's system runs.
    public let newest: AppSource.Version
    /// What the source calls the app.
    public let app: String
    /// What messages call the source.
    public let place: String
}

/// An app that is installed, and in which version.
public struct InstalledVersion: Sendable, Hashable {
    /// Its bundle identifier.
    public let identifier: String
    /// Its name; `nil` where it says none.
    public let name: String?
    /// Its `CFBundleShortVersionString`.
    public let version: String?
    /// Its `CFBundleVersion`.
    public let build: String?

    /// An app that was found.
    public init(identifier: String, name: String?, version: String?, build: String?) {
        self.identifier = identifier
        self.name = name
        self.version = version
        self.build = build
    }

    /// Whether a published version is later: by its version, and by its build where both say one.
    public func isOlder(than published: AppSource.Version) -> Bool {
        let (own, other) = (VersionNumber(version ?? ""), VersionNumber(published.version))
        if own != other { return own < other }
        guard let build, let otherBuild = published.build else { return false }
        return VersionNumber(build) < VersionNumber(otherBuild)
    }
}

/// Looks for updates in some sources, each app's by its identifier.
public struct UpdateSearch: Sendable {
    private let places: [String]
    /// The apps of each source, by identifier.
    private let apps: [[String: [AppSource.App]]]

    /// Looks in `sources`, each with what messages call it.
    public init(_ sources: [(place: String, source: AppSource)]) {
        places = sources.map(\.place)
        apps = sources.map { Dictionary(grouping: $0.source.apps, by: \.identifier) }
    }

    /// The newest version that is later than the installed one, and that the system runs; `nil` where there is none.
    ///
    /// Of several apps with the identifier, that with the installed one's name counts, if there is one; of several sources,
    /// the first that has the newest.
    public func update(of installed: InstalledVersion, for system: SystemVersion?) -> AvailableUpdate? {
        var best: AvailableUpdate?
        for (place, apps) in zip(places, apps) {
            let all = apps[installed.identifier] ?? []
            let named = all.filter { $0.name.lowercased() == installed.name?.lowercased() }
            for app in named.isEmpty ? all : named {
                guard let version = app.versions.first(where: { $0.runs(on: system) }), installed.isOlder(than: version)
                else { continue }
                if let best, !(VersionNumber(best.newest.version) < VersionNumber(version.version)) { continue }
                best = AvailableUpdate(installed: installed, newest: version, app: app.name, place: place)
            }
        }
        return best
    }
}
