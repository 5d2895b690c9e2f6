import CCurl
import FerryBytes
import Synchronization

/// One question and its answer, on the thread that it blocks.
final class Exchange {
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// The longest header field that is looked at, and how many are: those that are of use are short, and few.
    private static let longestField = 8192
    private static let maximumFields = 200

    private let web: WebFetch
    private let request: FetchRequest
    private let isCancelled: Flag
    private var fields: [String: String] = [:]
    private var body: [UInt8] = []
    /// The URL for messages.
    private let shown: String
    private var isTooLong = false

    init(_ web: WebFetch, _ request: FetchRequest, _ isCancelled: Flag) {
        self.web = web
        self.request = request
        self.isCancelled = isCancelled
        shown = WebAddress.shown(request.url)
    }

    func run() throws -> FetchAnswer {
        guard Self.isReady, let handle = curl_easy_init() else {
            throw FetchError(.connection, "\(shown): libcurl cannot be started.")
        }
        defer { curl_easy_cleanup(handle) }
        let milliseconds = web.timeout.components
        let timeout = max(
            1,
            Int(clamping: milliseconds.seconds) * 1000 + Int(milliseconds.attoseconds / 1_000_000_000_000_000)
        )
        _ = ferry_setopt_string(handle, CURLOPT_URL, request.url)
        _ = ferry_setopt_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        // From https only to https: who listens must not be able to lead it away.
        _ = ferry_setopt_string(handle, CURLOPT_REDIR_PROTOCOLS_STR, isSecure ? "https" : "http,https")
        _ = ferry_setopt_long(handle, CURLOPT_FOLLOWLOCATION, 1)
        _ = ferry_setopt_long(handle, CURLOPT_MAXREDIRS, WebFetch.maximumRedirects)
        _ = ferry_setopt_long(handle, CURLOPT_NOSIGNAL, 1)
        _ = ferry_setopt_long(handle, CURLOPT_TIMEOUT_MS, timeout)
        _ = ferry_setopt_string(handle, CURLOPT_USERAGENT, web.userAgent)
        if let file = web.caFile { _ = ferry_setopt_string(handle, CURLOPT_CAINFO, file) }
        if request.body == nil {
            // Every packing that libcurl knows; it counts against the limit as it is unpacked.
            _ = ferry_setopt_string(handle, CURLOPT_ACCEPT_ENCODING, "")
        }
        let lines = setBody(handle)
        defer { curl_slist_free_all(lines) }
        setCallbacks(handle)
        let code = curl_easy_perform(handle)
        if isCancelled.value.load(ordering: .relaxed) { throw CancellationError() }
        if isTooLong {
            throw FetchError(
                .tooLong,
                "\(shown): the answer has more than \(request.longestAnswer) bytes, so it is not what was asked for."
            )
        }
        var status = 0
        _ = ferry_getinfo_long(handle, CURLINFO_RESPONSE_CODE, &status)
        guard code == CURLE_OK else { throw failure(code, status) }
        return FetchAnswer(status: status, fields: fields, body: body)
    }

    private var isSecure: Bool { request.url.lowercased().hasPrefix("https:") }

    /// Sets what is posted, and the header fields; the list must live as long as the exchange.
    private func setBody(_ handle: UnsafeMutableRawPointer) -> UnsafeMutablePointer<curl_slist>? {
        var lines = request.fields.map { "\($0.key): \($0.value)" }
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
            lines += ["Content-Type: \(request.contentType ?? "application/octet-stream")", "Expect:"]
        }
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines where !line.utf8.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) {
            if let longer = curl_slist_append(list, line) { list = longer }
        }
        if list != nil { _ = ferry_setopt_list(handle, CURLOPT_HTTPHEADER, list) }
        return list
    }

    private func setCallbacks(_ handle: UnsafeMutableRawPointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = ferry_setopt_pointer(handle, CURLOPT_WRITEDATA, context)
        _ = ferry_setopt_data(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let context else { return 0 }
            let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
            let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
            guard chunk.count <= exchange.request.longestAnswer - exchange.body.count else {
                exchange.isTooLong = true
                return 0
            }
            exchange.body.append(contentsOf: chunk)
            return chunk.count
        }
        _ = ferry_setopt_pointer(handle, CURLOPT_HEADERDATA, context)
        _ = ferry_setopt_data(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let context else { return 0 }
            let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
            exchange.take(header: UnsafeRawBufferPointer(start: bytes, count: size * count))
            return size * count
        }
        _ = ferry_setopt_pointer(handle, CURLOPT_XFERINFODATA, context)
        _ = ferry_setopt_progress(handle) { context, _, _, _, _ in
            guard let context else { return 1 }
            let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
            return exchange.isCancelled.value.load(ordering: .relaxed) ? 1 : 0
        }
        _ = ferry_setopt_long(handle, CURLOPT_NOPROGRESS, 0)
    }

    /// Takes a line of a head; a status line begins the head of another answer, after a redirect.
    private func take(header bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= Self.longestField else { return }
        let line = String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            fields = [:]
            return
        }
        guard fields.count < Self.maximumFields, let colon = line.firstIndex(of: ":") else { return }
        let value = line[line.index(after: colon)...].filter { !$0.isNewline }
        fields[line[..<colon].lowercased()] = String(value.drop { $0 == " " || $0 == "\t" })
    }

    private func failure(_ code: CURLcode, _ status: Int) -> FetchError {
        let reason = String(cString: curl_easy_strerror(code))
        let net = "Check whether this machine is on the net, and its proxy."
        switch code {
        case CURLE_UNSUPPORTED_PROTOCOL where (300..<400).contains(status):
            let from = isSecure ? "from https to something else" : "to something that is not of the web"
            return FetchError(.redirect, "\(shown): it leads on \(from), which is not followed.")
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            return FetchError(.badURL, "\(shown): this is no address of the web (\(reason)).")
        case CURLE_OPERATION_TIMEDOUT:
            return FetchError(
                .timedOut,
                "\(shown): there was no whole answer within \(web.timeout).",
                remedy: net
            )
        case CURLE_TOO_MANY_REDIRECTS:
            return FetchError(.redirect, "\(shown): it leads on more than \(WebFetch.maximumRedirects) times.")
        default:
            return FetchError(.connection, "\(shown): the connection failed (\(reason)).", remedy: net)
        }
    }
}
