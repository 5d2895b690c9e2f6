#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A write to the terminal that failed.
public struct TerminalFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The system's error number.
    public let errorNumber: Int32

    /// The system's words for it.
    public var description: String { "cannot write to the terminal: " + String(cString: strerror(errorNumber)) }
}

/// Where lines go.
public struct TerminalOutput: Sendable {
    /// The size of a terminal in letters.
    public struct Size: Sendable, Hashable {
        /// How many letters a line has.
        public var columns: Int
        /// How many lines there are.
        public var rows: Int

        /// A size.
        public init(columns: Int, rows: Int) {
            self.columns = columns
            self.rows = rows
        }
    }

    let write: @Sendable (String) throws -> Void
    let size: @Sendable () -> Size?

    /// An output of one's own; `size` is asked before every frame and is `nil` for what is no terminal.
    public init(write: @escaping @Sendable (String) throws -> Void, size: @escaping @Sendable () -> Size?) {
        self.write = write
        self.size = size
    }

    /// An open file: 1 for standard output, 2 for standard error. The caller keeps it open.
    public static func descriptor(_ descriptor: Int32) -> TerminalOutput {
        TerminalOutput(
            write: { text in
                var text = text
                try text.withUTF8 { try write(UnsafeRawBufferPointer($0), to: descriptor) }
            },
            size: {
                guard isatty(descriptor) == 1 else { return nil }
                var size = winsize()
                guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
                    return Size(columns: 80, rows: 24)
                }
                return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
            }
        )
    }

    /// Whether it is a terminal.
    public var isTerminal: Bool { size() != nil }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest)
            let count = quietWrite(descriptor, piece.baseAddress, piece.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Somebody made the terminal non-blocking: wait until it takes more.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, 1_000)
            } else if errno != EINTR {
                throw TerminalFailure(errorNumber: errno)
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
