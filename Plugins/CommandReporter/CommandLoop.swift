import FerryActivity
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Writes to a program and hears it, on a thread of its own, from its start to its end.
final class CommandLoop: Sendable {
    /// What is wanted of the program.
    enum Wish: Int, Comparable {
        case run, finish, stop

        static func < (left: Wish, right: Wish) -> Bool { left.rawValue < right.rawValue }
    }

    private struct State: Sendable {
        var feed: LineFeed
        var wish = Wish.run
        /// Whether the thread is gone; then the bell must not be rung any more.
        var isOver = false
    }

    private let name: String
    private let path: String
    private let words: [String]
    private let limits: CommandLimits
    private let say: @Sendable (String) -> Void
    private let state: Guarded<State>
    private let bell = Bell()

    init(
        name: String,
        path: String,
        words: [String],
        limits: CommandLimits,
        say: @escaping @Sendable (String) -> Void
    ) {
        self.name = name
        self.path = path
        self.words = words
        self.limits = limits
        self.say = say
        state = Guarded(State(feed: LineFeed(limits)))
    }

    /// Starts the program. The stream yields one element when it is over: why, if it was not told to.
    func start() throws(CommandReporterError) -> AsyncStream<CommandReporterError?> {
        let program = try launch()
        let (ends, end) = AsyncStream.makeStream(of: CommandReporterError?.self, bufferingPolicy: .bufferingOldest(1))
        let first = Handover(program)
        let thread = startThread {
            let failure = first.take().flatMap { self.run($0) }
            self.state.withLock { $0.isOver = true }
            end.yield(failure)
            end.finish()
        }
        guard let thread else {
            first.take()?.endNow()
            throw CommandReporterError(.start, "\(name): no thread can be had for it.")
        }
        pthread_detach(thread)
        return ends
    }

    /// Takes an update; `false` once the program is over.
    func take(_ update: ActivityUpdate) -> Bool {
        let isOver = state.withLock { state in
            state.feed.take(update)
            return state.isOver
        }
        bell.ring()
        return !isOver
    }

    /// Nothing more comes: the program may read the rest and end.
    func finish() { wish(.finish) }

    /// It is to end at once.
    func stop() { wish(.stop) }

    private func wish(_ wish: Wish) {
        state.withLock { $0.wish = max($0.wish, wish) }
        bell.ring()
    }

    private func launch() throws(CommandReporterError) -> StartedProgram {
        do {
            return try StartedProgram(path: path, words: words)
        } catch {
            throw CommandReporterError(.start, error.message, remedy: error.remedy)
        }
    }

    // MARK: On the thread

    private func run(_ first: StartedProgram) -> CommandReporterError? {
        var program = first
        var restarts = 0
        while true {
            var life = ProgramLife(program, limits)
            let wish = live(program, &life)
            program.signal(SIGKILL)
            let end = program.reap()
            hear(program, &life)
            for line in life.spoken.rest() { say("\(name): \(line)") }
            if state.withLock({ $0.feed.isOverfull }) { return behind() }
            if wish == .finish, !end.isGood { say("\(name): it \(end.words).") }
            guard wish == .run else { return nil }
            guard restarts < limits.restarts else {
                return CommandReporterError(.ended, "\(name) \(end.words), after it had been started again.")
            }
            restarts += 1
            say("\(name): it \(end.words); it is started once more and told the present state.")
            state.withLock { $0.feed.beginAnew() }
            do {
                program = try launch()
            } catch {
                return error
            }
        }
    }

    private func behind() -> CommandReporterError {
        CommandReporterError(
            .behind,
            "\(name) does not read: more than \(limits.unreadBytes >> 20) MiB of facts wait for it.",
            remedy: "Let it read its standard input line by line."
        )
    }

    /// Serves the program until it has ended; gives what was wanted of it then.
    private func live(_ program: StartedProgram, _ life: inout ProgramLife) -> Wish {
        while true {
            let (wish, hasLines, isOverfull) = state.withLock { ($0.wish, !$0.feed.isEmpty, $0.feed.isOverfull) }
            if program.hasEnded { return wish }
            life.obey(isOverfull ? .stop : wish, isWritten: !hasLines)
            var waits = [
                pollfd(fd: bell.hears, events: Int16(POLLIN), revents: 0),
                pollfd(fd: program.output, events: Int16(POLLIN), revents: 0),
                pollfd(fd: hasLines ? program.input : -1, events: Int16(POLLOUT), revents: 0),
            ]
            // Nothing rings when a process ends: its pipes may outlive it, and close before it.
            poll(&waits, nfds_t(waits.count), program.output < 0 || life.isEnding ? 20 : 200)
            if waits[0].revents != 0 { bell.hush() }
            if waits[1].revents != 0 { hear(program, &life) }
            if waits[2].revents != 0 { tell(program) }
        }
    }

    /// Writes as much as the pipe takes.
    private func tell(_ program: StartedProgram) {
        while true {
            let bytes = state.withLock { $0.feed.next }
            guard !bytes.isEmpty else { return }
            let count = bytes.withUnsafeBytes { write(program.input, $0.baseAddress, $0.count) }
            if count > 0 {
                state.withLock { $0.feed.took(count) }
            } else if count == 0 || errno == EAGAIN {
                return
            } else if errno != EINTR {
                // It has closed its input, and most likely ends.
                return program.closeInput()
            }
        }
    }

    /// Passes on what it says, as much as there is.
    private func hear(_ program: StartedProgram, _ life: inout ProgramLife) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        // A program that never stops talking must not keep us from the rest.
        for _ in 0..<64 where program.output >= 0 {
            let count = bytes.withUnsafeMutableBytes { read(program.output, $0.baseAddress, $0.count) }
            if count > 0 {
                for line in life.spoken.take(bytes[..<count]) { say("\(name): \(line)") }
            } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
                program.closeOutput()
            } else if errno == EAGAIN {
                return
            }
        }
    }
}

/// How far one run of a program is towards its end.
struct ProgramLife {
    private let program: StartedProgram
    private let limits: CommandLimits
    private let clock = ContinuousClock()
    private var termAt: ContinuousClock.Instant?
    private var killAt: ContinuousClock.Instant?
    private var isTermed = false
    private var isKilled = false
    var spoken: SpokenLines

    init(_ program: StartedProgram, _ limits: CommandLimits) {
        self.program = program
        self.limits = limits
        spoken = SpokenLines(limits)
    }

    var isEnding: Bool { termAt != nil }

    /// Does what is due: closes its input, sends SIGTERM, then SIGKILL.
    mutating func obey(_ wish: CommandLoop.Wish, isWritten: Bool) {
        let now = clock.now
        switch wish {
        case .run: return
        case .finish:
            termAt = termAt ?? now + limits.endPatience
            if isWritten { program.closeInput() }
        case .stop:
            termAt = min(termAt ?? now, now)
            program.closeInput()
        }
        if let termAt, now >= termAt, !isTermed {
            isTermed = true
            program.signal(SIGTERM)
            killAt = now + limits.termPatience
        }
        if let killAt, now >= killAt, !isKilled {
            isKilled = true
            program.signal(SIGKILL)
        }
    }
}

/// Wakes a thread that waits in `poll`.
final class Bell: Sendable {
    let hears: Int32
    private let rings: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        // Without one, the thread notices what is new when it looks the next time.
        _ = openPipe(&ends)
        (hears, rings) = (ends[0], ends[1])
        for descriptor in ends { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
    }

    deinit {
        if hears >= 0 { close(hears) }
        if rings >= 0 { close(rings) }
    }

    func ring() {
        var byte: UInt8 = 0
        _ = write(rings, &byte, 1)
    }

    func hush() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(hears, &bytes, bytes.count) == bytes.count {}
    }
}

/// Hands a value that only one thread may use from one to another, once.
private final class Handover: Sendable {
    private let program: Guarded<StartedProgram?>

    init(_ program: sending StartedProgram) {
        self.program = Guarded(program)
    }

    func take() -> sending StartedProgram? {
        program.withLock { program in
            let taken = program
            program = nil
            return taken
        }
    }
}

extension StartedProgram {
    /// Ends it and takes it away.
    fileprivate func endNow() {
        signal(SIGKILL)
        _ = reap()
    }
}
