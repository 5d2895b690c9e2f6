import FerryBytes
import FerryInstalling
import FerrySigning

/// What the command tells the shell when it ends.
enum ExitCode: Int32, Sendable {
    /// What was asked for is done.
    case done = 0
    /// Something failed; standard error says what.
    case failed = 1
    /// The command line says nothing that can be done.
    case usage = 2
    /// The plan refused, with every reason; nothing was written.
    case refused = 3
    /// Somebody asked for the end: 128 and the number of SIGINT, as shells have it.
    case cancelled = 130

    /// How the command ends with `error`.
    init(_ error: any Error) {
        if error is CancellationError || (error as? any ExplainedError)?.isCancellation == true {
            self = .cancelled
        } else {
            let isRefusal = (error as? SignError)?.code == .refused || (error as? InstallError)?.code == .refused
            self = error is UsageError ? .usage : isRefusal ? .refused : .failed
        }
    }
}
