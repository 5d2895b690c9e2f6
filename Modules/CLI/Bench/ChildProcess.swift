import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Another process that is started from this one.
enum ChildProcess {
    /// Starts a program.
    ///
    /// - Parameter words: its arguments, its own name first.
    /// - Parameter input: its standard input; `nil` for nothing.
    /// - Parameter output: its standard output; `nil` for nowhere. Errors go where ours go.
    static func spawn(
        _ program: String,
        _ words: [String],
        input: Int32? = nil,
        output: Int32? = nil
    ) throws(FileFailure) -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        #else
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (own, descriptor, mode) in [(STDIN_FILENO, input, O_RDONLY), (STDOUT_FILENO, output, O_WRONLY)] {
            if let descriptor {
                posix_spawn_file_actions_adddup2(&actions, descriptor, own)
            } else {
                posix_spawn_file_actions_addopen(&actions, own, "/dev/null", mode, 0)
            }
        }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (word: String) in strdup(word) } + [nil]
        defer {
            for argument in arguments { free(argument) }
        }
        var process: pid_t = 0
        let code = posix_spawn(&process, program, &actions, nil, &arguments, environ)
        guard code == 0 else { throw FileFailure("run", program, errorNumber: code) }
        return process
    }
}
