import CMicroHTTPD
import FerryBytes
import Synchronization

/// One request and its answer, from the head of the one to the last byte of the other.
///
/// The library's thread and the handler's task meet here, under one lock. While the task has the turn, the connection is
/// suspended: it takes no thread, and nothing is read from it.
final class Exchange: Sendable {
    enum Phase {
        /// The head is there, and no body comes.
        case fresh
        /// The body comes, and a handler may read it.
        case receiving
        /// The body comes, and nobody wants it.
        case discarding
        /// The answer is with the library.
        case answered
    }

    struct State {
        var phase = Phase.fresh
        var method = ""
        /// Whether the library waits for ``Exchange/resume(_:)``.
        var isSuspended = false
        /// Whether nothing can be answered any more.
        var isGone = false
        /// What will be answered, once it can be.
        var answer: Response?
        /// The handler's task, later the stream's.
        var task: Task<Void, Never>?
        var upload = Upload()
        var outflow = Outflow()
        var file: FileReader?
    }

    let core: ServerCore
    let connection: Connection
    let number: UInt64
    let state = Guarded(State())
    /// The library's connection, which it keeps for as long as this exchange lasts.
    private let handle: UInt

    init(_ core: ServerCore, _ handle: OpaquePointer, _ connection: Connection) {
        self.core = core
        self.connection = connection
        self.handle = UInt(bitPattern: handle)
        number = core.nextNumber()
        connection.waitsSince.store(0, ordering: .relaxed)
        core.began()
    }

    var pointer: OpaquePointer? { OpaquePointer(bitPattern: handle) }

    // MARK: The library's side

    /// The library has read the head; to answer now is to close the connection, so that only happens where a body would
    /// come that nobody wants.
    func headIsThere(_ path: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>) -> MHD_Result {
        let length: Int?
        switch RequestHead.bodyLength(pointer) {
        case .none: return .YES
        case .bytes(let count): length = count
        case .unknown: length = nil
        case .malformed(let what):
            // Where the request ends is anybody's guess, so the connection ends.
            return queue(core.refuse(.malformed(what)))
        }
        switch ask(path, method, expectedLength: length) {
        case .now(let response):
            return answer(response, unread: length)
        case .later(let wanted, let work):
            let limit = wanted ?? core.limits.bodyBytes
            if let length, length > limit {
                return answer(core.refuse(.tooLarge(limit: limit)), unread: length)
            }
            state.withLock { state in
                state.phase = .receiving
                state.upload.limit = limit
            }
            start(work)
            return .YES
        }
    }

    /// Takes in some of the body, and says how much; what is left comes again.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        let (taken, reader) = state.withLock { state -> (Int, Upload.Reader?) in
            if state.isGone { return (bytes.count, nil) }
            if state.phase == .receiving {
                if state.upload.waiting.count >= core.limits.bodyBuffer {
                    if !suspend(&state) { state.isGone = true }
                    return (0, nil)
                }
                if !state.upload.receive(bytes) {
                    state.answer = core.refuse(.tooLarge(limit: state.upload.limit))
                    state.phase = .discarding
                }
                defer { state.upload.reader = nil }
                return (bytes.count, state.upload.reader)
            }
            if !state.upload.discard(bytes.count, limit: core.limits.discardedBytes) { state.isGone = true }
            return (bytes.count, nil)
        }
        if let reader { pass(to: reader) }
        return taken
    }

    /// Whether there is anything to go on for; otherwise the connection is closed.
    var goesOn: MHD_Result { state.withLock { $0.isGone } ? .NO : .YES }

    /// The whole request is there, or we asked to be called again: answers where an answer is there, else waits for it.
    func bodyIsOver(_ path: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>) -> MHD_Result {
        let (isFresh, reader) = state.withLock { state -> (Bool, Upload.Reader?) in
            state.upload.end()
            connection.isReading.store(false, ordering: .relaxed)
            defer {
                state.upload.reader = nil
                if state.phase == .fresh { state.phase = .discarding }
            }
            return (state.phase == .fresh, state.upload.reader)
        }
        if let reader { pass(to: reader) }
        if isFresh {
            switch ask(path, method, expectedLength: 0) {
            case .now(let response): return queue(response)
            case .later(_, let work): start(work)
            }
        }
        let (response, goesOn) = state.withLock { state -> (Response?, Bool) in
            if state.isGone { return (nil, false) }
            if let answer = state.answer { return (answer, true) }
            return (nil, suspend(&state))
        }
        guard let response else { return goesOn ? .YES : .NO }
        return queue(response)
    }

    /// The library has sent the answer, or will not any more.
    func completed(isWhole: Bool) {
        let file = state.withLock { state -> FileReader? in
            defer { state.file = nil }
            return state.file
        }
        if isWhole { file?.isSent() }
        clientWent()
        connection.waitsSince.store(Connection.now, ordering: .relaxed)
        connection.isReading.store(true, ordering: .relaxed)
        core.ended()
    }

    // MARK: Both sides

    /// Ends everything that works on this exchange: the client is gone, or the answer is sent.
    func clientWent() {
        let (task, reader, writer, resumes) = state.withLock { state in
            state.isGone = true
            state.upload.fail(.gone)
            defer {
                state.task = nil
                state.upload.reader = nil
                state.outflow.writer = nil
            }
            return (state.task, state.upload.reader, state.outflow.writer, resume(&state))
        }
        task?.cancel()
        reader?.resume(throwing: BodyError.gone)
        writer?.resume(throwing: CancellationError())
        if resumes { resumeConnection() }
    }

    /// Suspends the connection until ``resume(_:)``; `false` where nothing may wait any more.
    func suspend(_ state: inout State) -> Bool {
        guard core.watcher.watch(self) else { return false }
        state.isSuspended = true
        MHD_suspend_connection(pointer)
        return true
    }

    /// Whether the connection is to be resumed, by ``resumeConnection()``, without the lock.
    func resume(_ state: inout State) -> Bool {
        guard state.isSuspended else { return false }
        state.isSuspended = false
        core.watcher.forget(self)
        return true
    }

    func resumeConnection() {
        MHD_resume_connection(pointer)
    }

    // MARK: The handler's side

    private func ask(
        _ path: UnsafePointer<CChar>,
        _ method: UnsafePointer<CChar>,
        expectedLength: Int?
    ) -> Answer {
        if core.isStopping { return .now(core.refuse(.stopping)) }
        let method = String(cString: method)
        state.withLock { $0.method = method }
        do throws(PathProblem) {
            return core.handler(
                Request(
                    method: method,
                    path: try RequestPath(String(cString: path)),
                    query: try RequestHead.query(pointer),
                    headers: try RequestHead.fields(pointer),
                    remoteAddress: connection.address,
                    isSecure: core.isSecure,
                    body: RequestBody(exchange: expectedLength == 0 ? nil : self, expectedLength: expectedLength)
                )
            )
        } catch {
            return .now(core.refuse(.malformed(error.text)))
        }
    }

    /// Answers a request whose body nobody wants.
    ///
    /// A client that waits for a word before it sends, or would send very much, gets its answer and the end of the
    /// connection; of every other the body is read first, because many look at no answer before.
    private func answer(_ response: Response, unread length: Int?) -> MHD_Result {
        if RequestHead.expectsContinue(pointer) || length.map({ $0 > core.limits.discardedBytes }) ?? false {
            return queue(response)
        }
        state.withLock { state in
            state.answer = response
            state.phase = .discarding
        }
        return .YES
    }

    private func start(_ work: @escaping @Sendable () async -> Response) {
        // Owned by the state, which cancels it when the client goes.
        let task = Task { [self] in
            let response = await work()
            let resumes = state.withLock { state in
                if state.answer == nil { state.answer = response }
                if state.phase == .receiving { state.phase = .discarding }
                return resume(&state)
            }
            if resumes { resumeConnection() }
        }
        let isGone = state.withLock { state in
            if !state.isGone { state.task = task }
            return state.isGone
        }
        if isGone { task.cancel() }
    }

    /// Hands the answer to the library.
    private func queue(_ response: Response) -> MHD_Result {
        let method = state.withLock { state in
            state.phase = .answered
            state.task = nil
            return state.method
        }
        guard let (status, made) = LibraryResponse.make(response, method: method, self) else { return .NO }
        let result = MHD_queue_response(pointer, UInt32(status), made)
        MHD_destroy_response(made)
        return result
    }
}
