import FerryActivity

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension RecordCore {
    func add(_ id: InstallID, _ request: RecordedRequest, title: String) throws(RecordError) {
        let database = try database()
        let run = try run()
        try database.transaction { () throws(RecordError) in
            let there = try database.number("SELECT number FROM install WHERE id = ?", [.text(id.rawValue)])
            guard there == nil else {
                throw RecordError(
                    .duplicate,
                    "\(id): there is an install of that id.",
                    remedy: "Give it another id, or go on with the one that is there."
                )
            }
            try database.run(
                """
                INSERT INTO install (id, request, title, stage, runner, process, starts, added_at, changed_at)
                VALUES (?1, ?2, ?3, 'waiting', ?4, ?5, 1, ?6, ?6)
                """,
                [
                    .text(id.rawValue), .text(Self.text(request)), .text(title), .text(run), .number(Int64(getpid())),
                    .number(time),
                ]
            )
        }
    }

    func claim(_ id: InstallID) throws(RecordError) -> RecordedInstall {
        let database = try database()
        let run = try run()
        var refusal: RecordError?
        try database.transaction { () throws(RecordError) in
            var found: (number: Int64, runner: String?, process: Int32, isOver: Bool, isCancelled: Bool)?
            try database.rows(
                "SELECT number, runner, process, outcome, is_cancelled FROM install WHERE id = ?",
                [.text(id.rawValue)]
            ) { row throws(RecordError) in
                found = (
                    row.number(0), row.text(1), Int32(clamping: row.number(2)), row.text(3) ?? "failed" != "failed",
                    row.flag(4)
                )
            }
            guard let found else { throw .unknown(id.rawValue) }
            guard !found.isOver else { throw .finished(id.rawValue) }
            guard !isAlive(found.runner) else { throw .running(id.rawValue, by: found.process) }
            guard !found.isCancelled else {
                // Its process died before it noticed.
                try finishCancelled(found.number, database)
                refusal = .finished(id.rawValue)
                return
            }
            try database.run(
                """
                UPDATE install SET runner = ?, process = ?, starts = starts + 1, changed_at = ?, outcome = NULL,
                message = NULL, remedy = NULL, failed_stage = NULL, finished_at = NULL,
                stage = CASE stage WHEN 'finished' THEN 'waiting' ELSE stage END WHERE number = ?
                """,
                [.text(run), .number(Int64(getpid())), .number(time), .number(found.number)]
            )
        }
        if let refusal { throw refusal }
        guard let install = try installs(where: "id = ?", [.text(id.rawValue)]).first else {
            throw .unknown(id.rawValue)
        }
        return install
    }

    func letGo(_ id: InstallID) throws(RecordError) {
        let database = try database()
        let run = try run()
        try database.transaction { () throws(RecordError) in
            let cancelled = try database.number(
                "SELECT number FROM install WHERE id = ? AND runner = ? AND outcome IS NULL AND is_cancelled = 1",
                [.text(id.rawValue), .text(run)]
            )
            if let cancelled { return try finishCancelled(cancelled, database) }
            try database.run(
                "UPDATE install SET runner = NULL, process = NULL, changed_at = ? WHERE id = ? AND runner = ?",
                [.number(time), .text(id.rawValue), .text(run)]
            )
        }
    }

    func write(_ fact: RecordedFact, of id: InstallID) throws(RecordError) {
        let database = try database()
        let (columns, values) = Self.assignments(fact, time)
        try database.run(
            "UPDATE install SET \(columns), changed_at = ? WHERE id = ? AND runner = ? AND outcome IS NULL",
            values + [.number(time), .text(id.rawValue), .text(try run())]
        )
        guard database.changes == 0 else { return }
        if case .finished(.installed(let location)) = fact {
            // Nobody runs it any more: the app itself has reported.
            try database.run(
                """
                UPDATE install SET outcome = 'installed', location = coalesce(?, location), changed_at = ?
                WHERE id = ? AND outcome = 'delivered'
                """,
                [.optional(location), .number(time), .text(id.rawValue)]
            )
            guard database.changes == 0 else { return }
        }
        // Nobody takes an install from a process that lives: it has ended, or was deleted by hand.
        let there = try database.number("SELECT outcome IS NOT NULL FROM install WHERE id = ?", [.text(id.rawValue)])
        throw there == nil
            ? .unknown(id.rawValue) : there == 1 ? .finished(id.rawValue) : .running(id.rawValue, by: nil)
    }

    private static func assignments(_ fact: RecordedFact, _ time: Int64) -> (String, [Database.Value]) {
        switch fact {
        case .named(let title, let bundleID, let version):
            return (
                "title = ?, bundle_id = ?, app_version = ?",
                [.text(title), .optional(bundleID), .optional(version)]
            )
        case .stage(let stage):
            return ("stage = ?, completed = NULL, total = NULL, unit = NULL", [.text(stage.rawValue)])
        case .downloaded(let file):
            return (
                "download_path = ?, download_bytes = ?, download_sha256 = ?, download_is_original = ?",
                [.text(file.path), .number(file.byteCount), .blob(file.sha256), .flag(file.isOriginal)]
            )
        case .signed(let signature):
            return (
                """
                signed_path = ?, signed_bytes = ?, signed_sha256 = ?, signed_input_sha256 = ?, signed_fingerprint = ?
                """,
                [
                    .text(signature.file.path), .number(signature.file.byteCount), .blob(signature.file.sha256),
                    .blob(signature.inputSHA256), .text(signature.fingerprint),
                ]
            )
        case .finished(let outcome):
            let end =
                "outcome = ?, location = ?, message = ?, remedy = ?, failed_stage = coalesce(?, stage), "
                + "stage = 'finished', is_held = 0, runner = NULL, process = NULL, finished_at = ?"
            let time = Database.Value.number(time)
            switch outcome {
            case .installed(let location):
                return (end, [.text("installed"), .optional(location), .null, .null, .null, time])
            case .delivered(let location):
                return (end, [.text("delivered"), .optional(location), .null, .null, .null, time])
            case .cancelled:
                return (end, [.text("cancelled"), .null, .null, .null, .null, time])
            case .failed(let failure):
                return (
                    end,
                    [
                        .text("failed"), .null, .text(failure.message), .optional(failure.remedy),
                        .text(failure.stage.rawValue), time,
                    ]
                )
            }
        }
    }

    /// Writes progress, which may be lost: without waiting for the disk, and without a word where it fails.
    func write(_ notes: [String: StageNote]) {
        guard let database = try? database(), let run = try? run() else { return }
        try? database.execute("PRAGMA synchronous = NORMAL")
        try? database.transaction { () throws(RecordError) in
            for (id, note) in notes {
                try database.run(
                    "UPDATE install SET completed = ?, total = ?, unit = ? WHERE id = ? AND runner = ? AND outcome IS NULL",
                    [
                        .number(note.completed), note.total.map { .number($0) } ?? .null, .text(note.unit), .text(id),
                        .text(run),
                    ]
                )
            }
        }
        try? database.execute("PRAGMA synchronous = FULL")
    }

    /// One that failed could still be gone on with.
    private static let mayBeCancelled = "(outcome IS NULL OR outcome = 'failed')"

    func order(_ order: InstallOrder, _ ids: [InstallID]) throws(RecordError) -> [InstallID: Standing] {
        let database = try database()
        return try database.transaction { () throws(RecordError) in
            for id in ids {
                let (change, condition) =
                    switch order {
                    case .hold: ("is_held = 1", "is_held = 0 AND outcome IS NULL")
                    case .release: ("is_held = 0", "is_held = 1 AND outcome IS NULL")
                    case .cancel: ("is_cancelled = 1", "is_cancelled = 0 AND \(Self.mayBeCancelled)")
                    }
                try database.run(
                    """
                    UPDATE install SET \(change), revision = revision + 1, changed_at = ?
                    WHERE id = ? AND \(condition)
                    """,
                    [.number(time), .text(id.rawValue)]
                )
                guard order == .cancel else { continue }
                var idle: Int64?
                try database.rows(
                    "SELECT number, runner FROM install WHERE id = ? AND \(Self.mayBeCancelled)",
                    [.text(id.rawValue)]
                ) { row throws(RecordError) in
                    if !isAlive(row.text(1)) { idle = row.number(0) }
                }
                if let idle { try finishCancelled(idle, database) }
            }
            return try standings(ids)
        }
    }

    func standings(_ ids: [InstallID]) throws(RecordError) -> [InstallID: Standing] {
        let database = try database()
        var standings: [InstallID: Standing] = [:]
        for id in ids {
            try database.rows(
                "SELECT revision, is_held, is_cancelled, outcome FROM install WHERE id = ?",
                [.text(id.rawValue)]
            ) { row throws(RecordError) in
                standings[id] = Standing(
                    revision: row.number(0),
                    isHeld: row.flag(1),
                    isCancelled: row.flag(2),
                    isFinished: !row.isNull(3)
                )
            }
        }
        return standings
    }
}
