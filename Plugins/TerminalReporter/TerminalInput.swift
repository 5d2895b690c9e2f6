import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where keys come from.
///
/// They are asked for before every frame, so that no thread has to wait for them.
public struct TerminalInput: Sendable {
    let begin: @Sendable () -> Void
    let read: @Sendable () -> [UInt8]
    let end: @Sendable () -> Void

    /// An input of one's own: `read` gives what was typed since the last time and never waits; `begin` and `end` are
    /// called once each around it.
    public init(
        begin: @escaping @Sendable () -> Void = {},
        read: @escaping @Sendable () -> [UInt8],
        end: @escaping @Sendable () -> Void = {}
    ) {
        self.begin = begin
        self.read = read
        self.end = end
    }

    /// The keys of a terminal, usually 0 for standard input; `nil` if it is none.
    ///
    /// While keys are read, typed letters are neither shown nor held back until the end of a line. Signals (ctrl-C,
    /// ctrl-Z) work as before. In the background nothing is touched, for that would stop the process.
    public static func descriptor(_ descriptor: Int32) -> TerminalInput? {
        guard isatty(descriptor) == 1 else { return nil }
        let keyboard = Keyboard(descriptor)
        return TerminalInput(begin: keyboard.begin, read: keyboard.read, end: keyboard.end)
    }
}

/// The mode of a terminal's keyboard, and what is typed.
private final class Keyboard: Sendable {
    private struct State {
        /// The mode before we came; `nil` while it is untouched.
        var before: termios?
        var isOpen = false
    }

    private let descriptor: Int32
    private let state = Mutex(State())

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    private var isInForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

    func begin() {
        state.withLock { state in
            state.isOpen = true
            takeOver(&state)
        }
    }

    func read() -> [UInt8] {
        state.withLock { state in
            guard state.isOpen, isInForeground else { return [] }
            // A shell that had the terminal in between (ctrl-Z, fg) may have set its own mode.
            takeOver(&state)
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 0) == 1, waiting.revents & Int16(POLLIN) != 0 else { return [] }
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = systemRead(descriptor, &bytes, bytes.count)
            return count > 0 ? Array(bytes.prefix(count)) : []
        }
    }

    func end() {
        state.withLock { state in
            state.isOpen = false
            guard var mode = state.before, isInForeground else { return }
            _ = tcsetattr(descriptor, TCSANOW, &mode)
            state.before = nil
        }
    }

    private func takeOver(_ state: inout State) {
        var mode = termios()
        guard isInForeground, tcgetattr(descriptor, &mode) == 0 else { return }
        if state.before == nil { state.before = mode }
        guard mode.c_lflag & tcflag_t(ICANON | ECHO) != 0 else { return }
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
        _ = tcsetattr(descriptor, TCSANOW, &mode)
    }
}

private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}
