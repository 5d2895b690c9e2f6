import FerryAppBundle
import FerryBytes
import FerryPropertyList
import FerryWeb

extension AppSource {
    /// Reads a source from the JSON that its author publishes.
    ///
    /// A bad entry or field is left out and listed in ``problems``; only what is no source at all is refused. JSON is read
    /// as Foundation reads it, which authors try their lists with.
    ///
    /// - Parameter place: what messages call it: its path, or its address without a query.
    /// - Parameter url: where it was got from, which relative addresses in it start from; `nil` takes what it says itself.
    public init(
        json bytes: [UInt8],
        place: String,
        url: String? = nil,
        limits: SourceLimits = SourceLimits()
    ) throws(CatalogError) {
        try Self.refuseOtherForms(bytes, place)
        let root: PropertyList
        do {
            root = try PropertyList.parse(
                json: bytes,
                limits: PropertyList.Limits(
                    maximumByteCount: limits.maximumBytes,
                    maximumDepth: limits.maximumDepth,
                    maximumValueCount: limits.maximumValues
                ),
                dialect: .published
            )
        } catch {
            throw CatalogError(
                error.code == .tooMuch ? .tooMuch : .notASource,
                "\(place): "
                    + error.message.replacing("The property list is refused", with: "The list is refused"),
                remedy: error.code == .tooMuch
                    ? "No real source needs as much; ask its author."
                    : "Check the address; if it is right, ask its author."
            )
        }
        guard case .dictionary(let object) = root, case .array(let entries)? = object["apps"] else {
            throw CatalogError(
                .notASource,
                "\(place): this is JSON, but no app source: it has no list “apps”.",
                remedy: "Give the address of the list itself, which often ends in .json."
            )
        }
        let base = url ?? object["sourceURL"]?.string
        var reader = SourceReader(limits: limits, base: base.flatMap { WebAddress($0) })
        self = reader.source(object, entries)
    }

    /// Refuses what is known to be something else, by its beginning.
    private static func refuseOtherForms(_ bytes: [UInt8], _ place: String) throws(CatalogError) {
        let start = String(decoding: bytes.prefix(512), as: UTF8.self).drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        if start.hasPrefix("source[") {
            throw CatalogError(
                .unsupported,
                "\(place): this is an encoded list of sources (source[…]), which is not read.",
                remedy: "Give the address of each source itself."
            )
        }
        if start.hasPrefix("<") {
            let line = start.prefix { !$0.isNewline }.prefix(120)
            throw CatalogError(
                .notASource,
                "\(place): this is a web page and no app source; it begins with “\(line.printable)”.",
                remedy: "Give the address of the list itself, which often ends in .json."
            )
        }
        if start.isEmpty {
            throw CatalogError(.notASource, "\(place): this is empty.", remedy: "Get the list again.")
        }
    }
}

/// One walk over a source.
struct SourceReader {
    private let limits: SourceLimits
    private let base: WebAddress?
    private var problems: ProblemList
    /// How many versions were read, of all apps.
    private var versionCount = 0
    /// Whether it was told that there are too many.
    private var hasToldVersions = false

    init(limits: SourceLimits, base: WebAddress?) {
        self.limits = limits
        self.base = base
        problems = ProblemList(limit: limits.maximumProblems)
    }

    mutating func source(_ object: PropertyList.Dictionary, _ entries: [PropertyList]) -> AppSource {
        let root = fields(object, entry: "")
        var source = AppSource()
        source.name = root.name("name", &problems)
        source.identifier = root.name("identifier", &problems)
        source.sourceURL = root.address("sourceURL", &problems)
        source.subtitle = root.name("subtitle", &problems)
        source.about = root.about("description", &problems)
        source.iconURL = root.address("iconURL", &problems)
        source.headerURL = root.address("headerURL", &problems)
        source.website = root.address("website", &problems)
        source.tintColor = root.name("tintColor", &problems)
        source.featuredApps = (root.list("featuredApps", &problems) ?? []).prefix(limits.maximumListCount)
            .compactMap(\.string)
        source.apps = apps(entries)
        source.problems = problems.problems
        source.furtherProblemCount = problems.furtherCount
        return source
    }

    func fields(_ object: PropertyList.Dictionary, entry: String, prefix: String = "") -> FieldReader {
        FieldReader(object: object, entry: entry, prefix: prefix, limits: limits, base: base)
    }

    // MARK: Apps

    /// What makes two entries one app.
    private struct Key: Hashable {
        let identifier: String
        let name: String
    }

    private mutating func apps(_ entries: [PropertyList]) -> [AppSource.App] {
        var apps: [AppSource.App] = []
        var places: [Key: Int] = [:]
        for (index, entry) in entries.enumerated() {
            guard index < limits.maximumApps else {
                problems.add(
                    AppSource.Problem(
                        entry: "apps[\(index)] and those after it",
                        field: "",
                        reason: "there are \(entries.count) apps, more than \(limits.maximumApps)",
                        loss: .app
                    )
                )
                break
            }
            guard let app = app(entry, index) else { continue }
            let key = Key(identifier: app.identifier, name: app.name.lowercased())
            if let place = places[key] {
                apps[place].versions += app.versions
            } else {
                places[key] = apps.count
                apps.append(app)
            }
        }
        for index in apps.indices { order(&apps[index]) }
        return apps
    }

    /// Puts the newest version first, and leaves out what is there twice.
    private mutating func order(_ app: inout AppSource.App) {
        guard app.versions.count > 1 else { return }
        var seen: Set<AppSource.Version> = []
        var told: Set<[String?]> = []
        var kept: [AppSource.Version] = []
        for version in app.versions {
            // The same again, as when an old form stands beside the new one, is no problem.
            guard seen.insert(version).inserted else { continue }
            let name = [
                version.version, version.build, version.minimumOS?.description, version.maximumOS?.description,
            ]
            guard told.insert(name).inserted else {
                let build = version.build.map { " (\($0))" } ?? ""
                problems.add(
                    AppSource.Problem(
                        entry: "“\(app.name.printable)” (\(app.identifier.printable))",
                        field: "",
                        reason:
                            "the version \(version.version.printable)\(build.printable) is there again with other values",
                        loss: .version
                    )
                )
                continue
            }
            kept.append(version)
        }
        app.versions = kept.newestFirst()
    }

    private mutating func app(_ value: PropertyList, _ index: Int) -> AppSource.App? {
        var entry = "apps[\(index)]"
        guard case .dictionary(let object) = value, !object.isEmpty else {
            lose(entry, "", "expected an app, found \(value.found)", .app)
            return nil
        }
        let shown = [
            object["name"]?.string.map { "“\($0.prefix(80).printable)”" },
            object["bundleIdentifier"]?.string.map { "(\($0.prefix(120).printable))" },
        ].compactMap(\.self)
        entry = ([entry] + shown).joined(separator: " ")
        let fields = fields(object, entry: entry)
        guard let identifier = fields.name("bundleIdentifier", &problems) else {
            lose(entry, "bundleIdentifier", "it is missing", .app)
            return nil
        }
        let versions = versions(fields)
        guard !versions.isEmpty else {
            lose(entry, "", "there is no version that could be downloaded", .app)
            return nil
        }
        var app = AppSource.App(
            name: fields.name("name", &problems) ?? identifier,
            identifier: identifier,
            versions: versions
        )
        app.developer = fields.name("developerName", &problems)
        app.subtitle = fields.name("subtitle", &problems)
        app.about = fields.about("localizedDescription", &problems)
        app.iconURL = fields.address("iconURL", &problems)
        app.tintColor = fields.name("tintColor", &problems)
        app.category = fields.name("category", &problems)
        app.isBeta = fields.flag("beta")
        app.marketplaceID = fields.name("marketplaceID", &problems)
        app.screenshots = fields.screenshots(&problems)
        (app.entitlements, app.privacy) = fields.permissions(&problems)
        return app
    }

    private mutating func lose(_ entry: String, _ field: String, _ reason: String, _ loss: AppSource.Problem.Loss) {
        problems.add(AppSource.Problem(entry: entry, field: field, reason: reason, loss: loss))
    }

    // MARK: Versions

    /// Those of the list `versions`, or the one that older lists have on the app itself.
    private mutating func versions(_ app: FieldReader) -> [AppSource.Version] {
        var versions: [AppSource.Version] = []
        for (index, value) in (app.list("versions", &problems) ?? []).enumerated() {
            guard case .dictionary(let object) = value, !object.isEmpty else {
                lose(app.entry, "versions[\(index)]", "expected a version, found \(value.found)", .version)
                continue
            }
            let fields = fields(object, entry: app.entry, prefix: "versions[\(index)].")
            guard let version = version(fields, VersionKeys.inList) else { continue }
            versions.append(version)
        }
        let isOld = versions.isEmpty && ["version", "downloadURL"].contains { app.object[$0]?.isNothing == false }
        if isOld, let version = version(app, VersionKeys.onApp) { versions = [version] }
        return versions
    }

    /// What the fields of a version are called.
    private struct VersionKeys {
        let date: String
        let releaseNotes: String

        static let inList = VersionKeys(date: "date", releaseNotes: "localizedDescription")
        static let onApp = VersionKeys(date: "versionDate", releaseNotes: "versionDescription")
    }

    private mutating func version(_ fields: FieldReader, _ keys: VersionKeys) -> AppSource.Version? {
        guard versionCount < limits.maximumVersions else {
            if !hasToldVersions {
                let reason = "there are more than \(limits.maximumVersions) versions; this one and those after it go"
                problems.add(fields.problem("version", reason, .version))
            }
            hasToldVersions = true
            return nil
        }
        versionCount += 1
        guard let name = fields.name("version", &problems) else {
            problems.add(fields.problem("version", "it is missing", .version))
            return nil
        }
        guard let address = fields.name("downloadURL", &problems) else {
            problems.add(fields.problem("downloadURL", "it is missing or empty", .version))
            return nil
        }
        var version: AppSource.Version
        switch fields.url(address) {
        case .success(let url): version = AppSource.Version(version: name, downloadURL: url)
        case .failure(let fault):
            problems.add(fields.problem("downloadURL", fault.reason, .version))
            return nil
        }
        // A checksum that cannot be read must not become none.
        if let text = fields.name("sha256", &problems) {
            let digits = text.lowercased().hasPrefix("sha256:") ? String(text.dropFirst(7)) : text
            guard digits.utf8.count == 64, let digest = [UInt8](hex: digits) else {
                problems.add(fields.problem("sha256", "expected 64 hexadecimal digits", .version))
                return nil
            }
            version.sha256 = digest
        }
        version.build = fields.name("buildVersion", &problems)
        version.date = fields.date(keys.date, &problems)
        version.releaseNotes = fields.about(keys.releaseNotes, &problems)
        version.byteCount = fields.byteCount("size", &problems)
        version.minimumOS = fields.system("minOSVersion", &problems)
        version.maximumOS = fields.system("maxOSVersion", &problems)
        return version
    }
}
