import FerryBytes
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The one owner of standard output and standard error.
///
/// Results go to the output, everything else to the errors. What one call writes is not parted by what another writes.
final class Console: Sendable {
    /// Where text goes.
    struct Stream: Sendable {
        /// Whether a person sees it there.
        let isTerminal: Bool
        /// How many columns there are just now.
        let columns: @Sendable () -> Int
        /// Writes bytes.
        ///
        /// Gives the system's error number where that failed, else 0.
        let write: @Sendable ([UInt8]) -> Int32
        /// Whether it may have colours and bold text.
        var hasStyle: Bool

        /// A stream that is not a terminal, for tests and for files.
        init(columns: Int = 80, write: @escaping @Sendable ([UInt8]) -> Void) {
            isTerminal = false
            hasStyle = false
            self.columns = { columns }
            self.write = { bytes in
                write(bytes)
                return 0
            }
        }

        /// An open file or terminal; NO_COLOR and TERM in `environment` say whether it may have colours.
        init(descriptor: Int32, environment: [String: String]) {
            isTerminal = isatty(descriptor) == 1
            // https://no-color.org: set and not empty.
            hasStyle =
                isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
            let fallback = environment["COLUMNS"].flatMap { Int($0) } ?? 80
            columns = { terminalColumns(of: descriptor) ?? fallback }
            write = { writeAll($0, to: descriptor) }
        }
    }

    /// Where results go.
    let output: Stream
    /// Where errors, questions and progress go.
    let errors: Stream
    /// The first error number of writing a result; 0 while there is none.
    private let failure = Guarded<Int32>(0)
    private let turn = Guarded(())

    /// Writes to these two.
    init(output: Stream, errors: Stream) {
        self.output = output
        self.errors = errors
    }

    /// Standard output and standard error.
    convenience init(environment: [String: String]) {
        self.init(
            output: Stream(descriptor: STDOUT_FILENO, environment: environment),
            errors: Stream(descriptor: STDERR_FILENO, environment: environment)
        )
    }

    /// Writes a line of the result.
    func print(_ line: String) {
        write(line + "\n")
    }

    /// Writes a part of the result as it is.
    func write(_ text: String) {
        let number = turn.withLock { _ in output.write(Array(text.utf8)) }
        // A reader that went away, as `head` does, has what it wanted.
        guard number != 0, number != EPIPE else { return }
        failure.withLock { if $0 == 0 { $0 = number } }
    }

    /// Why a result could not be written as a whole; `nil` where it could.
    var outputFailure: FileFailure? {
        let number = failure.withLock { $0 }
        return number == 0 ? nil : FileFailure("write", "standard output", errorNumber: number)
    }

    /// Writes a line that is not of the result: a warning, a hint, where somebody is.
    func note(_ line: String) {
        writeToErrors(line + "\n")
    }

    /// Writes to standard error as it is.
    func writeToErrors(_ text: String) {
        _ = turn.withLock { _ in errors.write(Array(text.utf8)) }
    }

    /// Writes a value of the result as one line of JSON.
    func printJSON(_ value: some Encodable) throws {
        print(try jsonText(value))
    }

    /// Writes an error: what happened, then what to do; or both as one line of JSON.
    func report(_ error: any Error, asJSON: Bool = false) {
        let report = ErrorReport(error)
        if asJSON, let text = try? jsonText(["error": report]) {
            note(text)
        } else {
            note(report.text(styled: errors.hasStyle))
        }
    }
}

/// An error as data.
struct ErrorReport: Encodable, Equatable {
    /// What happened and where.
    let message: String
    /// What to do about it; left out where there is nothing to advise.
    let remedy: String?
    /// The error's code by name: `unknownOption`; `cancelled` for every cancellation.
    let code: String

    /// Takes `error` apart.
    init(_ error: any Error) {
        let explained = error as? any ExplainedError
        if error is CancellationError || explained?.isCancellation == true {
            message = explained?.message ?? "Cancelled."
            remedy = explained?.remedy
            code = "cancelled"
            return
        }
        message = explained?.message ?? "\(error)"
        remedy = explained?.remedy
        // The module errors have a `code` each, of a type of their own: only its name matters here.
        let code = Mirror(reflecting: error).children.first { $0.label == "code" }?.value
        self.code = code.map { "\($0)" } ?? "failed"
    }

    /// Two lines, or more where the parts have more; continued lines stand under the first.
    func text(styled: Bool) -> String {
        let (red, bold, end) = styled ? ("\u{1B}[31m", "\u{1B}[1m", "\u{1B}[0m") : ("", "", "")
        let margin = "\n       "
        let lines = { (text: String) in
            text.split(separator: "\n", omittingEmptySubsequences: false).map(\.printable)
        }
        var text = "\(red)ferry:\(end) \(bold)" + lines(message).joined(separator: margin) + end
        if let remedy {
            text += margin + lines(remedy).joined(separator: margin)
        }
        return text
    }
}

/// A value as one line of JSON, with sorted keys and ISO 8601 dates.
func jsonText(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

/// How wide the terminal is; `nil` where there is none.
private func terminalColumns(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
}

/// Writes all bytes; gives the error number that ended it early, else 0.
private func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    bytes.withUnsafeBytes { buffer in
        var done = 0
        while done < buffer.count, let base = buffer.baseAddress {
            let wrote = write(descriptor, base + done, buffer.count - done)
            if wrote > 0 {
                done += wrote
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
