import FerryActivity
import FerryBytes
import FerryHTTP
import FerryRecord
import FerrySigning

/// Why a call did not do what was asked, as RFC 9457 writes it.
struct Problem: Error, Sendable {
    /// One of several reasons.
    struct Reason: Sendable, Hashable {
        let message: String
        let remedy: String?
    }

    let status: Int
    let detail: String
    var remedy: String?
    var reasons: [Reason] = []
    var headers: HeaderFields = [:]

    init(_ status: Int, _ detail: String, remedy: String? = nil, reasons: [Reason] = [], headers: HeaderFields = [:]) {
        self.status = status
        self.detail = detail
        self.remedy = remedy
        self.reasons = reasons
        self.headers = headers
    }

    /// What an error of another room means to who called.
    init(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case BodyError.tooLarge: self.init(413, "The body is longer than it may be.")
        case is BodyError: self.init(400, "The body ended early.")
        case is CancellationError: self.init(503, "The server is about to stop.", headers: ["Retry-After": "5"])
        case let error as SignError where error.code == .refused:
            self.init(
                422,
                error.message,
                remedy: error.remedy,
                reasons: error.reasons.map { Reason(message: $0.message, remedy: $0.remedy) }
            )
        case let error as RecordError: self.init(Self.status(error.code), error.message, remedy: error.remedy)
        case let error as FileFailure:
            self.init(error.isFullDisk ? 507 : 500, error.message, remedy: error.remedy)
        case let error as any ExplainedError: self.init(422, error.message, remedy: error.remedy)
        default: self.init(500, "Something went wrong that nobody expected.", remedy: "Please report it.")
        }
    }

    static func tooOften(_ wait: Double, _ detail: String) -> Problem {
        let seconds = Int(min(max(wait.rounded(.up), 1), 3600))
        return Problem(
            429,
            detail,
            remedy: "Try again in \(seconds) s.",
            headers: ["Retry-After": String(seconds)]
        )
    }

    static func noInstall(_ id: String) -> Problem {
        Problem(
            404,
            "\(id.prefix(100).printable): there is no such install.",
            remedy: "GET /api/v1/installs lists them."
        )
    }

    private static func status(_ code: RecordError.Code) -> Int {
        switch code {
        case .unknown: 404
        case .running, .finished, .duplicate: 409
        case .busy: 503
        case .full: 507
        case .damaged, .file: 500
        }
    }

    /// The problem as an answer.
    var response: Response {
        var object = JSONObject()
        object.add("type", "about:blank")
        object.add("title", Self.titles[status] ?? "Error")
        object.add("status", status)
        object.add("detail", detail)
        object.add("remedy", remedy)
        if !reasons.isEmpty {
            object.add(
                "reasons",
                reasons.map { reason in
                    var object = JSONObject()
                    object.add("message", reason.message)
                    object.add("remedy", reason.remedy)
                    return object
                }
            )
        }
        var response = Response.json(object.json, status: status, type: "application/problem+json")
        for field in headers.fields { response.headers[field.name] = field.value }
        return response
    }

    /// RFC 9110 §15, RFC 4918.
    private static let titles = [
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        409: "Conflict", 410: "Gone", 411: "Length Required", 413: "Content Too Large", 415: "Unsupported Media Type",
        421: "Misdirected Request", 422: "Unprocessable Content", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 500: "Internal Server Error", 503: "Service Unavailable",
        507: "Insufficient Storage",
    ]
}

extension Response {
    /// JSON that nobody keeps.
    static func json(_ text: String, status: Int = 200, type: String = "application/json") -> Response {
        .bytes(Array((text + "\n").utf8), type: type, status: status, headers: ["Cache-Control": "no-store"])
    }
}
