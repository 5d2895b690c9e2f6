import Dispatch
import FerryBytes
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Asks for a password on a terminal, without showing it; or for something else.
struct PasswordPrompt: Sendable {
    /// The longest answer, which is also the longest line that Linux terminals hold.
    static let longestAnswerBytes = 4096
    /// How long a cancelled task may go unnoticed.
    private static let wakeMilliseconds: Int32 = 50

    /// The terminal: `/dev/tty`.
    var terminal = "/dev/tty"
    /// Whether what is typed is not shown.
    var isHidden = true

    /// The answer; `nil` where there is no terminal.
    ///
    /// Throws `CancellationError` where the task is cancelled meanwhile (ctrl-C does that) or the input ends. The terminal
    /// shows what is typed again afterwards, in each case. Waits on a thread that is no task's.
    func ask(_ question: String) async throws -> Secret? {
        let cancelled = Flag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(with: Result { try answer(to: question, unless: cancelled) })
                }
            }
        } onCancel: {
            cancelled.isSet.store(true, ordering: .relaxed)
        }
    }

    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    private func answer(to question: String, unless cancelled: Flag) throws -> Secret? {
        let descriptor = open(terminal, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else { return nil }
        var silent = before
        if isHidden { silent.c_lflag &= ~tcflag_t(ECHO | ECHONL) }
        tcsetattr(descriptor, TCSAFLUSH, &silent)
        defer {
            tcsetattr(descriptor, TCSAFLUSH, &before)
            // The return key was not shown either.
            if isHidden { show("\n", on: descriptor) }
        }
        show(question, on: descriptor)
        return try readLine(from: descriptor, unless: cancelled)
    }

    private func readLine(from descriptor: Int32, unless cancelled: Flag) throws -> Secret {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count <= Self.longestAnswerBytes {
            if cancelled.isSet.load(ordering: .relaxed) { throw CancellationError() }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, Self.wakeMilliseconds) > 0 else { continue }
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { throw CancellationError() }
            if byte == UInt8(ascii: "\n") {
                return Secret(String(decoding: line, as: UTF8.self))
            }
            line.append(byte)
        }
        throw PasswordError(
            code: .tooLong,
            message: "The password has more than \(Self.longestAnswerBytes) bytes.",
            remedy: "Give it with --password-file FILE."
        )
    }

    private func show(_ text: String, on descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }
}
