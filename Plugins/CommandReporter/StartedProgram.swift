import CKernel
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A program that runs in a process group of its own: what the terminal sends to ours does not reach it, and what is sent
/// to its group reaches what it started as well.
///
/// It reads a pipe, and what it writes, output and errors, comes by another. For one thread.
final class StartedProgram {
    let process: pid_t
    /// Our ends of its pipes; neither waits. -1 once closed.
    private(set) var input: Int32
    private(set) var output: Int32

    /// Starts `words`, whose first is found at `path`.
    init(path: String, words: [String]) throws(FileFailure) {
        var toChild: [Int32] = [-1, -1]
        var fromChild: [Int32] = [-1, -1]
        guard openPipe(&toChild) else { throw FileFailure("open", "a pipe", errorNumber: errno) }
        guard openPipe(&fromChild) else {
            let number = errno
            for descriptor in toChild { close(descriptor) }
            throw FileFailure("open", "a pipe", errorNumber: number)
        }
        defer {
            close(toChild[0])
            close(fromChild[1])
        }
        do {
            process = try Self.spawn(path, words, input: toChild[0], output: fromChild[1])
        } catch {
            close(toChild[1])
            close(fromChild[0])
            throw error
        }
        (input, output) = (toChild[1], fromChild[0])
        for descriptor in [input, output] {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
    }

    deinit {
        closeInput()
        closeOutput()
    }

    /// Tells it that nothing more comes.
    func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// Hears no more of it.
    func closeOutput() {
        if output >= 0 { close(output) }
        output = -1
    }

    /// Sends a signal to it and to all that it started. Only before ``reap()``: after that the number may be another's.
    func signal(_ number: Int32) {
        kill(-process, number)
    }

    /// Whether it has ended, which ``reap()`` then tells.
    var hasEnded: Bool {
        var information = siginfo_t()
        while waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) != 0 {
            // Somebody has taken it away: it is gone in any case.
            guard errno == EINTR else { return true }
        }
        return information.processID == process
    }

    /// How a program ended.
    struct End {
        /// That, as the rest of a sentence.
        let words: String
        /// Whether it says itself that all is well.
        let isGood: Bool
    }

    /// Takes it out of the system's table; gives how it ended. It must have ended.
    func reap() -> End {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return End(words: "ended", isGood: true) }
        }
        let number = status & 0x7F
        guard number == 0 else { return End(words: "was ended by signal \(number)", isGood: false) }
        let code = (status >> 8) & 0xFF
        return End(words: "ended with code \(code)", isGood: code == 0)
    }

    private static func spawn(
        _ path: String,
        _ words: [String],
        input: Int32,
        output: Int32
    ) throws(FileFailure) -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        let own = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        #if canImport(Glibc)
        // Whatever another part of this process holds open is none of its business.
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        let closing: Int32 = 0
        #elseif canImport(Musl)
        let closing: Int32 = 0
        #else
        let closing = POSIX_SPAWN_CLOEXEC_DEFAULT
        #endif
        posix_spawnattr_setflags(&attributes, Int16(own | closing))
        posix_spawnattr_setpgroup(&attributes, 0)
        // Our thread gets no signals; the program shall get all of them, as from a shell.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (word: String) in strdup(word) } + [nil]
        defer {
            for argument in arguments { free(argument) }
        }
        var process: pid_t = 0
        let code = posix_spawn(&process, path, &actions, &attributes, &arguments, environ)
        guard code == 0 else { throw FileFailure("run", path, errorNumber: code) }
        return process
    }
}

/// Opens a pipe whose ends no other program inherits.
func openPipe(_ ends: inout [Int32]) -> Bool {
    guard pipe(&ends) == 0 else { return false }
    for descriptor in ends { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return true
}

extension siginfo_t {
    fileprivate var processID: pid_t {
        #if os(Linux)
        _sifields._sigchld.si_pid
        #else
        si_pid
        #endif
    }
}
