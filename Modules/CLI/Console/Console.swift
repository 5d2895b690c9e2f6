import FerryActivity
import FerryBytes
import FoundationEssentials
import Synchronization

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
        let write: @Sendable ([UInt8]) -> Void
        /// Whether it may have colours and bold text.
        var hasStyle: Bool
        /// The system's number for why something could not be written; `nil` while all could.
        var failure: Int32? {
            let number = firstFailure.number.load(ordering: .relaxed)
            return number == 0 ? nil : number
        }
        private let firstFailure = FirstFailure()

        /// A stream that is not a terminal, for tests and for files.
        init(columns: Int = 80, write: @escaping @Sendable ([UInt8]) -> Void) {
            isTerminal = false
            hasStyle = false
            self.columns = { columns }
            self.write = write
        }

        /// An open file or terminal; NO_COLOR and TERM in `environment` say whether it may have colours.
        init(descriptor: Int32, environment: [String: String]) {
            isTerminal = isatty(descriptor) == 1
            // https://no-color.org: set and not empty.
            hasStyle =
                isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
            let fallback = environment["COLUMNS"].flatMap { Int($0) } ?? 80
            columns = { terminalColumns(of: descriptor) ?? fallback }
            let firstFailure = firstFailure
            write = { bytes in
                let number = writeAll(bytes, to: descriptor)
                _ = firstFailure.number.compareExchange(expected: 0, desired: number, ordering: .relaxed)
            }
        }
    }

    /// Where results go.
    let output: Stream
    /// Where errors, questions and progress go.
    let errors: Stream
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
        turn.withLock { _ in output.write(Array(text.utf8)) }
    }

    /// Writes a line that is not of the result: a warning, a hint, where somebody is.
    func note(_ line: String) {
        writeToErrors(line + "\n")
    }

    /// Writes to standard error as it is.
    func writeToErrors(_ text: String) {
        turn.withLock { _ in errors.write(Array(text.utf8)) }
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

/// Why a stream could not be written to; 0 while it could.
private final class FirstFailure: Sendable {
    let number = Atomic<Int32>(0)
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

    /// What the record says of a failure.
    init(failure: Failure) {
        message = failure.message
        remedy = failure.remedy
        code = "failed"
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

/// Writes all bytes, and gives the system's number for why not; a reader that went away, as `head` does, ends the writing
/// without a word.
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
                return errno == EPIPE ? 0 : errno
            }
        }
        return 0
    }
}
