package import FerryBytes

/// What a client is answered.
package struct Response: Sendable {
    /// What follows the header fields.
    package enum Body: Sendable {
        /// These bytes.
        case bytes([UInt8])
        /// A file, or the part of it that was asked for.
        case file(FileBody)
        /// Whatever the closure writes, for as long as it does. It is cancelled when the client goes away; where it
        /// throws, the client sees that the answer was cut short.
        case stream(@Sendable (BodyWriter) async throws -> Void)
    }

    /// The status; that of a file with a range becomes 206, 304, 412 or 416 by itself.
    package var status: Int
    /// The header fields; `Content-Length`, `Date` and what belongs to ranges come by themselves.
    package var headers: HeaderFields
    /// What follows.
    package var body: Body

    /// An answer.
    package init(status: Int = 200, headers: HeaderFields = [:], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Bytes of a type.
    package static func bytes(
        _ bytes: [UInt8],
        type: String,
        status: Int = 200,
        headers: HeaderFields = [:]
    ) -> Response {
        var response = Response(status: status, headers: headers, body: .bytes(bytes))
        response.headers["Content-Type"] = type
        return response
    }

    /// Plain text.
    package static func text(_ text: String, status: Int = 200, headers: HeaderFields = [:]) -> Response {
        bytes([UInt8](text.utf8), type: "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// A file of a type, with ranges.
    package static func file(_ file: FileBody, type: String, headers: HeaderFields = [:]) -> Response {
        var response = Response(headers: headers, body: .file(file))
        response.headers["Content-Type"] = type
        return response
    }

    /// The pieces of a sequence, each sent as it comes.
    package static func stream<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces,
        type: String,
        headers: HeaderFields = [:]
    ) -> Response where Pieces.Element == [UInt8] {
        var response = Response(
            headers: headers,
            body: .stream { writer in for try await piece in pieces { try await writer.write(piece) } }
        )
        response.headers["Content-Type"] = type
        return response
    }
}

/// A file as a body.
package struct FileBody: Sendable {
    /// The open file.
    package let source: FileSource
    /// What names this very content: without quotes, for a strong `ETag`.
    package let tag: String
    /// Told each time that more of the file was handed to the network: which bytes of it. Called on the threads that
    /// send, so it must not block.
    package let sent: (@Sendable (Range<Int>) -> Void)?

    /// A file, named by `tag`, or by what the system knows of it.
    package init(_ source: FileSource, tag: String? = nil, sent: (@Sendable (Range<Int>) -> Void)? = nil) {
        self.source = source
        self.tag = tag ?? source.contentTag
        self.sent = sent
    }
}

/// Takes what is to be sent in a stream.
package struct BodyWriter: Sendable {
    let exchange: Exchange

    /// Sends some bytes; waits while the client has `ServerLimits.streamBuffer` bytes still to read.
    ///
    /// Throws `CancellationError` once the client is gone, or the server stops.
    package func write(_ bytes: [UInt8]) async throws {
        try await exchange.write(bytes)
    }
}
