import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Work that blocks, on a thread of its own that nobody waits for.
enum BackgroundThread {
    /// Runs `body` on a new thread; where none can be had, here.
    static func run(_ body: @escaping @Sendable () -> Void) {
        if let thread = startThread(body) {
            pthread_detach(thread)
        } else {
            body()
        }
    }
}
