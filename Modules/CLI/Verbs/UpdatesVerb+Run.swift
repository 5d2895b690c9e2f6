import FerryAppBundle
import FerryBytes
import FerryCatalog
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
        let folder = try folder(arguments.required("FOLDER"))
        let system = try invocation.targetSystem()
        let (apps, problems) = try FolderTarget(folder: folder).apps()
        var errors: [any Error] = problems
        let sources = try await sources(invocation, &errors)
        let search = UpdateSearch(sources)
        let updates = apps.compactMap { app -> AvailableUpdate? in
            guard let identifier = app.info.identifier else { return nil }
            let installed = InstalledVersion(
                identifier: identifier,
                name: app.info.displayName,
                version: app.info.version,
                build: app.info.build
            )
            return search.update(of: installed, for: system)
        }
        let report = Report(
            appCount: apps.count,
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
        try invocation.show(report, text: text(report, folder))
        if !invocation.asData { for error in errors { invocation.console.report(error) } }
        return errors.isEmpty ? .done : .failed
    }

    /// A folder, as it is or as `folder:DIR`.
    private static func folder(_ text: String) throws(UsageError) -> String {
        let prefix = "folder:"
        if text.hasPrefix(prefix), text != prefix { return String(text.dropFirst(prefix.count)) }
        guard text != "device", !text.hasPrefix("device:") else {
            throw UsageError(
                .invalidValue,
                "The apps of a device cannot be looked at yet.",
                advice: "Give a folder of apps (one that is called device as ./device).",
                verb: verb.name
            )
        }
        return text
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

    private static func text(_ report: Report, _ folder: String) -> String {
        guard !report.updates.isEmpty else {
            return "\(folder.printable): no newer version in these lists for \(SourceVerb.countText(report.appCount))"
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
