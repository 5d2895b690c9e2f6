public import FerryActivity
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Tells a program in any language what happens: the lines of `docs/json-log.md`, on its standard input.
///
/// The program runs in a process group of its own from the first update to the last. When it ends before that, it is started
/// once more and told the present state again; when it ends again, or does not read, the reporter is detached. Nothing that
/// it does makes an install wait: it is written to without waiting, and what it does not read is kept up to a bound.
/// In the end its input closes; if it has not ended some seconds later, it gets SIGTERM, then SIGKILL.
public struct CommandReporter: Reporter {
    /// What people call the program: the last part of its path.
    public let name: String
    private let path: String
    private let words: [String]
    private let limits: CommandLimits
    private let say: @Sendable (String) -> Void

    /// Finds the program of a command line.
    ///
    /// - Parameters:
    ///   - command: The program and its arguments; quotes and backslashes are as in a shell, and there is nothing else of
    ///     one. A program without a slash is looked for in `searchPath`.
    ///   - searchPath: Folders, parted by colons, as `PATH` has them.
    ///   - limits: How much it may cost.
    ///   - say: Called with each line that it writes to its standard output or error, on a thread that may wait.
    public init(
        command: String,
        searchPath: String,
        limits: CommandLimits = CommandLimits(),
        say: @escaping @Sendable (String) -> Void
    ) throws(CommandReporterError) {
        words = try CommandWords.split(command)
        path = try Self.find(words[0], searchPath)
        name = words[0].split(separator: "/").last.map(String.init) ?? words[0]
        self.limits = limits
        self.say = say
    }

    /// Tells it everything until the updates end, and ends it.
    public func report(_ updates: ActivityUpdates) async throws {
        let loop = CommandLoop(name: name, path: path, words: words, limits: limits, say: say)
        let ends = try loop.start()
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await update in updates where !loop.take(update) { return }
                    loop.finish()
                }
                group.addTask {
                    // It has ended before we wanted it: nobody has to read on.
                    for await failure in ends {
                        if let failure { throw failure }
                    }
                }
                // The first that throws cancels the other, which ends its updates.
                while try await group.next() != nil {}
            }
        } onCancel: {
            loop.stop()
        }
    }

    private static func find(_ program: String, _ searchPath: String) throws(CommandReporterError) -> String {
        let candidates =
            program.contains("/")
            ? [program]
            : searchPath.split(separator: ":", omittingEmptySubsequences: false)
                .map { ($0.isEmpty ? "." : String($0)) + "/" + program }
        for candidate in candidates {
            var status = stat()
            guard stat(candidate, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            if access(candidate, X_OK) == 0 { return candidate }
            guard program.contains("/") else { continue }
            throw CommandReporterError(
                .notFound,
                "exec:\(program.printable): it may not be run.",
                remedy: "Make it executable: chmod +x \(program.printable)"
            )
        }
        throw CommandReporterError(
            .notFound,
            "exec:\(program.printable): there is no such program\(program.contains("/") ? "" : " on the PATH").",
            remedy: program.contains("/") ? "Check the path." : "Give its path: exec:./\(program.printable)"
        )
    }
}
