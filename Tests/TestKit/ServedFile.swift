/// A file as a correct HTTP server has it: with validators, by range where the client's `If-Range` fits (RFC 9110 §13, §14).
public struct ServedFile: Sendable {
    /// The bytes.
    public var bytes: [UInt8]
    /// With its quotes, and `W/` where it is weak; `nil` sends none.
    public var etag: String?
    /// An HTTP date; `nil` sends none.
    public var lastModified: String?
    /// Other header fields to send along.
    public var headers: [(name: String, value: String)] = [("Content-Type", "application/octet-stream")]

    /// A file with a strong ETag.
    public init(_ bytes: [UInt8], etag: String? = "\"v1\"", lastModified: String? = nil) {
        self.bytes = bytes
        self.etag = etag
        self.lastModified = lastModified
    }

    /// The answer that is right.
    public func answer(_ request: HTTPServer.Request) -> HTTPServer.Response {
        var fields = headers + [("Accept-Ranges", "bytes")]
        if let etag { fields.append(("ETag", etag)) }
        if let lastModified { fields.append(("Last-Modified", lastModified)) }
        let condition = request.headers["if-range"]
        let isSame =
            condition == nil || (condition == etag && etag?.hasPrefix("W/") == false) || condition == lastModified
        guard let first = request.firstByte, isSame else {
            return HTTPServer.Response(200, fields, body: bytes)
        }
        guard first < bytes.count else {
            return HTTPServer.Response(416, [("Content-Range", "bytes */\(bytes.count)")])
        }
        let last = min(request.lastByte ?? .max, bytes.count - 1)
        guard first <= last else { return HTTPServer.Response(200, fields, body: bytes) }
        fields.append(("Content-Range", "bytes \(first)-\(last)/\(bytes.count)"))
        return HTTPServer.Response(206, fields, body: Array(bytes[first...last]))
    }

    /// The whole file, whatever range is asked for.
    public func answerWhole(_ request: HTTPServer.Request) -> HTTPServer.Response {
        var copy = headers
        if let etag { copy.append(("ETag", etag)) }
        return HTTPServer.Response(200, copy, body: bytes)
    }
}
