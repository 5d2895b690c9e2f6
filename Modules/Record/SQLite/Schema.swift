/// The form of the database, and how an older one comes to it.
enum Schema {
    /// `PRAGMA application_id`: “Frry”, so that nobody else's database is taken for ours.
    static let applicationID: Int64 = 0x4672_7279

    /// One step from each version (`PRAGMA user_version`) to the next; what was released is never changed.
    static let steps: [String] = [
        // 0 → 1
        """
        CREATE TABLE install (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            request TEXT NOT NULL,
            title TEXT NOT NULL,
            bundle_id TEXT,
            app_version TEXT,
            stage TEXT NOT NULL,
            is_held INTEGER NOT NULL DEFAULT 0,
            is_cancelled INTEGER NOT NULL DEFAULT 0,
            revision INTEGER NOT NULL DEFAULT 0,
            runner TEXT,
            process INTEGER,
            download_path TEXT,
            download_bytes INTEGER,
            download_sha256 BLOB,
            download_is_original INTEGER,
            signed_path TEXT,
            signed_bytes INTEGER,
            signed_sha256 BLOB,
            signed_input_sha256 BLOB,
            signed_fingerprint TEXT,
            outcome TEXT,
            location TEXT,
            message TEXT,
            remedy TEXT,
            failed_stage TEXT,
            added_at INTEGER NOT NULL,
            changed_at INTEGER NOT NULL,
            finished_at INTEGER
        );
        """,
        // 1 → 2: how far a stage is, for “ferry jobs”, and how often an install was begun.
        """
        ALTER TABLE install ADD COLUMN completed INTEGER;
        ALTER TABLE install ADD COLUMN total INTEGER;
        ALTER TABLE install ADD COLUMN unit TEXT;
        ALTER TABLE install ADD COLUMN starts INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX install_unfinished ON install (number) WHERE outcome IS NULL;
        """,
    ]

    /// The version that this program writes.
    static var version: Int64 { Int64(steps.count) }

    /// What a database is to this program.
    enum State: Equatable {
        /// Empty, or of a version that it can bring up to its own.
        case usable(version: Int64)
        /// Written by a program that knows more.
        case newer(version: Int64)
        /// None of ours, or damaged; why.
        case useless(String)
    }

    /// Looks at a database without changing it.
    static func state(of database: Database) throws(RecordError) -> State {
        do throws(RecordError) {
            let version = try database.number("PRAGMA user_version") ?? 0
            let owner = try database.number("PRAGMA application_id") ?? 0
            let tables = try database.number("SELECT count(*) FROM sqlite_schema") ?? 0
            if version == 0, owner == 0, tables == 0 { return .usable(version: 0) }
            guard owner == applicationID, version > 0 else { return .useless("it is no record of ferry's") }
            if version > Self.version { return .newer(version: version) }
            let check = try database.text("PRAGMA quick_check(1)")
            return check == "ok" ? .usable(version: version) : .useless(check ?? "it cannot be checked")
        } catch {
            guard error.code == .damaged else { throw error }
            return .useless(error.message)
        }
    }

    /// Brings a usable database up to ``version``, each step whole or not at all.
    static func migrate(_ database: Database, from version: Int64) throws(RecordError) {
        for (index, step) in steps.enumerated().dropFirst(Int(version)) {
            try database.transaction { () throws(RecordError) in
                try database.execute(step)
                try database.execute(
                    "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(index + 1);"
                )
            }
        }
    }
}
