import FerryBytes
import FerryCodeSignature

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A small HTTP/1.1 server on a free port of 127.0.0.1 that gives out one file, no faster than it is told to.
///
/// It knows `GET`, `HEAD`, one range at a time and `If-Range` (RFC 9110 §13 and §14); each connection is for one request.
/// It works on threads of its own and stops when the last reference goes.
final class SlowServer: Sendable {
    /// How many connections are served at once; more of them wait in the system's queue.
    static let connectionLimit = 8

    /// The address of the file.
    let url: String
    private let service: Service
    private let stopping: Descriptor
    private let threads: Guarded<[pthread_t]>

    /// Begins to serve `bytes` under `name`.
    ///
    /// - Parameter bytesPerSecond: how fast each connection may be, at least 1; `nil` is as fast as can be.
    init(bytes: [UInt8], name: String, bytesPerSecond: Int?) throws(FileFailure) {
        let (listener, port) = try Descriptor.listener()
        let (stopped, stopping) = try Descriptor.pair()
        let path = "/" + percentEncoded(name)
        let service = Service(
            file: ServedBytes(bytes: bytes, path: path),
            slices: bytesPerSecond.map(PacedSlices.init),
            listener: listener,
            stopped: stopped
        )
        url = "http://127.0.0.1:\(port)\(path)"
        self.service = service
        self.stopping = stopping
        threads = Guarded([])
        for _ in 0..<Self.connectionLimit {
            guard let thread = startThread({ service.run() }) else { continue }
            threads.withLock { $0.append(thread) }
        }
        guard threads.withLock({ !$0.isEmpty }) else {
            throw FileFailure("start a thread for", url, errorNumber: EAGAIN)
        }
    }

    deinit {
        stop()
    }

    /// Ends every connection, takes no more, and returns when all threads have ended.
    func stop() {
        stopping.finishWriting()
        let running = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in running { pthread_join(thread, nil) }
        // Not while a thread may still wait for it: the system gives its number to the next that is opened.
        if !running.isEmpty { service.listener.close() }
    }
}

/// How a body is cut up so that a display sees it grow smoothly.
struct PacedSlices: Sendable {
    /// How many slices there are in a second, where the rate allows it.
    static let perSecond = 50
    /// How late a slice may be without the next ones waiting longer for it.
    static let patience: Duration = .milliseconds(100)

    /// How many bytes are sent at once.
    let count: Int
    /// How long each slice takes.
    let duration: Duration

    init(bytesPerSecond: Int) {
        let rate = max(1, bytesPerSecond)
        count = max(1, rate / Self.perSecond)
        duration = .seconds(Double(count) / Double(rate))
    }
}

/// What the threads of a server share; they keep it alive, not the server.
private final class Service: Sendable {
    /// How long a request's head may take to come, and the end of a connection after the answer.
    static let requestPatience: Duration = .seconds(10)
    static let closingPatience: Duration = .seconds(1)

    let file: ServedBytes
    let slices: PacedSlices?
    let listener: Descriptor
    /// Readable, for ever and for all, once the server is to stop.
    let stopped: Descriptor

    init(file: ServedBytes, slices: PacedSlices?, listener: Descriptor, stopped: Descriptor) {
        self.file = file
        self.slices = slices
        self.listener = listener
        self.stopped = stopped
    }

    /// Serves one connection after the other, until the server stops.
    func run() {
        while wait(for: listener, Int16(POLLIN), until: nil) == .ready {
            // Another thread may have taken it: the listener does not block.
            guard let connection = listener.accept() else { continue }
            serve(connection)
            connection.close()
        }
    }

    private func serve(_ connection: Descriptor) {
        connection.sendWithoutDelay()
        guard let head = head(from: connection) else { return }
        let answer = file.answer(to: head)
        guard send(Array(answer.head.utf8)[...], to: connection), sendPaced(answer.body, to: connection) else { return }
        // A connection that is closed while there is something to read is reset, and the answer may be lost with it.
        connection.finishWriting()
        let deadline = ContinuousClock.now + Self.closingPatience
        while wait(for: connection, Int16(POLLIN), until: deadline) == .ready, connection.read() != [] {}
    }

    private func head(from connection: Descriptor) -> RequestHead? {
        var input: [UInt8] = []
        let deadline = ContinuousClock.now + Self.requestPatience
        while input.count <= RequestHead.limit {
            guard wait(for: connection, Int16(POLLIN), until: deadline) == .ready else { return nil }
            guard let bytes = connection.read() else { continue }
            if bytes.isEmpty { return nil }
            input += bytes
            if let end = input.firstRange(of: RequestHead.end) { return RequestHead(input[..<end.lowerBound]) }
        }
        return RequestHead([])
    }

    private func sendPaced(_ body: Range<Int>, to connection: Descriptor) -> Bool {
        guard let slices else { return send(file.bytes[body], to: connection) }
        var next = ContinuousClock.now
        var rest = body
        while !rest.isEmpty {
            // Waiting comes first, so that no byte is there sooner than the rate allows; who was slow does not catch up.
            next = max(next + slices.duration, ContinuousClock.now - PacedSlices.patience)
            guard wait(for: connection, 0, until: next) == .late else { return false }
            let end = rest.lowerBound + min(slices.count, rest.count)
            guard send(file.bytes[rest.lowerBound..<end], to: connection) else { return false }
            rest = end..<rest.upperBound
        }
        return true
    }

    /// Sends all; `false` where the other side went or the server stops.
    private func send(_ bytes: ArraySlice<UInt8>, to connection: Descriptor) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            guard wait(for: connection, Int16(POLLOUT), until: nil) == .ready, let count = connection.write(rest) else {
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private enum Wait { case ready, late, over }

    /// Waits until something can be done with `descriptor` (or it broke), the time is there, or the server stops.
    private func wait(
        for descriptor: Descriptor,
        _ events: Int16,
        until deadline: ContinuousClock.Instant?
    ) -> Wait {
        while true {
            var polls = [
                pollfd(fd: descriptor.number, events: events, revents: 0),
                pollfd(fd: stopped.number, events: Int16(POLLIN), revents: 0),
            ]
            let left = deadline.map { max(.zero, $0 - ContinuousClock.now) }
            // Rounded up: a time that is nearly there must not be polled for.
            let milliseconds = left.map { Int32(clamping: Int(($0 / .milliseconds(1)).rounded(.up))) } ?? -1
            let count = poll(&polls, 2, milliseconds)
            if polls[1].revents != 0 || count < 0 && errno != EINTR { return .over }
            if count > 0, polls[0].revents != 0 { return .ready }
            if let deadline, ContinuousClock.now >= deadline { return .late }
        }
    }
}
