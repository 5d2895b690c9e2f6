import CCurl

/// What matters to us of an HTTP answer's head.
package struct Answer: Equatable {
    /// What `Content-Range` says (RFC 9110 §14.4).
    package enum Range: Equatable {
        /// `bytes first-last/total`; `total` is `nil` for `*`.
        case part(first: Int64, last: Int64, total: Int64?)
        /// `bytes */total`, with a 416.
        case nothing(total: Int64)
        /// Something else.
        case unclear
    }

    package var status = 0
    package var range: Range?
    /// `nil` where there is none, or it is no number.
    package var length: Int64?
    package var etag: String?
    package var lastModified: String?
    package var date: String?
    package var contentType: String?
    package var contentEncoding: String?
    package var retryAfter: String?
    package var location: String?
    /// What `Accept-Ranges` says.
    package var acceptRanges: String?
    /// Whether the body ends otherwise than by its length; then `Content-Length` does not count (RFC 9112 §6.3).
    package var isTransferEncoded = false

    /// The head of no answer yet, or of one that says this.
    package init(status: Int = 0, length: Int64? = nil) {
        self.status = status
        self.length = length
    }

    /// How long the body says that it is; `nil` where it does not.
    package var bodyLength: Int64? { isTransferEncoded ? nil : length }

    /// Adds one header line. A status line begins anew, so that what came with a 100 or a 103 is forgotten.
    package mutating func read(_ line: some StringProtocol) {
        if line.hasPrefix("HTTP/") {
            self = Answer()
            let words = line.split(separator: " ", maxSplits: 2)
            status = words.count > 1 ? Int(words[1].trimmed) ?? 0 : 0
            return
        }
        guard let colon = line.firstIndex(of: ":") else { return }
        let value = String(line[line.index(after: colon)...]).trimmed
        switch line[..<colon].lowercased() {
        case "content-range": range = Range(value)
        case "content-length": length = Int64(digits: value)
        case "etag": etag = value
        case "last-modified": lastModified = value
        case "date": date = value
        case "content-type": contentType = value.lowercased()
        case "content-encoding": contentEncoding = value.lowercased()
        case "retry-after": retryAfter = value
        case "location": location = value
        case "accept-ranges": acceptRanges = value.lowercased()
        case "transfer-encoding": isTransferEncoded = true
        default: break
        }
    }

    /// The file that the answer is about; `totalBytes` is `nil` where it does not say.
    package func version(totalBytes: Int64?) -> FileVersion {
        FileVersion(etag: strongETag, lastModified: strongDate, totalBytes: totalBytes)
    }

    /// How long `Retry-After` asks to wait: seconds, or a date, which we read against the server's own clock.
    package var retryDelay: Duration? {
        guard let retryAfter else { return nil }
        if let seconds = Int64(digits: retryAfter) { return .seconds(seconds) }
        guard let date, let now = Self.seconds(date), let then = Self.seconds(retryAfter) else { return nil }
        return .seconds(max(0, then - now))
    }

    /// Whether parts may be asked for: a server that gives none says so, one that says nothing may be tried.
    var acceptsRanges: Bool { acceptRanges != "none" }

    /// Whether it is a page for people.
    var isWebPage: Bool {
        let type = contentType?.prefix { $0 != ";" }.trimmed
        return type == "text/html" || type == "application/xhtml+xml"
    }

    /// Whether the body is the file's bytes themselves.
    var isPlain: Bool { contentEncoding == nil || contentEncoding == "" || contentEncoding == "identity" }

    private var strongETag: String? {
        guard let etag, etag.count >= 2, etag.hasPrefix("\""), etag.hasSuffix("\""), etag.utf8.count < 1024 else {
            return nil
        }
        return etag
    }

    /// A date is a validator only when the file was at least a second old: it may have changed twice within it
    /// (RFC 9110 §8.8.2.2).
    private var strongDate: String? {
        guard let lastModified, let modified = Self.seconds(lastModified) else { return nil }
        guard let date, let now = Self.seconds(date) else { return lastModified }
        return now - modified >= 1 ? lastModified : nil
    }

    /// Seconds since 1970 of an HTTP date.
    private static func seconds(_ date: String) -> Int64? {
        let seconds = curl_getdate(date, nil)
        return seconds < 0 ? nil : Int64(seconds)
    }
}

extension Answer.Range {
    init(_ text: String) {
        self = .unclear
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        let total = Int64(digits: parts[1])
        guard total != nil || parts[1] == "*" else { return }
        if parts[0] == "*" {
            if let total { self = .nothing(total: total) }
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int64(digits: ends[0]), let last = Int64(digits: ends[1]),
            first <= last, last < total ?? .max
        else { return }
        self = .part(first: first, last: last, total: total)
    }
}

/// What tells one version of a server's file from another, and its length.
package struct FileVersion: Equatable, Codable {
    /// A strong ETag with its quotes; a weak one is no validator for ranges.
    var etag: String?
    /// `Last-Modified` as the server wrote it.
    var lastModified: String?
    var totalBytes: Int64?

    /// What `If-Range` asks by; `nil` where nothing can show that the file is still the same.
    var validator: String? { etag ?? lastModified }

    /// Whether the two certainly differ: what both have is not the same.
    package func differs(from other: FileVersion) -> Bool {
        func unequal<Value: Equatable>(_ one: Value?, _ two: Value?) -> Bool {
            guard let one, let two else { return false }
            return one != two
        }
        return unequal(etag, other.etag) || unequal(totalBytes, other.totalBytes)
            || (etag == nil && unequal(lastModified, other.lastModified))
    }
}

extension Int64 {
    /// A number that is written with digits only; `nil` for a sign, a space, or more than 63 bits.
    init?(digits: some StringProtocol) {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        self.init(String(digits))
    }
}

extension StringProtocol {
    /// Without spaces, tabs and line ends around it.
    var trimmed: String {
        var text = self[...]
        while let first = text.first, first.isWhitespace { text = text.dropFirst() }
        while let last = text.last, last.isWhitespace { text = text.dropLast() }
        return String(text)
    }
}
