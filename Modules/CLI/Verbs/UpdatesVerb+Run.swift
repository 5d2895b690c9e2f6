import FerryAppBundle
import FerryBytes
import FerryCatalog
import FerryDevice
import FerryInstalling

extension UpdatesVerb {
    /// What `--json` prints.
    struct Report: Encodable {
        struct Update: Encodable {
            let identifier: String
            let name: String
            /// What is installed.
            let version: String?
            let build: String?
            let source: String
            let newest: SourceVerb.VersionReport
        }

        let appCount: Int
        let updates: [Update]
        /// What could not be looked at.
        let errors: [ErrorReport]
    }

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let installed = try await installed(target(arguments.required("TARGET")))
        let system = try invocation.targetSystem() ?? installed.system
        var errors: [any Error] = installed.problems
        let sources = try await sources(invocation, &errors)
        let search = UpdateSearch(sources)
        let updates = installed.apps.compactMap { search.update(of: $0, for: system) }
        let report = Report(
            appCount: installed.apps.count,
            updates: updates.map { update in
                Report.Update(
                    identifier: update.installed.identifier,
                    name: update.installed.name ?? update.app,
                    version: update.installed.version,
                    build: update.installed.build,
                    source: update.place,
                    newest: SourceVerb.VersionReport(update.newest, system)
                )
            },
            errors: errors.map { ErrorReport($0) }
        )
        try invocation.show(report, text: text(report, installed.place))
        if !invocation.asData { for error in errors { invocation.console.report(error) } }
        return errors.isEmpty ? .done : .failed
    }

    /// What is installed somewhere.
    private struct Installed {
        /// What to call the place.
        let place: String
        let apps: [InstalledVersion]
        /// What could not be read there.
        var problems: [any Error] = []
        /// The system there, where it is known.
        var system: SystemVersion?
    }

    private static func installed(_ target: TargetChoice) async throws -> Installed {
        switch target {
        case .folder(let folder):
            let (apps, problems) = try FolderTarget(folder: folder).apps()
            let versions = apps.compactMap { app in
                app.info.identifier.map {
                    InstalledVersion(
                        identifier: $0,
                        name: app.info.displayName,
                        version: app.info.version,
                        build: app.info.build
                    )
                }
            }
            return Installed(place: folder, apps: versions, problems: problems)
        case .ota:
            return Installed(place: target.text, apps: [])
        case .device(let identifier):
            let device = try await Device.find(identifier)
            let facts = try await device.facts()
            let versions = try await device.apps().map {
                InstalledVersion(identifier: $0.identifier, name: $0.name, version: $0.version, build: $0.build)
            }
            return Installed(place: facts.title, apps: versions, system: facts.systemVersion)
        }
    }

    /// A target as `--to` has it, or a folder as it is; what phones have is known to them alone.
    private static func target(_ text: String) -> TargetChoice {
        switch try? TargetChoice(text) {
        case nil, .ota: .folder(text)
        case let target?: target
        }
    }

    /// The lists to look in; one that cannot be had is an error beside the others.
    private static func sources(
        _ invocation: Invocation,
        _ errors: inout [any Error]
    ) async throws -> [(place: String, source: AppSource)] {
        var names = invocation.arguments.values("--source")
        if names.isEmpty { names = try invocation.sourceBook.read().entries.map(\.name) }
        guard !names.isEmpty else {
            throw UsageError(
                .missingOption,
                "There is no list to look in.",
                advice: "Give one with --source, or give lists a name with: ferry source add NAME URL.",
                verb: verb.name
            )
        }
        var sources: [(place: String, source: AppSource)] = []
        for (name, result) in zip(names, try await results(of: names, invocation)) {
            switch result {
            case .success(let named):
                if let warning = named.warning, !invocation.asData { invocation.warn(warning) }
                sources.append((SourceBook.isName(name) ? name : named.place, named.source))
            case .failure(let error): errors.append(error)
            }
        }
        return sources
    }

    /// How many lists are fetched at once.
    private static let fetchLimit = 8

    /// Each list, or why it cannot be had, in the order of the names.
    private static func results(
        of names: [String],
        _ invocation: Invocation
    ) async throws -> [Result<NamedSource, any Error>] {
        let isOffline = invocation.arguments.flag("--offline")
        var results: [Int: Result<NamedSource, any Error>] = [:]
        try await withThrowingTaskGroup(of: (Int, Result<NamedSource, any Error>).self) { group in
            for (index, name) in names.enumerated() {
                if index >= fetchLimit, let (place, result) = try await group.next() { results[place] = result }
                group.addTask {
                    do {
                        return (index, .success(try await invocation.source(name, isOffline: isOffline)))
                    } catch {
                        if ExitCode(error) == .cancelled { throw error }
                        return (index, .failure(error))
                    }
                }
            }
            for try await (place, result) in group { results[place] = result }
        }
        return names.indices.compactMap { results[$0] }
    }

    private static func text(_ report: Report, _ place: String) -> String {
        guard !report.updates.isEmpty else {
            return "\(place.printable): no newer version in these lists for \(SourceVerb.countText(report.appCount))"
        }
        let rows = report.updates.map { update -> [String] in
            let isSame = update.version == update.newest.version
            func text(_ version: String?, _ build: String?) -> String {
                // What differs must show.
                ((version ?? "–") + (isSame ? build.map { " (\($0))" } ?? "" : "")).printable
            }
            return [
                update.name.printable, update.identifier.printable, text(update.version, update.build), "→",
                text(update.newest.version, update.newest.build), update.newest.dayText, update.newest.sizeText,
                update.source.printable,
            ]
        }
        return tableLines(rows).joined(separator: "\n")
    }
}
