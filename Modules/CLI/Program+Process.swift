import Dispatch
import FerryBytes
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension Program {
    /// Does what this process was started for, and ends it.
    func runAsProcess() async -> Never {
        // A reader that went away (`| head`, a closed connection) is an error of one write, not the end of an install.
        signal(SIGPIPE, SIG_IGN)
        MemoryPolicy.apply()
        let environment = ProcessInfo.processInfo.environment
        let console = Console(environment: environment)
        let arguments = Array(CommandLine.arguments.dropFirst())
        let work = Task { await run(arguments, console: console, environment: environment) }
        let source = Interruption.onFirst { work.cancel() }
        let code = await work.value
        source.cancel()
        // A result that is cut short, as on a full disk, is none.
        if let number = console.output.failure {
            console.report(FileFailure("write", "standard output", errorNumber: number))
            end((code == .done ? .failed : code).rawValue)
        }
        end(code.rawValue)
    }

    /// Ends the process without the clean-up of libraries, which would take from threads that still run what they use.
    private func end(_ status: Int32) -> Never {
        fflush(nil)
        _exit(status)
    }
}
