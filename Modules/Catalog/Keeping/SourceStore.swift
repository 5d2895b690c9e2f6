import FerryBytes
import FerryCodeSignature
public import FerryWeb

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Gets sources from the web, and keeps each in a folder: for the next request, which asks whether anything changed, and
/// for when there is no connection.
///
/// A file is named after the SHA-256 of its address, written beside and put in place; several processes may use the same
/// folder, and the last one wins. One that is damaged or cannot be written is as though it were not there.
public struct SourceStore: Sendable {
    /// Asks on the web; throws `FetchError`, or `CancellationError`.
    public typealias Ask = @Sendable (FetchRequest) async throws -> FetchAnswer

    /// How long a list that nobody asked for again is kept.
    public static let longestKept = Duration.seconds(90 * 86400)

    private let folder: String
    private let ask: Ask?
    private let now: @Sendable () -> Int64
    private let limits: SourceLimits

    /// Keeps sources in `folder`, which is made when the first one is kept.
    ///
    /// - Parameter ask: what asks on the web; `nil` uses only what is kept.
    /// - Parameter now: the date, in seconds since 1970.
    public init(
        folder: String,
        ask: Ask?,
        now: @escaping @Sendable () -> Int64,
        limits: SourceLimits = SourceLimits()
    ) {
        self.folder = folder
        self.ask = ask
        self.now = now
        self.limits = limits
    }

    /// The source at an http or https URL, as it is now; where that cannot be found out, as it was, which is told.
    public func source(at url: String) async throws(CatalogError) -> StoredSource {
        let place = WebAddress.shown(url)
        let kept = kept(of: url)
        guard let ask else {
            guard let kept else {
                throw CatalogError(
                    .fetch,
                    "\(place): this source was never fetched, and nothing may be asked on the web.",
                    remedy: "Fetch it once without --offline."
                )
            }
            return try stored(kept, url, place, .kept(age: age(of: kept), reason: nil))
        }
        var request = FetchRequest(url: url)
        request.longestAnswer = limits.maximumBytes
        request.fields["Accept"] = "application/json, */*;q=0.5"
        request.fields["If-None-Match"] = kept?.etag
        request.fields["If-Modified-Since"] = kept?.lastModified
        let answer: FetchAnswer
        do {
            answer = try await ask(request)
        } catch let error as FetchError where [.connection, .timedOut].contains(error.code) {
            if let kept { return try stored(kept, url, place, .kept(age: age(of: kept), reason: error.message)) }
            throw CatalogError(.fetch, error.message, remedy: error.remedy)
        } catch is CancellationError {
            throw CatalogError(.cancelled, "\(place): fetching the source was cancelled.")
        } catch {
            let explained = error as? any ExplainedError
            throw CatalogError(.fetch, explained?.message ?? "\(place): \(error)", remedy: explained?.remedy)
        }
        return try take(answer, kept, url, place)
    }

    private func take(
        _ answer: FetchAnswer,
        _ kept: KeptAnswer?,
        _ url: String,
        _ place: String
    ) throws(CatalogError) -> StoredSource {
        switch answer.status {
        case 200:
            // A body that is no source must not take the place of one that is.
            let source = try AppSource(json: answer.body, place: place, url: url, limits: limits)
            keep(
                KeptAnswer(
                    etag: answer.fields["etag"],
                    lastModified: answer.fields["last-modified"],
                    time: now(),
                    body: answer.body
                ),
                of: url
            )
            return StoredSource(source: source, place: place, url: url, freshness: .fetched)
        case 304:
            guard var kept else { break }
            kept.time = now()
            keep(kept, of: url)
            return try stored(kept, url, place, .unchanged)
        case 408, 429, 500...599:
            let reason = "\(place): the server answers with status \(answer.status)."
            if let kept { return try stored(kept, url, place, .kept(age: age(of: kept), reason: reason)) }
            throw CatalogError(.fetch, reason, remedy: "Try again later.")
        default: break
        }
        throw CatalogError(
            .fetch,
            "\(place): the server answers with status \(answer.status)\(Self.meaning(of: answer.status)).",
            remedy: "Check the address of the source, and whether it needs a token that has expired."
        )
    }

    private static func meaning(of status: Int) -> String {
        switch status {
        case 401, 403: ", which means that it may not be read"
        case 404, 410: ", which means that it is not there"
        default: ""
        }
    }

    private func stored(
        _ kept: KeptAnswer,
        _ url: String,
        _ place: String,
        _ freshness: StoredSource.Freshness
    ) throws(CatalogError) -> StoredSource {
        let source = try AppSource(json: kept.body, place: place, url: url, limits: limits)
        return StoredSource(source: source, place: place, url: url, freshness: freshness)
    }

    // MARK: Files

    private func age(of kept: KeptAnswer) -> Duration {
        .seconds(max(0, now().subtractingReportingOverflow(kept.time).partialValue))
    }

    private func kept(of url: String) -> KeptAnswer? {
        // The first line is short against what a source may have.
        guard let bytes = try? WholeFile.read(path(of: url), limit: limits.maximumBytes + 4096) else { return nil }
        return KeptAnswer(bytes)
    }

    private func keep(_ answer: KeptAnswer, of url: String) {
        guard (try? makeFolders(folder)) != nil else { return }
        sweep()
        try? WholeFile.write(answer.bytes, to: path(of: url))
    }

    /// Removes what nobody asked for in a long time; each answer, also that nothing changed, writes its file anew.
    private func sweep() {
        let oldest = now().subtractingReportingOverflow(Self.longestKept.components.seconds).partialValue
        for name in (try? folderNames(folder)) ?? [] where name.hasSuffix(Self.suffix) {
            let path = folder + "/" + name
            var status = stat()
            if lstat(path, &status) == 0, Int64(status.modified.tv_sec) < oldest { removeFile(path) }
        }
    }

    private static let suffix = ".source"

    private func path(of url: String) -> String {
        folder + "/" + HashAlgorithm.sha256.digest(Array(url.utf8)).hex + Self.suffix
    }
}

/// A source that was got, and how new it is.
public struct StoredSource: Sendable {
    /// How new a source is.
    public enum Freshness: Sendable, Hashable {
        /// It came just now.
        case fetched
        /// The server says that it has not changed.
        case unchanged
        /// It is so old, and why it was not asked for again; `nil` where nothing may be asked.
        case kept(age: Duration, reason: String?)
    }

    /// The source.
    public let source: AppSource
    /// What messages call it: its address without a query.
    public let place: String
    /// Its address; it may hold a token.
    public let url: String
    /// How new it is.
    public let freshness: Freshness

    /// What to warn of: that it is an old one, how old, and why; `nil` for nothing.
    public var warning: String? {
        guard case .kept(let age, let reason) = freshness else { return nil }
        let text = "\(place): this is the list as it was \(Self.text(age)) ago"
        return text + (reason.map { ", for it could not be fetched: \($0)" } ?? ".")
    }

    private static func text(_ age: Duration) -> String {
        let seconds = age.components.seconds
        let (count, unit): (Int64, String) =
            switch seconds {
            case ..<120: (seconds, "second")
            case ..<7200: (seconds / 60, "minute")
            case ..<172_800: (seconds / 3600, "hour")
            default: (seconds / 86400, "day")
            }
        return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
}
