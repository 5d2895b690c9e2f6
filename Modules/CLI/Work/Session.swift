import FerryAPNsReporter
import FerryActivity
import FerryBytes
import FerryCommandReporter
import FerryJSONLogReporter
import FerrySigning
import FerryTerminalReporter
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a verb that takes its time works in: one activity, and the reporters that were asked for.
struct Session: Sendable {
    /// The activity of this process.
    let center: ActivityCenter
    /// Whether failures are shown to a person already.
    let showsTerminal: Bool
    /// Whether standard output belongs to JSON lines.
    let ownsOutput: Bool

    private init(center: ActivityCenter, showsTerminal: Bool, ownsOutput: Bool) {
        self.center = center
        self.showsTerminal = showsTerminal
        self.ownsOutput = ownsOutput
    }

    /// Opens the reporters of a command line, runs `body`, and lets them finish.
    ///
    /// - Parameter onCommand: what keys on the terminal mean.
    static func run<Value: Sendable>(
        _ invocation: Invocation,
        onCommand: @escaping @Sendable (TerminalReporter.Command) async -> Void,
        _ body: (Session) async throws -> Value
    ) async throws -> Value {
        let choices = invocation.arguments.reporters(
            hasTerminal: invocation.console.errors.isTerminal,
            asData: invocation.asData
        )
        let center = ActivityCenter(now: { Date() }, clock: ContinuousClock())
        // What can fail fails here, before any work.
        for choice in choices {
            switch choice {
            case .terminal:
                await center.attach(terminal(invocation, onCommand), named: "terminal")
            case .jsonFile(let path): await center.attach(try JSONLogReporter(path: path), named: "json:" + path)
            case .jsonOutput: await center.attach(JSONLogReporter(descriptor: STDOUT_FILENO), named: "json:-")
            case .apns(let path): await center.attach(try invocation.island(path), named: "apns:" + path)
            case .program(let command):
                let reporter = try invocation.program(command)
                await center.attach(reporter, named: "exec:" + reporter.name)
            }
        }
        let session = Session(
            center: center,
            showsTerminal: choices.contains(.terminal),
            ownsOutput: choices.contains(.jsonOutput)
        )
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(session))
        } catch {
            result = .failure(error)
        }
        // A task of its own: after ctrl-C this one is cancelled, and the last lines are still due.
        await Task { await center.close(waitingAtMost: .seconds(choices.contains { $0.isRemote } ? 12 : 3)) }.value
        return try result.get()
    }

    private static func terminal(
        _ invocation: Invocation,
        _ onCommand: @escaping @Sendable (TerminalReporter.Command) async -> Void
    ) -> TerminalReporter {
        TerminalReporter(
            output: .descriptor(STDERR_FILENO),
            input: .descriptor(STDIN_FILENO),
            style: Style(environment: invocation.environment, isTerminal: invocation.console.errors.isTerminal),
            clock: ContinuousClock(),
            now: { Date() },
            onCommand: onCommand
        )
    }
}

/// An error that a reporter has shown to people already; only the exit code is left to give.
struct ToldError: Error {
    /// The error itself.
    let error: any Error
}

extension Session {
    /// What to throw for an error that ended an install: told again only where nobody has read it.
    func told(_ error: any Error, _ invocation: Invocation) -> any Error {
        showsTerminal && !invocation.asData ? ToldError(error: error) : error
    }
}

extension Invocation {
    /// Whether the result, and errors, are to be data.
    var asData: Bool { arguments.flagIfDescribed("--json") }

    /// The folder of all islands' folders; made where it is missing.
    func islandFolder() throws(FileFailure) -> String {
        try Folders.make(Folders(environment: environment).state + "/island")
    }

    /// A reporter to the phone that a file describes.
    func island(_ path: String) throws -> APNsReporter {
        try APNsReporter(
            try IslandConfiguration(path: path),
            stateFolder: try islandFolder(),
            clock: ContinuousClock(),
            now: { Date() }
        )
    }

    /// A reporter to the program of a command line; what it says goes where our errors go.
    func program(_ command: String) throws(CommandReporterError) -> CommandReporter {
        try CommandReporter(command: command, searchPath: environment["PATH"] ?? "/usr/bin:/bin") { [console] line in
            console.note(line)
        }
    }

    /// How many cores this process may use.
    var coreCount: Int { ProcessInfo.processInfo.activeProcessorCount }

    /// A signer on all cores, by the machine's clock.
    ///
    /// - Parameter cache: what it knows of archives; `nil` for nothing.
    func signer(cache: ArchiveCache? = nil, threadCount: Int? = nil) -> Signer {
        Signer(threadCount: threadCount ?? coreCount, cache: cache, now: { Int64(Date().timeIntervalSince1970) })
    }

    /// What is known of archives that were signed before; `nil` where `--no-cache` was given.
    var archiveCache: ArchiveCache? {
        arguments.flag("--no-cache") ? nil : Folders(environment: environment).archiveCache
    }

    /// What checks apps.
    func verifier() -> Verifier {
        Verifier(threadCount: coreCount, now: { Int64(Date().timeIntervalSince1970) })
    }

    /// Prints a result: as one line of JSON with `--json`, else as text; to the errors where the output is taken.
    func show(_ value: some Encodable, text: String, in session: Session? = nil) throws {
        let line = asData ? try jsonText(value) : text
        if session?.ownsOutput == true {
            console.note(line)
        } else {
            console.print(line)
        }
    }
}
