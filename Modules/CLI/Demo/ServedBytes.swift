import FerryBytes
import FerryCodeSignature

/// One file as a web server gives it out: what it answers to each request (RFC 9110).
struct ServedBytes: Sendable {
    /// An answer: its head, and which bytes of the file follow.
    struct Answer: Equatable {
        var head: String
        var body: Range<Int>
    }

    /// The file.
    let bytes: [UInt8]
    /// Its path as a request writes it, percent-encoded, with the slash.
    let path: String
    /// Its strong entity tag: the start of its SHA-256.
    let tag: String

    init(bytes: [UInt8], path: String) {
        self.bytes = bytes
        self.path = path
        tag = "\"" + HashAlgorithm.sha256.digest(bytes).prefix(16).hex + "\""
    }

    /// What is answered to a request.
    func answer(to request: RequestHead) -> Answer {
        guard request.isWellFormed else { return Self.refusal("400 Bad Request") }
        guard request.path == path else { return Self.refusal("404 Not Found") }
        guard ["GET", "HEAD"].contains(request.method) else {
            return Self.refusal("405 Method Not Allowed", "Allow: GET, HEAD\r\n")
        }
        let whole = 0..<bytes.count
        guard request.method == "GET" else { return answer("200 OK", whole).withoutBody }
        // If-Range compares strongly, and a date is never equal to a tag (RFC 9110 §13.1.5): then all is sent.
        guard let asked = request["range"], request["if-range"] ?? tag == tag else { return answer("200 OK", whole) }
        switch Self.part(asked, of: bytes.count) {
        case .ignored: return answer("200 OK", whole)
        case .part(let part):
            return answer(
                "206 Partial Content",
                part,
                "Content-Range: bytes \(part.lowerBound)-\(part.upperBound - 1)/\(bytes.count)\r\n"
            )
        case .unsatisfiable:
            return Self.refusal("416 Range Not Satisfiable", "Content-Range: bytes */\(bytes.count)\r\n")
        }
    }

    enum Part: Equatable {
        /// It is none that we know, or several: the header field is passed over, as it may be.
        case ignored
        case part(Range<Int>)
        case unsatisfiable
    }

    /// The bytes that a `Range` asks for: `bytes=FIRST-LAST`, `bytes=FIRST-` or `bytes=-COUNT` (RFC 9110 §14.1.2).
    static func part(_ text: String, of count: Int) -> Part {
        let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2, sides[0].lowercased() == "bytes" else { return .ignored }
        let ends = sides[1].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]) else { return .ignored }
        switch (first, last) {
        case (nil, nil): return .ignored
        case (nil, let length?):
            return length == 0 || count == 0 ? .unsatisfiable : .part(count - min(length, count)..<count)
        case (let first?, let last):
            if let last, last < first { return .ignored }
            return first >= count ? .unsatisfiable : .part(first..<min(last ?? count - 1, count - 1) + 1)
        }
    }

    /// A number of a range: `.some(nil)` where none is written, `nil` where it is no number.
    ///
    /// One that no `Int` holds stands for the largest: beyond every file it means the same.
    private static func number(_ text: Substring) -> Int?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return .some(Int(text) ?? .max)
    }

    private func answer(_ status: String, _ body: Range<Int>, _ more: String = "") -> Answer {
        Answer(
            head: """
                HTTP/1.1 \(status)\r
                Content-Type: application/octet-stream\r
                Content-Length: \(body.count)\r
                Accept-Ranges: bytes\r
                ETag: \(tag)\r
                \(more)Connection: close\r
                \r

                """,
            body: body
        )
    }

    private static func refusal(_ status: String, _ more: String = "") -> Answer {
        Answer(head: "HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\(more)Connection: close\r\n\r\n", body: 0..<0)
    }
}

extension ServedBytes.Answer {
    /// The same, for `HEAD`.
    fileprivate var withoutBody: Self { Self(head: head, body: 0..<0) }
}

/// The head of a request.
struct RequestHead: Sendable {
    /// The longest that is read.
    static let limit = 16 << 10
    /// What ends it.
    static let end = Array("\r\n\r\n".utf8)

    /// `GET`, `HEAD`, …
    let method: String
    /// Its path, without a query.
    let path: String
    /// Whether it begins as HTTP/1 does.
    let isWellFormed: Bool
    private let fields: [String: String]

    /// Takes apart what stands before the empty line.
    init(_ bytes: ArraySlice<UInt8>) {
        // By bytes: to Swift, "\r\n" is one character.
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map { line in
            String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        }
        let words = lines.first?.split(separator: " ", omittingEmptySubsequences: false) ?? []
        isWellFormed = words.count == 3 && words[2].hasPrefix("HTTP/1.")
        method = isWellFormed ? String(words[0]) : ""
        path = isWellFormed ? String(words[1].prefix { $0 != "?" }) : ""
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].split { $0 == " " || $0 == "\t" }.joined(separator: " ")
            fields[line[..<colon].lowercased()] = value
        }
        self.fields = fields
    }

    /// The value of a header field, by its name in small letters.
    subscript(name: String) -> String? { fields[name] }
}

/// `name` as a path of a URL holds it (RFC 3986 §2.3).
func percentEncoded(_ name: String) -> String {
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    let digits = Array("0123456789ABCDEF")
    return name.utf8.reduce(into: "") { text, byte in
        if plain.contains(byte) {
            text.unicodeScalars.append(Unicode.Scalar(byte))
        } else {
            text += "%" + String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
        }
    }
}
