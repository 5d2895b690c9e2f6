import FerryActivity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the record's thread works with: the database, and the sign that this process lives.
final class RecordCore {
    let folder: RecordFolder
    let now: @Sendable () -> Date
    private(set) var notice: String?
    private var open: (database: Database, lease: RunLease)?
    private var dataVersion: Int64?

    init(_ path: String, limits: RecordLimits, now: @escaping @Sendable () -> Date) throws(RecordError) {
        self.now = now
        folder = try RecordFolder(path)
        let (database, notice) = try folder.connect(stamp: Self.stamp(now()))
        self.notice = notice
        RunLease.sweep(folder.runsPath)
        open = (database, try RunLease(in: folder.runsPath))
        dataVersion = try? database.number("PRAGMA data_version")
        try tidy(limits)
    }

    /// The open database; throws after ``close()``.
    func database() throws(RecordError) -> Database {
        guard let open else { throw RecordError(.file, "The record is closed.") }
        return open.database
    }

    /// The name of this process's lease.
    func run() throws(RecordError) -> String {
        guard let open else { throw RecordError(.file, "The record is closed.") }
        return open.lease.name
    }

    /// Milliseconds since 1970.
    var time: Int64 { Self.milliseconds(now()) }

    static func milliseconds(_ date: Date) -> Int64 {
        let value = (date.timeIntervalSince1970 * 1000).rounded()
        return value.isFinite && abs(value) < 9e15 ? Int64(value) : 0
    }

    static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// Lets go of all installs, and of the database.
    func close() {
        if let open {
            try? open.database.run(
                "UPDATE install SET runner = NULL, process = NULL WHERE runner = ?",
                [.text(open.lease.name)]
            )
        }
        open = nil
    }

    /// Whether another connection wrote since the last call.
    ///
    /// `PRAGMA data_version` reads a few bytes of shared memory; nothing is asked of the disk.
    func hasForeignChanges() -> Bool {
        guard let database = open?.database, let version = try? database.number("PRAGMA data_version") else {
            return false
        }
        defer { dataVersion = version }
        return version != dataVersion
    }

    /// Ends what was cancelled while its process died, and forgets what has ended long ago.
    private func tidy(_ limits: RecordLimits) throws(RecordError) {
        let database = try database()
        try database.transaction { () throws(RecordError) in
            var cancelled: [Int64] = []
            try database.rows(
                "SELECT number, runner FROM install WHERE outcome IS NULL AND is_cancelled = 1"
            ) { row throws(RecordError) in
                if !isAlive(row.text(1)) { cancelled.append(row.number(0)) }
            }
            for number in cancelled { try finishCancelled(number, database) }
            let (seconds, attoseconds) = limits.finishedAge.components
            let oldest = time - seconds * 1000 - attoseconds / 1_000_000_000_000_000
            try database.run(
                """
                DELETE FROM install WHERE outcome IS NOT NULL AND (finished_at < ? OR number NOT IN
                (SELECT number FROM install WHERE outcome IS NOT NULL ORDER BY finished_at DESC, number DESC LIMIT ?))
                """,
                [.number(oldest), .number(Int64(limits.finishedCount))]
            )
        }
    }

    /// Ends an install that no process runs.
    func finishCancelled(_ number: Int64, _ database: Database) throws(RecordError) {
        try database.run(
            """
            UPDATE install SET outcome = 'cancelled', stage = 'finished', failed_stage = stage, is_held = 0,
            is_cancelled = 1, runner = NULL, process = NULL, changed_at = ?1, finished_at = ?1 WHERE number = ?2
            """,
            [.number(time), .number(number)]
        )
    }

    /// Whether the process of a run lives.
    func isAlive(_ runner: String?) -> Bool {
        runner.map { RunLease.isAlive($0, in: folder.runsPath) } ?? false
    }

    /// `20260730-101112`, in UTC.
    private static func stamp(_ date: Date) -> String {
        var text = ""
        for letter in date.formatted(.iso8601) where letter.isNumber || letter == "T" {
            text.append(letter == "T" ? "-" : letter)
        }
        return text
    }
}
