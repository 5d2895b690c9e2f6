import CCurl
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
    /// The longest answer that is read: a hundred times what authorities send.
    public static let longestAnswer = 256 << 10
    /// How many redirects are followed.
    public static let maximumRedirects = 3

    /// How long one exchange may take, from the look-up of the name to the last byte.
    public var timeout: Duration
    /// The `User-Agent` that servers see.
    public var userAgent: String

    /// Waits at most `timeout` for each answer.
    public init(timeout: Duration = .seconds(10), userAgent: String = "ferry") {
        self.timeout = timeout
        self.userAgent = userAgent
    }

    /// Asks; throws ``FetchError``, or `CancellationError` where the task is cancelled meanwhile.
    public func fetch(_ request: FetchRequest) async throws -> [UInt8] {
        let isCancelled = Flag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let thread = startThread {
                    continuation.resume(with: Result { try Exchange(self, request, isCancelled).run() })
                }
                if let thread {
                    pthread_detach(thread)
                } else {
                    continuation.resume(
                        throwing: FetchError(.connection, "\(request.url): there is no thread to ask on.")
                    )
                }
            }
        } onCancel: {
            isCancelled.value.store(true, ordering: .relaxed)
        }
    }
}

private final class Flag: Sendable {
    let value = Atomic(false)
}

/// One question and its answer, on the thread that it blocks.
private final class Exchange {
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private let web: WebFetch
    private let request: FetchRequest
    private let isCancelled: Flag
    private var answer: [UInt8] = []
    private var isTooLong = false

    init(_ web: WebFetch, _ request: FetchRequest, _ isCancelled: Flag) {
        self.web = web
        self.request = request
        self.isCancelled = isCancelled
    }

    func run() throws -> [UInt8] {
        guard Self.isReady, let handle = curl_easy_init() else {
            throw FetchError(.connection, "\(request.url): libcurl cannot be started.")
        }
        defer { curl_easy_cleanup(handle) }
        let milliseconds = web.timeout.components
        let timeout = max(
            1,
            Int(clamping: milliseconds.seconds) * 1000 + Int(milliseconds.attoseconds / 1_000_000_000_000_000)
        )
        _ = ferry_setopt_string(handle, CURLOPT_URL, request.url)
        _ = ferry_setopt_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        _ = ferry_setopt_string(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        _ = ferry_setopt_long(handle, CURLOPT_FOLLOWLOCATION, 1)
        _ = ferry_setopt_long(handle, CURLOPT_MAXREDIRS, WebFetch.maximumRedirects)
        _ = ferry_setopt_long(handle, CURLOPT_NOSIGNAL, 1)
        _ = ferry_setopt_long(handle, CURLOPT_TIMEOUT_MS, timeout)
        _ = ferry_setopt_string(handle, CURLOPT_USERAGENT, web.userAgent)
        var fields: UnsafeMutablePointer<curl_slist>?
        defer { curl_slist_free_all(fields) }
        if let body = request.body {
            _ = ferry_setopt_long(handle, CURLOPT_POST, 1)
            _ = ferry_setopt_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            body.withUnsafeBytes { bytes in
                _ = ferry_setopt_pointer(
                    handle,
                    CURLOPT_COPYPOSTFIELDS,
                    UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                )
            }
            // An empty Expect: some responders do not answer 100 Continue.
            for line in ["Content-Type: \(request.contentType ?? "application/octet-stream")", "Expect:"] {
                if let longer = curl_slist_append(fields, line) { fields = longer }
            }
            _ = ferry_setopt_list(handle, CURLOPT_HTTPHEADER, fields)
        }
        setCallbacks(handle)
        let code = curl_easy_perform(handle)
        if isCancelled.value.load(ordering: .relaxed) { throw CancellationError() }
        if isTooLong {
            throw FetchError(
                .tooLong,
                "\(request.url): the answer has more than \(WebFetch.longestAnswer) bytes, so it is not what was asked for."
            )
        }
        guard code == CURLE_OK else { throw failure(code) }
        var status = 0
        _ = ferry_getinfo_long(handle, CURLINFO_RESPONSE_CODE, &status)
        guard status == 200 else {
            throw FetchError(.refused, "\(request.url): the server answers with status \(status).")
        }
        return answer
    }

    private func setCallbacks(_ handle: UnsafeMutableRawPointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = ferry_setopt_pointer(handle, CURLOPT_WRITEDATA, context)
        _ = ferry_setopt_data(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let context else { return 0 }
            let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
            let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
            guard chunk.count <= WebFetch.longestAnswer - exchange.answer.count else {
                exchange.isTooLong = true
                return 0
            }
            exchange.answer.append(contentsOf: chunk)
            return chunk.count
        }
        _ = ferry_setopt_pointer(handle, CURLOPT_XFERINFODATA, context)
        _ = ferry_setopt_progress(handle) { context, _, _, _, _ in
            guard let context else { return 1 }
            let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
            return exchange.isCancelled.value.load(ordering: .relaxed) ? 1 : 0
        }
        _ = ferry_setopt_long(handle, CURLOPT_NOPROGRESS, 0)
    }

    private func failure(_ code: CURLcode) -> FetchError {
        let reason = String(cString: curl_easy_strerror(code))
        let net = "Check whether this machine is on the net, and its proxy."
        switch code {
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            return FetchError(.badURL, "\(request.url): this is no address of the web (\(reason)).")
        case CURLE_OPERATION_TIMEDOUT:
            return FetchError(
                .timedOut,
                "\(request.url): there was no whole answer within \(web.timeout).",
                remedy: net
            )
        case CURLE_TOO_MANY_REDIRECTS:
            return FetchError(.redirect, "\(request.url): it leads on more than \(WebFetch.maximumRedirects) times.")
        default:
            return FetchError(.connection, "\(request.url): the connection failed (\(reason)).", remedy: net)
        }
    }
}
