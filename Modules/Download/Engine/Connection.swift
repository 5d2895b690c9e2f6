import CCurl
import FerryBytes
import FerryWeb

/// Who gets what a connection brings. Called on the thread that drives the transfers, with the request's lane.
protocol ConnectionReceiver: AnyObject {
    /// The head of an answer is there; whether its body is the file.
    func connection(_ lane: Int, answered answer: Answer) -> Bool
    /// Bytes of the file.
    func connection(_ lane: Int, received bytes: UnsafeRawBufferPointer) -> Reception
}

/// What becomes of bytes that a connection brought.
enum Reception {
    case taken
    /// The connection pauses, and brings them again when it goes on.
    case later
    /// The connection ends.
    case end
}

/// One request of one download: an easy handle of libcurl with its callbacks.
///
/// Belongs to the thread that drives the transfers, and so does its receiver.
final class Connection {
    /// The most that is read of a body that is not the file.
    static let glimpseLimit = 64 << 10
    /// The most that a server may send as heads of one answer.
    static let headLimit = 1 << 20

    /// The easy handle.
    let handle: UnsafeMutableRawPointer
    /// The start of a body that is not the file.
    private(set) var glimpse: [UInt8] = []

    private let lane: Int
    private unowned let receiver: any ConnectionReceiver
    private let errorText: UnsafeMutablePointer<CChar>
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var answer = Answer()
    private var headLength = 0
    private var isAnswered = false
    private var receives = false

    /// Prepares the request; `nil` where libcurl has no memory.
    init?(
        _ request: DownloadCourse.Request,
        headers: [DownloadHeader],
        sendsHeaders: Bool,
        credentials: WebAddress,
        _ configuration: DownloadConfiguration,
        bytesPerSecond: Int64?,
        receiver: any ConnectionReceiver
    ) {
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        lane = request.lane
        self.receiver = receiver
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorText))
        set(CURLOPT_URL, request.address.url)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_NOSIGNAL, 1)
        // Redirects are ours to follow: libcurl would send the caller's own headers to any host.
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Under a limit the pieces are small, or the line would stand still between them. Where several connections
        // help, each is slow, and all of their buffers are in memory.
        let most: Int64 = request.lane == 0 ? 256 << 10 : 128 << 10
        set(CURLOPT_BUFFERSIZE, Int(min(most, max(16 << 10, (bytesPerSecond ?? .max) / 16))))
        set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.wholeMilliseconds)
        set(CURLOPT_LOW_SPEED_LIMIT, 1)
        set(CURLOPT_LOW_SPEED_TIME, max(1, configuration.stallTimeout.wholeMilliseconds / 1000))
        set(CURLOPT_USERAGENT, configuration.userAgent)
        if let file = configuration.caFile { set(CURLOPT_CAINFO, file) }
        if let proxy = configuration.proxy { set(CURLOPT_PROXY, proxy) }
        if request.sendsCredentials {
            if let user = credentials.user { set(CURLOPT_USERNAME, user.revealed) }
            if let password = credentials.password { set(CURLOPT_PASSWORD, password.revealed) }
        }
        if let file = configuration.netrcFile {
            set(CURLOPT_NETRC, Int(CURL_NETRC_OPTIONAL.rawValue))
            if !file.isEmpty { set(CURLOPT_NETRC_FILE, file) }
        }
        addHeaders(request, headers, sendsHeaders: sendsHeaders)
        setCallbacks()
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(fields)
        errorText.deallocate()
    }

    /// What libcurl's end of the transfer means.
    func ending(_ code: CURLcode, _ address: WebAddress) -> DownloadCourse.Ending {
        guard code != CURLE_OK else { return .complete }
        return .broken(DownloadCourse.Failure(code, detail: String(cString: errorText), address: address))
    }
}

extension Connection {
    private static let harmlessHeaders: Set<String> = ["accept", "accept-language", "user-agent"]

    private func addHeaders(_ request: DownloadCourse.Request, _ headers: [DownloadHeader], sendsHeaders: Bool) {
        var lines = ["Accept-Encoding: identity"]
        if request.isRanged {
            // Not CURLOPT_RESUME_FROM: a 200 would be an error of libcurl's, and here it means that the file changed.
            set(CURLOPT_RANGE, "\(request.from)-" + (request.end.map { "\($0 - 1)" } ?? ""))
            if let validator = request.validator { lines.append("If-Range: \(validator)") }
        }
        let ours: Set<String> = ["accept-encoding", "range", "if-range"]
        for header in headers {
            let name = header.name.lowercased()
            guard !ours.contains(name), sendsHeaders || Self.harmlessHeaders.contains(name) else {
                continue
            }
            lines.append("\(header.name): \(header.value.revealed)")
        }
        for line in lines {
            if let longer = curl_slist_append(fields, line) { fields = longer }
        }
        _ = ferry_setopt_list(handle, CURLOPT_HTTPHEADER, fields)
    }

    private func setCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        set(CURLOPT_HEADERDATA, context)
        set(CURLOPT_WRITEDATA, context)
        _ = ferry_setopt_data(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let context else { return 0 }
            let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return connection.head(line) ? line.count : 0
        }
        _ = ferry_setopt_data(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let context else { return 0 }
            let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
            let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return connection.body(chunk)
        }
    }

    /// Reads one line of a head; the empty one ends it. What comes after the body, trailers, is of no interest.
    private func head(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !isAnswered else { return true }
        headLength += bytes.count
        guard headLength <= Self.headLimit else { return false }
        let line = String(decoding: bytes, as: UTF8.self)
        answer.read(line)
        if line.allSatisfy(\.isWhitespace), answer.status >= 200 {
            isAnswered = true
            receives = receiver.connection(lane, answered: answer)
        }
        return true
    }

    /// What libcurl is told of a chunk: its length, that it has to wait, or anything else for an end.
    private func body(_ bytes: UnsafeRawBufferPointer) -> Int {
        if receives {
            switch receiver.connection(lane, received: bytes) {
            case .taken: return bytes.count
            case .later: return Int(CURL_WRITEFUNC_PAUSE)
            case .end: return bytes.isEmpty ? 1 : 0
            }
        }
        let room = Self.glimpseLimit - glimpse.count
        glimpse.append(contentsOf: bytes.prefix(room))
        return bytes.count <= room ? bytes.count : 0
    }

    private func set(_ option: CURLoption, _ value: Int) {
        _ = ferry_setopt_long(handle, option, value)
    }

    private func set(_ option: CURLoption, _ value: String) {
        _ = ferry_setopt_string(handle, option, value)
    }

    private func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) {
        _ = ferry_setopt_pointer(handle, option, value)
    }
}

extension Duration {
    /// Whole milliseconds, at least one and at most a day: what libcurl's timeouts take.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds < 86_400 else { return 86_400_000 }
        return max(1, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}
