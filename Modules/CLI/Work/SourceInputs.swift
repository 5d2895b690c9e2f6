import FerryAppBundle
import FerryBytes
import FerryCatalog
import FerryWeb
import FoundationEssentials

/// A source as somebody named it on the command line.
struct NamedSource: Sendable {
    /// What messages and `ferry source` call it.
    let place: String
    /// What it has.
    let source: AppSource
    /// How new it is; `nil` for a file.
    let freshness: StoredSource.Freshness?
    /// What to warn of.
    let warning: String?
}

extension Invocation {
    /// How long a list may take: they are some megabytes, from servers that are slow at times.
    private static let sourceTimeout = Duration.seconds(60)

    /// The file of named sources.
    var sourceBook: SourceBookFile { SourceBookFile(environment: environment) }

    /// The source that `text` means: a URL or a store's link, a name of the book, or a file.
    ///
    /// - Parameter isOffline: uses the list as it was fetched last.
    func source(_ text: String, isOffline: Bool = false) async throws -> NamedSource {
        if SourceLink.isMeant(by: text) { return try await fetched(try SourceLink.url(text), isOffline) }
        // A name has no dot and no slash; a file that is called like one is ./NAME.
        if SourceBook.isName(text) {
            let book = try sourceBook.read()
            if let url = book.url(named: text) { return try await fetched(url, isOffline) }
            guard InputFile.isThere(text) else { throw book.unknown(text) }
        }
        let bytes = try InputFile.bytes(text, limit: SourceLimits().maximumBytes, takesDash: true)
        let source = try AppSource(json: bytes, place: text)
        return NamedSource(place: text, source: source, freshness: nil, warning: nil)
    }

    private func fetched(_ url: String, _ isOffline: Bool) async throws -> NamedSource {
        let web = WebFetch(timeout: Self.sourceTimeout, userAgent: "ferry/" + program.version)
        let ask: SourceStore.Ask = { try await web.answer(to: $0) }
        let store = SourceStore(
            folder: Folders(environment: environment).cache + "/sources",
            ask: isOffline ? nil : ask,
            now: { Int64(Date().timeIntervalSince1970) }
        )
        let stored = try await store.source(at: url)
        return NamedSource(
            place: stored.place,
            source: stored.source,
            freshness: stored.freshness,
            warning: stored.warning
        )
    }

    /// What `--os` says.
    func targetSystem() throws(UsageError) -> SystemVersion? {
        guard let text = arguments.value("--os") else { return nil }
        guard let system = SystemVersion(text) else {
            throw UsageError(
                .invalidValue,
                "--os: “\(text.printable)” is no version.",
                advice: "Write it as 17 or 17.5.1."
            )
        }
        return system
    }

    /// Writes a line of warning.
    func warn(_ text: String) {
        console.note(Marks(console.errors.hasStyle).warning + " " + text.printable)
    }

    /// Warns of what was wrong with a source, the first of them.
    func warn(of named: NamedSource, problemLimit: Int) {
        if let warning = named.warning { warn(warning) }
        let problems = named.source.problems
        for problem in problems.prefix(problemLimit) { warn(problem.description) }
        let rest = problems.count - min(problems.count, problemLimit) + named.source.furtherProblemCount
        if rest > 0 {
            let hint = problemLimit == 0 ? "; ferry source shows them" : ""
            warn(
                "\(named.place): \(rest) \(problemLimit == 0 ? "" : "more ")\(rest == 1 ? "problem" : "problems")\(hint)."
            )
        }
    }
}

extension Option {
    /// `--os VERSION`: the system that is to run the app.
    static let targetSystem = Option(
        name: "--os",
        value: "VERSION",
        help:
            "the target's version of iOS, which a device tells itself; of each app, the newest version that it runs counts"
    )

    /// `--offline`, of lists.
    static let sourceOffline = Option(
        name: "--offline",
        help: "ask for nothing, and use the lists as they were fetched last"
    )
}
