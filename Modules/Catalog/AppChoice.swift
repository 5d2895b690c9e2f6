public import FerryAppBundle
import FerryBytes

/// Which app of a source is wanted, and which version of it: `BUNDLE.ID`, `BUNDLE.ID@VERSION`, `BUNDLE.ID@VERSION(BUILD)`.
///
/// An app's name stands for its identifier where no identifier is like it.
public struct AppChoice: Sendable, Hashable {
    /// The identifier or name.
    public let app: String
    /// The version, perhaps with its build behind it in parentheses; `nil` for the newest that runs.
    public let version: String?

    /// Takes the text apart at its first `@`.
    public init(_ text: String) throws(CatalogError) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map { $0.trimmed }
        guard let app = parts.first, !app.isEmpty, parts.count == 1 || !parts[1].isEmpty else {
            throw CatalogError(
                .unknownApp,
                "“\(text.printable)” names no app.",
                remedy: "Write BUNDLE.ID, BUNDLE.ID@VERSION or BUNDLE.ID@VERSION(BUILD)."
            )
        }
        self.app = app
        version = parts.count > 1 ? parts[1] : nil
    }

    fileprivate func isMet(by version: AppSource.Version) -> Bool {
        guard let wanted = self.version else { return true }
        if version.version == wanted { return true }
        return version.build.map { "\(version.version)(\($0))" == wanted || "\(version.version) (\($0))" == wanted }
            ?? false
    }
}

/// A version of an app that was chosen from a source.
public struct ChosenVersion: Sendable, Hashable {
    /// The app.
    public let app: AppSource.App
    /// The version.
    public let version: AppSource.Version
    /// Newer versions that the system cannot run.
    public let passedOver: [AppSource.Version]
}

extension AppSource.Version {
    /// Whether a system of that version runs it; any does where nobody says which it is.
    public func runs(on system: SystemVersion?) -> Bool { obstacle(on: system) == nil }

    /// What a system of that version lacks to run it: `needs iOS 17.0`; `nil` for nothing.
    public func obstacle(on system: SystemVersion?) -> String? {
        guard let system else { return nil }
        if let minimumOS, system < minimumOS { return "needs iOS \(minimumOS)" }
        if let maximumOS, system > maximumOS { return "runs up to iOS \(maximumOS)" }
        return nil
    }
}

extension AppSource {
    /// The app and the version that are wanted: the newest that the system runs, or the one that is named.
    ///
    /// - Parameter system: the target's version; `nil` where it is not known, then every version will do.
    /// - Parameter place: what messages call the source.
    public func choose(
        _ choice: AppChoice,
        for system: SystemVersion?,
        in place: String
    ) throws(CatalogError) -> ChosenVersion {
        let named = apps(meant: choice.app)
        guard let first = named.first else { throw unknown(choice.app, place) }
        let apps = named.filter { app in app.versions.contains { choice.isMet(by: $0) } }
        guard let app = apps.first else { throw unknownVersion(choice, first, place) }
        guard apps.count == 1 else { throw ambiguous(choice, apps, place) }
        let candidates = app.versions.filter { choice.isMet(by: $0) }
        if let version = candidates.first(where: { $0.runs(on: system) }) {
            let newer = app.versions.prefix { $0 != version }
            return ChosenVersion(
                app: app,
                version: version,
                passedOver: choice.version == nil ? Array(newer) : []
            )
        }
        throw cannotRun(choice, app, candidates, system, place)
    }

    /// The apps of an identifier; else those of a name, whatever its capitals.
    public func apps(meant text: String) -> [App] {
        let same = apps.filter { $0.identifier == text }
        guard same.isEmpty else { return same }
        let lower = text.lowercased()
        return apps.filter { $0.name.lowercased() == lower }
    }

    // MARK: Errors

    /// How long a text may be that something similar is looked for.
    private static let longestGuess = 128

    private func unknown(_ text: String, _ place: String) -> CatalogError {
        let lower = text.lowercased()
        var names: [String] = []
        if text.utf8.count <= Self.longestGuess {
            // Each comparison takes as long as both are together.
            names = (apps.map(\.identifier) + apps.map(\.name)).filter { $0.utf8.count <= 2 * Self.longestGuess }
        }
        let near = apps.first { $0.identifier.lowercased() == lower }?.identifier ?? suggestion(for: text, among: names)
        return CatalogError(
            .unknownApp,
            "\(place): there is no app “\(text.printable)” among its \(apps.count).",
            remedy: near.map { "Did you mean \($0.printable)?" }
                ?? "ferry source with --search WORD looks for it."
        )
    }

    private func ambiguous(_ choice: AppChoice, _ apps: [App], _ place: String) -> CatalogError {
        let isOneIdentifier = Set(apps.map(\.identifier)).count == 1
        let shown = apps.prefix(6).map { app in
            "“\((isOneIdentifier ? app.name : app.identifier).printable)” (\(app.versions[0].version.printable))"
        }
        let list = shown.joined(separator: ", ") + (apps.count > 6 ? " and \(apps.count - 6) more" : "")
        return CatalogError(
            .ambiguousApp,
            "\(place): “\(choice.app.printable)” is \(apps.count) apps: \(list).",
            remedy: isOneIdentifier
                ? "Give the name of the one that is meant instead, or its version: \(choice.app.printable)@VERSION."
                : "Give the identifier of the one that is meant."
        )
    }

    private func unknownVersion(_ choice: AppChoice, _ app: App, _ place: String) -> CatalogError {
        let wanted = choice.version ?? ""
        let names = app.versions.prefix(1000).map(\.version)
        let near = wanted.utf8.count <= Self.longestGuess ? suggestion(for: wanted, among: names) : nil
        let shown = names.prefix(5).map(\.printable).joined(separator: ", ")
        let more = app.versions.count > 5 ? " and \(app.versions.count - 5) older" : ""
        return CatalogError(
            .unknownVersion,
            "\(place): \(app.name.printable) has no version \(wanted.printable).",
            remedy: (near.map { "Did you mean \($0.printable)? " } ?? "") + "There is \(shown)\(more)."
        )
    }

    private func cannotRun(
        _ choice: AppChoice,
        _ app: App,
        _ candidates: [Version],
        _ system: SystemVersion?,
        _ place: String
    ) -> CatalogError {
        let target = system.map { "the target has \($0)" } ?? ""
        if choice.version == nil, candidates.count > 1 {
            let needs = candidates.compactMap(\.minimumOS).min()
            return CatalogError(
                .system,
                "\(place): none of the \(candidates.count) versions of \(app.name.printable) runs there: \(target)"
                    + (needs.map { ", and the least that one needs is iOS \($0)" } ?? "") + ".",
                remedy: "Take a target with another system."
            )
        }
        let version = candidates.first
        let other = app.versions.first { $0.runs(on: system) }?.version.printable
        return CatalogError(
            .system,
            "\(place): \(app.name.printable) \(version?.version.printable ?? "") "
                + "\(version?.obstacle(on: system) ?? "does not run there"), \(target).",
            remedy: other.map { "Its version \($0) runs there." } ?? "Take a target with another system."
        )
    }
}
