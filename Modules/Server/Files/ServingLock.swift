import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Keeps a server's folder for one process: two would write over each other's links, and sweep each other's archives.
///
/// The system lets go of it when the process ends, however that is.
package final class ServingLock: Sendable {
    private let descriptor: Int32

    /// Takes the folder, which is made where it is missing; throws ``ServingError`` where another process has it.
    package init(folder: String) throws {
        try makeFolders(folder)
        let path = folder + "/serve.lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure("create", path, errorNumber: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            let process = Self.process(descriptor)
            close(descriptor)
            guard number == EWOULDBLOCK else { throw FileFailure("lock", path, errorNumber: number) }
            throw ServingError(
                message: "\(folder): another ferry serve\(process.map { ", process \($0)," } ?? "") uses this folder.",
                remedy: "End it, or give this one a state folder of its own with XDG_STATE_HOME."
            )
        }
        self.descriptor = descriptor
        let text = Array("\(getpid())\n".utf8)
        // For people alone: that it cannot be written does no harm.
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
    }

    deinit {
        close(descriptor)
    }

    private static func process(_ descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return Int32(String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 0x0A }, as: UTF8.self))
    }
}

/// Why a server cannot begin.
package struct ServingError: ExplainedError, Equatable {
    package let message: String
    package let remedy: String?
    /// A stable name for the kind of error.
    package var code = "serving"
}
