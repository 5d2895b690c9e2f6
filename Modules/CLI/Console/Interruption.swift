import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Ctrl-C, and what `kill` sends: the first asks the work to end, the second ends the process.
///
/// The handler only writes to a pipe. It is reset in programs that we start, unlike a blocked or ignored signal.
enum Interruption {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    /// The read end and the write end.
    private static let pipeEnds: (Int32, Int32) = {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return (-1, -1) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        return (ends[0], ends[1])
    }()

    /// Calls `action` at the first signal.
    ///
    /// The source that is returned must be kept as long as signals are to be caught.
    static func onFirst(_ action: @escaping @Sendable () -> Void) -> any DispatchSourceRead {
        let (readEnd, _) = pipeEnds
        let source = DispatchSource.makeReadSource(fileDescriptor: readEnd, queue: .global())
        source.setEventHandler {
            var byte: UInt8 = 0
            guard read(readEnd, &byte, 1) == 1 else { return }
            for number in signals {
                signal(number, SIG_DFL)
            }
            action()
        }
        source.activate()
        for number in signals {
            signal(number) { _ in
                let number = errno
                var byte: UInt8 = 1
                _ = write(Interruption.pipeEnds.1, &byte, 1)
                errno = number
            }
        }
        return source
    }
}
