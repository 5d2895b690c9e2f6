import FerryAppBundle
import FerryBytes
import FerryCatalog
import FoundationEssentials

extension SourceVerb {
    /// How many problems of a list are shown, one a line.
    private static let shownProblems = 20

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let system = try invocation.targetSystem()
        let named = try await invocation.source(arguments.required("SOURCE"), isOffline: arguments.flag("--offline"))
        let styled = invocation.console.output.hasStyle
        if let wanted = arguments.value("--app") {
            let apps = named.source.apps(meant: wanted)
            guard !apps.isEmpty else {
                // Says what is like it.
                _ = try named.source.choose(try AppChoice(wanted), for: nil, in: named.place)
                return .failed
            }
            let reports = apps.map { AppReport($0, $0.versions, system) }
            try invocation.show(SourceReport(named, reports), text: versionsText(reports, styled: styled))
        } else {
            let words = (arguments.value("--search") ?? "").lowercased().split(separator: " ").map(String.init)
            let reports = named.source.apps.filter { isMatch($0, words) }.map { app in
                AppReport(app, app.versions.first { $0.runs(on: system) }.map { [$0] } ?? [], system)
            }
            try invocation.show(SourceReport(named, reports), text: tableText(named, reports, isSearch: !words.isEmpty))
        }
        if !invocation.asData { invocation.warn(of: named, problemLimit: shownProblems) }
        return .done
    }

    static func isMatch(_ app: AppSource.App, _ words: [String]) -> Bool {
        guard !words.isEmpty else { return true }
        let text = [app.name, app.identifier, app.developer, app.subtitle].compactMap(\.self).joined(separator: "\n")
            .lowercased()
        return words.allSatisfy { text.contains($0) }
    }

    // MARK: Names

    static func runAdd(_ invocation: Invocation) async throws -> ExitCode {
        let (name, address) = (invocation.arguments.required("NAME"), invocation.arguments.required("URL"))
        // Whether it can be added at all, before anything is fetched.
        var trial = try invocation.sourceBook.read()
        try trial.add(name, address)
        guard let entry = trial.entries.first(where: { $0.name == name }) else { return .failed }
        var count: Int?
        if !invocation.arguments.flag("--unchecked") {
            let named = try await invocation.source(entry.url)
            count = named.source.apps.count
            if !invocation.asData { invocation.warn(of: named, problemLimit: 0) }
        }
        try invocation.sourceBook.change { try $0.add(name, address) }
        let apps = count.map { ", with " + countText($0) } ?? ""
        try invocation.show(NameReport(entry, count), text: "\(name) is \(entry.shownURL)\(apps)")
        return .done
    }

    static func runRemove(_ invocation: Invocation) async throws -> ExitCode {
        let name = invocation.arguments.required("NAME")
        var removed: SourceBook.Entry?
        try invocation.sourceBook.change { book in
            removed = book.entries.first { $0.name == name }
            try book.remove(name)
        }
        if let removed {
            try invocation.show(NameReport(removed, nil), text: "\(name) is no source any more: \(removed.shownURL)")
        }
        return .done
    }

    static func runList(_ invocation: Invocation) async throws -> ExitCode {
        let entries = try invocation.sourceBook.read().entries
        let text =
            entries.isEmpty
            ? "no source has a name; give one with: ferry source add NAME URL"
            : tableLines(entries.map { [$0.name, $0.shownURL] }).joined(separator: "\n")
        if entries.isEmpty, !invocation.asData {
            invocation.console.note(text)
        } else {
            try invocation.show(["sources": entries.map { NameReport($0, nil) }], text: text)
        }
        return .done
    }

    /// A named source for `--json`.
    struct NameReport: Encodable {
        let name: String
        /// Without a name, a password, and what follows `?`.
        let url: String
        let appCount: Int?

        init(_ entry: SourceBook.Entry, _ appCount: Int?) {
            name = entry.name
            url = entry.shownURL
            self.appCount = appCount
        }
    }
}
