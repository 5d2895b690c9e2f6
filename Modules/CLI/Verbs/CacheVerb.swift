import FerrySigning

/// `ferry cache`: what is known of archives that were signed before.
enum CacheVerb {
    static let verb = Verb(
        name: "cache",
        summary: "show or forget what is known of archives that were signed before",
        discussion: """
            To sign an archive, all of it is read and hashed. What is found is kept in $XDG_CACHE_HOME/ferry/archives, some \
            hundredths of the archive: to sign it again, with whatever identity, profile, id or name, little is left to do.

            An archive is known as the very file that was read, unchanged, or by its SHA-256. What is known is never \
            believed alone: samples of it are compared with the archive, and every result is checked before it is handed \
            over. The folder is bounded in size, and may be removed at any time. ferry sign --no-cache does without.
            """,
        examples: [
            .init(purpose: "Where it is, and how large", command: "ferry cache"),
            .init(purpose: "Forget everything", command: "ferry cache --clear"),
        ],
        options: [Option(name: "--clear", help: "forget everything"), .json],
        run: run
    )

    private struct Report: Encodable {
        let folder: String
        let archives: Int
        let bytes: Int
        let limit: Int
        let cleared: Bool
    }

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let cache = Folders(environment: invocation.environment).archiveCache
        let clears = invocation.arguments.flag("--clear")
        let usage = clears ? cache.clear() : cache.usage
        let report = Report(
            folder: cache.folder,
            archives: usage.count,
            bytes: usage.bytes,
            limit: cache.limit,
            cleared: clears
        )
        let archives = "\(usage.count) \(usage.count == 1 ? "archive" : "archives")"
        let text =
            clears
            ? "forgot \(archives), \(sizeText(usage.bytes))"
            : "\(archives), \(sizeText(usage.bytes)) of at most \(sizeText(cache.limit)), in \(cache.folder)"
        try invocation.show(report, text: text)
        return .done
    }
}
