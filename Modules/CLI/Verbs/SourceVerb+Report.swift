import FerryAppBundle
import FerryBytes
import FerryCatalog
import FerryPropertyList
import FoundationEssentials

extension SourceVerb {
    /// What `--json` prints.
    struct SourceReport: Encodable {
        struct Problem: Encodable {
            let entry: String
            let field: String
            let reason: String
            let loss: String
        }

        /// What it was named by, without what follows `?`.
        let source: String
        let name: String?
        let identifier: String?
        /// `fetched`, `unchanged` or `kept`; left out for a file.
        let freshness: String?
        /// How old a kept one is.
        let ageSeconds: Int64?
        let apps: [AppReport]
        let problems: [Problem]
        let furtherProblemCount: Int

        init(_ named: NamedSource, _ apps: [AppReport]) {
            source = named.place
            name = named.source.name
            identifier = named.source.identifier
            switch named.freshness {
            case .fetched?: (freshness, ageSeconds) = ("fetched", nil)
            case .unchanged?: (freshness, ageSeconds) = ("unchanged", nil)
            case .kept(let age, _)?: (freshness, ageSeconds) = ("kept", age.components.seconds)
            case nil: (freshness, ageSeconds) = (nil, nil)
            }
            self.apps = apps
            problems = named.source.problems.map { problem in
                Problem(
                    entry: problem.entry,
                    field: problem.field,
                    reason: problem.reason,
                    loss: problem.loss.rawValue
                )
            }
            furtherProblemCount = named.source.furtherProblemCount
        }
    }

    /// An app, with one version of it or with all.
    struct AppReport: Encodable {
        let name: String
        let identifier: String
        let developer: String?
        let subtitle: String?
        let category: String?
        let isBeta: Bool
        let versionCount: Int
        /// Empty where the system runs none.
        let versions: [VersionReport]
        /// The least that one of its versions needs.
        let leastOS: String?

        init(_ app: AppSource.App, _ versions: [AppSource.Version], _ system: SystemVersion?) {
            name = app.name
            identifier = app.identifier
            developer = app.developer
            subtitle = app.subtitle
            category = app.category
            isBeta = app.isBeta
            versionCount = app.versions.count
            self.versions = versions.map { VersionReport($0, system) }
            leastOS = app.versions.compactMap(\.minimumOS).min()?.description
        }
    }

    /// A version of an app.
    struct VersionReport: Encodable {
        let version: String
        let build: String?
        let date: Date?
        let url: String
        let bytes: Int64?
        let sha256: String?
        let minimumOS: String?
        let maximumOS: String?
        /// Whether the system of `--os` runs it.
        let runs: Bool

        init(_ version: AppSource.Version, _ system: SystemVersion?) {
            self.version = version.version
            build = version.build
            date = version.date.flatMap { calendarDate($0.secondsSince1970) }
            url = version.downloadURL
            bytes = version.byteCount
            sha256 = version.sha256?.hex
            minimumOS = version.minimumOS?.description
            maximumOS = version.maximumOS?.description
            runs = version.runs(on: system)
        }

        var dayText: String { date.map { ferry.dayText($0) } ?? "–" }
        var sizeText: String { bytes.map { ferry.sizeText($0) } ?? "–" }

        var systems: String {
            switch (minimumOS, maximumOS) {
            case (let least?, let most?): "iOS \(least) to \(most)"
            case (let least?, nil): "iOS \(least)"
            case (nil, let most?): "up to iOS \(most)"
            case (nil, nil): "–"
            }
        }
    }

    /// The apps, one a line.
    static func tableText(_ named: NamedSource, _ apps: [AppReport], isSearch: Bool) -> String {
        let title = (named.source.name ?? named.place).printable
        let all = named.source.apps.count
        guard !apps.isEmpty else {
            return isSearch ? "\(title): no match in \(countText(all))" : "\(title): it has no apps"
        }
        let rows = apps.map { app -> [String] in
            let name = shortened(app.name.printable, 40)
            guard let version = app.versions.first else {
                let needs = app.leastOS.map { "iOS \($0) at least" } ?? "another system"
                return [name, app.identifier.printable, "–", "–", "–", needs]
            }
            return [
                name, app.identifier.printable, shortened(version.version.printable, 24), version.dayText,
                version.sizeText, version.systems,
            ]
        }
        let count = (isSearch ? "\(apps.count) of " : "") + countText(all)
        let head = ["name", "identifier", "version", "date", "size", "needs"]
        return (["\(title): \(count)", ""] + tableLines([head] + rows))
            .joined(separator: "\n")
    }

    /// All versions of some apps, one a line.
    static func versionsText(_ apps: [AppReport], styled: Bool) -> String {
        let style = Marks(styled)
        let parts = apps.map { app -> String in
            let rows = app.versions.map { version in
                [
                    "  " + (version.runs ? style.good : style.bad),
                    version.version.printable + (version.build.map { " (\($0.printable))" } ?? ""), version.dayText,
                    version.sizeText, version.sha256 == nil ? "–" : "SHA-256", version.systems,
                ]
            }
            let facts = factLines([
                ("identifier", app.identifier.printable), ("developer", app.developer?.printable),
                ("about", app.subtitle?.printable), ("category", app.category?.printable),
                ("kind", app.isBeta ? "a test version" : nil),
            ])
            return ([app.name.printable] + facts + [""] + tableLines(rows)).joined(separator: "\n")
        }
        return parts.joined(separator: "\n\n")
    }

    /// So many apps.
    static func countText(_ count: Int) -> String { "\(count) \(count == 1 ? "app" : "apps")" }

    private static func shortened(_ text: String, _ longest: Int) -> String {
        text.count > longest ? text.prefix(longest - 1) + "…" : text
    }
}
