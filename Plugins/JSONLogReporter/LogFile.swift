#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A log that cannot be opened or written.
public struct LogFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was tried: `open` or `write`.
    public let action: String
    /// The file, or `file descriptor 1`.
    public let path: String
    /// The system's error number.
    public let errorNumber: Int32

    /// The file, what was tried, and the system's words for why not.
    public var description: String { "\(path): cannot \(action): \(String(cString: strerror(errorNumber)))." }
}

/// An open file that lines are added to.
final class LogFile: Sendable {
    private let descriptor: Int32
    private let path: String
    private let isOurs: Bool

    init(path: String) throws(LogFailure) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        self.path = path
        isOurs = true
        guard descriptor >= 0 else { throw LogFailure(action: "open", path: path, errorNumber: errno) }
    }

    init(descriptor: Int32) {
        self.descriptor = descriptor
        path = "file descriptor \(descriptor)"
        isOurs = false
    }

    deinit {
        if isOurs, descriptor >= 0 { close(descriptor) }
    }

    /// Writes a line in one call. Only what a pipe or a full disk did not take of it is written in another.
    func write(_ line: String) throws(LogFailure) {
        var bytes = Array(line.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { quietWrite(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                bytes = bytes.dropFirst(count)
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, 1_000)
            } else if errno != EINTR {
                throw LogFailure(action: "write", path: path, errorNumber: errno)
            }
        }
    }
}

/// Writes once. A pipe that nobody reads any more is an error and not, as by default, the end of the process: the signal
/// is held back on this thread and taken away.
private func quietWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    var brokenPipe = sigset_t()
    var before = sigset_t()
    var pending = sigset_t()
    sigemptyset(&brokenPipe)
    sigaddset(&brokenPipe, SIGPIPE)
    sigpending(&pending)
    let wasPending = sigismember(&pending, SIGPIPE) == 1
    pthread_sigmask(SIG_BLOCK, &brokenPipe, &before)
    let written = write(descriptor, bytes, count)
    let failure = errno
    if written < 0, failure == EPIPE, !wasPending {
        sigpending(&pending)
        var taken: Int32 = 0
        if sigismember(&pending, SIGPIPE) == 1 { sigwait(&brokenPipe, &taken) }
    }
    pthread_sigmask(SIG_SETMASK, &before, nil)
    errno = failure
    return written
}
