/// Sends pushes to APNs over one connection, as many at once as the service allows.
///
/// A push is sent anew, with the same id, after everything that can pass: a connection that broke or went silent, a
/// GOAWAY that left it out, a refused stream, a busy service. It ends with the service's answer, or with an error within
/// ``APNsConfiguration/requestTimeout``. A push with a replacement key takes the place of an older one with the same key
/// that has not been written yet.
///
/// One thread owns the connection; callers hand pushes to it and wait for the answer.
public final class APNsClient: Sendable {
    private let loop: PushLoop

    /// Reads the trusted certificates and starts the thread; the connection is made for the first push.
    public init(_ configuration: APNsConfiguration, key: ProviderKey) throws(APNsError) {
        loop = try PushLoop(configuration, key: key)
    }

    deinit {
        loop.send(.close)
    }

    /// Sends a push and waits for the answer; a refusal is an answer too.
    ///
    /// Cancelling the task ends the wait with ``APNsError/Code/cancelled``; the push may have been sent by then.
    public func send(_ request: PushRequest) async throws(APNsError) -> PushResponse {
        let ticket = PushTicket(request)
        let loop = loop
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if let error = loop.send(ticket, continuation) {
                    continuation.resume(returning: .failure(error))
                }
            }
        } onCancel: {
            loop.cancel(ticket)
        }
        return try result.get()
    }

    /// Sends many pushes, so many at once, and waits until all have ended; cheaper than a task for each.
    ///
    /// `next` gives the next push, `nil` at the end; `each` is given the number of a push, from 0, and how it ended. Both are
    /// called on the client's thread, one at a time, and must not block.
    package func sendAll(
        inFlight: Int,
        next: @escaping @Sendable () -> PushRequest?,
        each: @escaping @Sendable (Int, Result<PushResponse, APNsError>) -> Void
    ) async {
        let loop = loop
        await withCheckedContinuation { continuation in
            PushRun(inFlight: inFlight, next: next, each: each) { continuation.resume() }.start(loop)
        }
    }

    /// What the client has done so far.
    public var diagnostics: APNsDiagnostics {
        get async { await loop.diagnostics() }
    }

    /// Ends every push with ``APNsError/Code/closed`` and stops the thread; returns when that has happened.
    public func close() async {
        await loop.close()
    }
}
