import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Another command that is measured on the same input.
struct Rival: Sendable {
    /// What to call it.
    let name: String
    /// What the shell is given; `{in}` and `{out}` stand for the two archives.
    let command: String

    /// Takes `NAME=COMMAND` apart; `nil` for anything else.
    init?(_ text: String) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex,
            text.index(after: equals) != text.endIndex
        else { return nil }
        name = String(text[..<equals])
        command = String(text[text.index(after: equals)...])
    }

    /// Runs the command to its end; `nil` where it fails.
    func run(input: String, output: String) throws(FileFailure) -> Measurement? {
        unlink(output)
        let line = command.replacing("{in}", with: Self.quoted(input)).replacing("{out}", with: Self.quoted(output))
        // A child's peak begins with that of its parent at the time it is made.
        ProcessUsage.resetPeak()
        let clock = ContinuousClock()
        let start = clock.now
        // What others print is not of the result; their errors are for the reader.
        let process = try ChildProcess.spawn("/bin/sh", ["/bin/sh", "-c", line])
        var status: Int32 = 0
        var usage = rusage()
        while wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
        let wall = start.duration(to: clock.now)
        guard status == 0 else { return nil }
        var file = stat()
        return Measurement(
            wall: wall.inSeconds,
            processor: ProcessUsage.seconds(usage),
            peakMemory: usage.ru_maxrss * 1024,
            output: stat(output, &file) == 0 ? Int(file.st_size) : nil
        )
    }

    private static func quoted(_ path: String) -> String {
        "'" + path.replacing("'", with: #"'\''"#) + "'"
    }
}
