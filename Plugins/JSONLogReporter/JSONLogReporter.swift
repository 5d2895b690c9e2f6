public import FerryActivity

/// Writes one JSON object a line: every fact at once, progress now and then.
///
/// `docs/json-log.md` lists the keys. Each line is one write to a file that is open for appending, so that whoever
/// reads it meanwhile sees whole lines, and several processes may write to one file.
public struct JSONLogReporter: Reporter {
    private let file: LogFile
    private let progressPerSecond: Double

    /// Opens the file at `path`, and makes it (for its owner alone to write) where there is none.
    ///
    /// - Parameters:
    ///   - path: The file; what is in it stays.
    ///   - progressPerSecond: How many lines of progress there are in a second for one install, at most; 0 for none.
    public init(path: String, progressPerSecond: Double = 2) throws(LogFailure) {
        file = try LogFile(path: path)
        self.progressPerSecond = progressPerSecond
    }

    /// Writes to an open file, a pipe or a terminal, which the caller keeps open.
    ///
    /// - Parameters:
    ///   - descriptor: 1 for standard output.
    ///   - progressPerSecond: How many lines of progress there are in a second for one install, at most; 0 for none.
    public init(descriptor: Int32, progressPerSecond: Double = 2) {
        file = LogFile(descriptor: descriptor)
        self.progressPerSecond = progressPerSecond
    }

    /// Writes until the updates end or a line cannot be written.
    public func report(_ updates: ActivityUpdates) async throws {
        var lines = JSONLines(progressPerSecond: progressPerSecond)
        for await update in updates {
            for line in lines.lines(for: update) { try file.write(line) }
        }
    }
}
