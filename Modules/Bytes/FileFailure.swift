#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A system call on a file that failed.
public struct FileFailure: ExplainedError, Equatable {
    /// What was tried, as a verb: `open`, `write`, `rename`.
    public let action: String
    /// The file or folder.
    public let path: String
    /// The system's error number.
    public let errorNumber: Int32

    /// Keeps what failed, where, and the system's number for why.
    public init(_ action: String, _ path: String, errorNumber: Int32) {
        self.action = action
        self.path = path
        self.errorNumber = errorNumber
    }

    /// Whether the disk, or somebody's share of it, is full.
    public var isFullDisk: Bool { errorNumber == ENOSPC || errorNumber == EDQUOT }

    /// The file, what was tried, and the system's words for why not.
    public var message: String { "\(path): cannot \(action): \(String(cString: strerror(errorNumber)))." }

    /// What usually helps with this error number.
    public var remedy: String? {
        switch errorNumber {
        case ENOENT: "Check the path."
        case EACCES, EPERM: "Check who owns it and its permissions."
        case EROFS: "The file system is read-only; choose another folder."
        case ENOSPC, EDQUOT: "Make room on the disk, or choose another folder."
        case EISDIR, ENOTDIR: "Check whether a file or a folder is meant."
        case EOPNOTSUPP: "Choose another path."
        case EMFILE, ENFILE: "Too many files are open; raise the limit with ulimit -n."
        default: nil
        }
    }
}
