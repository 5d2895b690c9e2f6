#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#else
package import Darwin
#endif

/// Runs `body` on a new thread, for work that blocks: it must not take one of the few that Swift's tasks share.
///
/// The thread gets no signals: OpenSSL writes to sockets without `MSG_NOSIGNAL`, and a SIGPIPE would end the process.
/// Whoever calls joins or detaches it. `nil` where none can be had; then `body` does not run.
package func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
    final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }
    let context = Unmanaged.passRetained(Work(body)).toOpaque()
    var thread = pthread_t()
    let failure = pthread_create(
        &thread,
        nil,
        { context in
            guard let context else { return nil }
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_BLOCK, &all, nil)
            Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
            return nil
        },
        context
    )
    guard failure == 0 else {
        Unmanaged<Work>.fromOpaque(context).release()
        return nil
    }
    return thread
}

/// Does `work` on a new thread, and waits for it without taking one of the few that Swift's tasks share.
///
/// Throws what it throws; `failure` where no thread can be had.
package func onOwnThread<Value: Sendable>(
    orElse failure: @autoclosure () -> any Error,
    _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        if let thread = startThread({ continuation.resume(with: Result { try work() }) }) {
            pthread_detach(thread)
        } else {
            continuation.resume(throwing: failure())
        }
    }
}
