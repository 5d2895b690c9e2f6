import FerryBytes
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Asks small things on the web, one short exchange each, by libcurl; the proxy is that of the environment.
///
/// It is no part of `Downloader`, whose downloads are files that survive a restart: here is one answer of a few kilobytes,
/// now or not at all, and questions that are posted.
public struct WebFetch: Sendable {
    /// How many redirects are followed.
    public static let maximumRedirects = 3

    /// How long one exchange may take, from the look-up of the name to the last byte.
    public var timeout: Duration
    /// The `User-Agent` that servers see.
    public var userAgent: String
    /// A file of trusted certificates in PEM, which takes the place of the system's.
    public var caFile: String?

    /// Waits at most `timeout` for each answer.
    public init(timeout: Duration = .seconds(10), userAgent: String = "ferry") {
        self.timeout = timeout
        self.userAgent = userAgent
    }

    /// Asks, and gives the body of a 200; any other status is a ``FetchError``.
    ///
    /// Throws `CancellationError` where the task is cancelled meanwhile.
    public func fetch(_ request: FetchRequest) async throws -> [UInt8] {
        let answer = try await answer(to: request)
        guard answer.status == 200 else {
            throw FetchError(
                .refused,
                "\(WebAddress.shown(request.url)): the server answers with status \(answer.status)."
            )
        }
        return answer.body
    }

    /// Asks, and gives the answer whatever its status; throws ``FetchError``, or `CancellationError`.
    ///
    /// A redirect is followed, but never from https to http.
    public func answer(to request: FetchRequest) async throws -> FetchAnswer {
        let isCancelled = Flag()
        return try await withTaskCancellationHandler {
            let shown = WebAddress.shown(request.url)
            return try await onOwnThread(orElse: FetchError(.connection, "\(shown): there is no thread to ask on.")) {
                try Exchange(self, request, isCancelled).run()
            }
        } onCancel: {
            isCancelled.value.store(true, ordering: .relaxed)
        }
    }
}

/// Whether somebody asked for the end.
final class Flag: Sendable {
    let value = Atomic(false)
}
