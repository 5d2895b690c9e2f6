import FerryBytes
import Foundation

/// A real HTTP/1.1 server on a free port of loopback, which answers as a test says, and with the faults that it says.
///
/// One thread a connection; it stops when the last reference goes.
public final class HTTPServer: Sendable {
    /// A request that came.
    public struct Request: Sendable {
        /// Which request of this server it is, from 0.
        public let number: Int
        /// `GET`, `HEAD`, …
        public let method: String
        /// The path and what follows it.
        public let path: String
        /// The header fields, by their lower-case names.
        public let headers: [String: String]
        /// What came after the head; as long as `Content-Length` says.
        public let body: [UInt8]

        /// The first byte of `Range: bytes=N-`; `nil` where none is asked for.
        public var firstByte: Int? {
            headers["range"].flatMap { Int($0.dropFirst("bytes=".count).prefix { $0 != "-" }) }
        }

        /// The last byte of `Range: bytes=N-M`; `nil` where none is named.
        public var lastByte: Int? {
            guard let range = headers["range"], let dash = range.lastIndex(of: "-") else { return nil }
            return Int(range[range.index(after: dash)...])
        }
    }

    /// What is answered, and what goes wrong with it.
    public struct Response: Sendable {
        /// The status code.
        public var status: Int
        /// The header fields besides `Content-Length` and `Connection`.
        public var headers: [(name: String, value: String)]
        /// The body.
        public var body: [UInt8]
        /// Says another `Content-Length` than the body has.
        public var claimedLength: Int?
        /// Sends the body in chunks, without a length.
        public var isChunked = false
        /// Breaks the connection after so many bytes of the body.
        public var cutAfter: Int?
        /// After so many bytes of the body, waits for what ``waiting`` does, then goes on.
        public var pauseAfter: Int?
        /// What a pause waits for; `nil` is for ever: until the client or the server closes the connection.
        public var waiting: (@Sendable () -> Void)?
        /// Called once nothing more is sent of it.
        public var ended: (@Sendable () -> Void)?

        /// Answers with these.
        public init(_ status: Int, _ headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
            self.status = status
            self.headers = headers
            self.body = body
        }

        /// The same answer, changed.
        public func with(_ change: (inout Response) -> Void) -> Response {
            var copy = self
            change(&copy)
            return copy
        }
    }

    /// A request and what was sent for it.
    public struct Exchange: Sendable {
        /// What was asked.
        public let request: Request
        /// The answer's status.
        public let status: Int
        /// How many bytes of the body the system took for sending.
        public var sentBytes: Int
        /// Whether nothing more will be sent.
        public var isOver: Bool
    }

    private let core: Core

    /// Starts it; `answer` is called for each request, on any thread.
    public init(_ answer: @escaping @Sendable (Request) -> Response) throws {
        let core = try Core(answer)
        self.core = core
        Thread.detachNewThread { core.run() }
    }

    deinit {
        core.stop()
    }

    /// Its port.
    public var port: Int { core.port }

    /// The URL of a path.
    public func url(_ path: String = "/file") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// What was asked and answered so far, in order.
    public var exchanges: [Exchange] { core.state.withLock { $0.exchanges } }

    /// Ends every connection and takes no more.
    public func stop() {
        core.stop()
    }
}

/// What the threads of a server share; they keep it alive, not the server.
private final class Core: Sendable {
    typealias Request = HTTPServer.Request
    typealias Response = HTTPServer.Response

    struct State {
        var exchanges: [HTTPServer.Exchange] = []
        var open: [ObjectIdentifier: Socket] = [:]
        var isStopped = false
    }

    let port: Int
    let state = Guarded(State())
    private let listener: Socket
    private let answer: @Sendable (Request) -> Response

    init(_ answer: @escaping @Sendable (Request) -> Response) throws {
        (listener, port) = try Socket.listen()
        self.answer = answer
    }

    func stop() {
        listener.shutDown()
        let open = state.withLock { state in
            state.isStopped = true
            return state.open.values.map { $0 }
        }
        for socket in open { socket.shutDown() }
    }

    func run() {
        while let socket = listener.accept() {
            let isStopped = state.withLock { state in
                state.open[ObjectIdentifier(socket)] = socket
                return state.isStopped
            }
            if isStopped { break }
            Thread.detachNewThread {
                self.serve(socket)
                socket.shutDown()
                self.state.withLock { $0.open[ObjectIdentifier(socket)] = nil }
            }
        }
    }

    private func serve(_ socket: Socket) {
        var input: [UInt8] = []
        while let head = Self.head(from: socket, &input) {
            let length = Request(number: 0, head, []).headers["content-length"].flatMap { Int($0) } ?? 0
            while input.count < length {
                let bytes = socket.read()
                guard !bytes.isEmpty else { return }
                input += bytes
            }
            let body = Array(input.prefix(length))
            input.removeFirst(length)
            let request = state.withLock { state in
                let request = Request(number: state.exchanges.count, head, body)
                state.exchanges.append(HTTPServer.Exchange(request: request, status: 0, sentBytes: 0, isOver: false))
                return request
            }
            let response = answer(request)
            state.withLock { state in
                state.exchanges[request.number] =
                    HTTPServer.Exchange(request: request, status: response.status, sentBytes: 0, isOver: false)
            }
            let goesOn = send(response, to: request, socket)
            state.withLock { $0.exchanges[request.number].isOver = true }
            response.ended?()
            guard goesOn else { return }
        }
    }

    /// Sends an answer; `false` when the connection is to end.
    private func send(_ response: Response, to request: Request, _ socket: Socket) -> Bool {
        var head = "HTTP/1.1 \(response.status) Status\r\n"
        for (name, value) in response.headers { head += "\(name): \(value)\r\n" }
        if response.isChunked {
            head += "Transfer-Encoding: chunked\r\n"
        } else {
            head += "Content-Length: \(response.claimedLength ?? response.body.count)\r\n"
        }
        _ = socket.write(Array((head + "\r\n").utf8)[...])
        guard request.method != "HEAD" else { return true }
        var rest = response.body[...]
        let stops = [response.cutAfter, response.pauseAfter].compactMap { $0 }.filter { $0 <= rest.count }.sorted()
        for stop in stops {
            guard transmit(rest[..<stop].dropFirst(rest.startIndex), response, request, socket) else { return false }
            rest = rest[stop...]
            if stop == response.cutAfter { return false }
            if let waiting = response.waiting {
                waiting()
            } else {
                // The client says nothing more, so this ends when the connection does.
                while !socket.read().isEmpty {}
                return false
            }
        }
        guard transmit(rest, response, request, socket) else { return false }
        if response.isChunked { _ = socket.write(Array("0\r\n\r\n".utf8)[...]) }
        return response.claimedLength ?? response.body.count == response.body.count
    }

    private func transmit(
        _ bytes: ArraySlice<UInt8>,
        _ response: Response,
        _ request: Request,
        _ socket: Socket
    ) -> Bool {
        guard !bytes.isEmpty else { return true }
        if response.isChunked { _ = socket.write(Array((String(bytes.count, radix: 16) + "\r\n").utf8)[...]) }
        let sent = socket.write(bytes)
        if response.isChunked { _ = socket.write(Array("\r\n".utf8)[...]) }
        state.withLock { $0.exchanges[request.number].sentBytes += sent }
        return sent == bytes.count
    }

    private static func head(from socket: Socket, _ input: inout [UInt8]) -> String? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let range = input.firstRange(of: end) {
                let head = String(decoding: input[..<range.lowerBound], as: UTF8.self)
                input.removeSubrange(..<range.upperBound)
                return head
            }
            let bytes = socket.read()
            guard !bytes.isEmpty else { return nil }
            input += bytes
        }
    }
}

extension HTTPServer.Request {
    fileprivate init(number: Int, _ head: String, _ body: [UInt8]) {
        let lines = head.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        self.number = number
        method = words.first.map(String.init) ?? ""
        path = words.dropFirst().first.map(String.init) ?? ""
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] =
                line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        self.headers = headers
        self.body = body
    }
}
