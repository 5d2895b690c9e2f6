public import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Why a download ended without a file.
public struct DownloadError: ExplainedError, Equatable {
    /// The kinds of failure that a caller may want to tell apart.
    public enum Code: String, Sendable, Hashable {
        /// The address cannot be understood.
        case badURL
        /// A header or another part of the request cannot be sent.
        case badRequest
        /// Neither `http:`, `https:`, `file:` nor a path.
        case unsupportedScheme
        /// 404, 410, or no such local file.
        case notFound
        /// 401 or 407.
        case unauthorized
        /// 403.
        case forbidden
        /// Another answer of the 400s.
        case refused
        /// An answer of the 500s, still there after the retries.
        case serverError
        /// 429, still there after the retries or with a wait beyond the limit.
        case rateLimited
        /// No connection, or it broke and stayed broken.
        case connection
        /// The host's name has no address.
        case nameNotFound
        /// The server's certificate is not trusted.
        case certificate
        /// The server stayed silent.
        case timedOut
        /// An answer that HTTP does not allow here.
        case badAnswer
        /// A web page came where a file was due.
        case webPage
        /// The file has another length than was expected.
        case lengthMismatch
        /// The file has another SHA-256 than was expected.
        case checksumMismatch
        /// More bytes came than were promised or are accepted.
        case tooMuchData
        /// Too many redirects, or one that is not followed.
        case redirect
        /// No room on the disk.
        case diskFull
        /// A file or folder cannot be read or written.
        case file
        /// Another process, or another download, writes the same partial file.
        case partialBusy
        /// Somebody asked for the end.
        case cancelled
    }

    /// What to switch on.
    public let code: Code
    /// What happened and where.
    public let message: String
    /// What the reader can do about it.
    public let remedy: String?

    /// Explains a failure.
    public init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    /// Whether the code is ``Code/cancelled``.
    public var isCancellation: Bool { code == .cancelled }
}

extension DownloadError {
    static let cancelled = DownloadError(.cancelled, "The download was cancelled.")

    /// A system call that failed; a full disk has a code of its own.
    init(_ failure: FileFailure) {
        switch failure.errorNumber {
        case ENOSPC, EDQUOT:
            self.init(
                .diskFull,
                failure.message,
                remedy: "Make room on the disk and start the download again; it goes on where it stopped."
            )
        default:
            self.init(.file, failure.message, remedy: failure.remedy ?? "Check the disk that it is on.")
        }
    }

    init(_ action: String, _ path: String, _ errorNumber: Int32) {
        self.init(FileFailure(action, path, errorNumber: errorNumber))
    }
}
