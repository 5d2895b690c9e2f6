import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The folder of a record: the database, and what says which processes use it.
///
/// | name | is |
/// |---|---|
/// | `installs.sqlite`, `-wal`, `-shm` | the database |
/// | `open.lock` | held for the moment in which a database is looked at and set aside |
/// | `runs/RUN` | locked by one process while it lives, see ``RunLease`` |
struct RecordFolder {
    let path: String
    var databasePath: String { path + "/installs.sqlite" }
    var runsPath: String { path + "/runs" }

    /// Makes what is missing.
    init(_ path: String) throws(RecordError) {
        self.path = path
        do {
            try makeFolders(path)
            try makeFolders(path + "/runs")
        } catch {
            throw RecordError(error)
        }
    }

    /// Opens the database, brought up to date; one that is of no use is set aside first, which the notice says.
    ///
    /// - Parameter stamp: makes the name of one that is set aside.
    func connect(stamp: String) throws(RecordError) -> (Database, notice: String?) {
        // Two processes must not set aside what the other has just made.
        let lock = open(path + "/open.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw RecordError(FileFailure("open", path + "/open.lock", errorNumber: errno)) }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw RecordError(FileFailure("lock", path, errorNumber: errno)) }
        }
        var notice: String?
        switch try look() {
        case .usable: break
        case .newer(let version):
            let aside = try setAside(stamp)
            notice =
                "The record of installs is of version \(version), and this ferry knows \(Schema.version). It was set "
                + "aside as \(aside), where the newer ferry can have it back, and a new one begun."
        case .useless(let why):
            let aside = try setAside(stamp)
            notice =
                "The record of installs is damaged (\(why)). It was set aside as \(aside), and a new one begun: "
                + "installs that were under way must be started anew."
        }
        let database = try Database(path: databasePath)
        // A fact is on the disk when COMMIT returns.
        try database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
        let version = try database.number("PRAGMA user_version") ?? 0
        try Schema.migrate(database, from: version)
        return (database, notice)
    }

    private func look() throws(RecordError) -> Schema.State {
        let database = try Database(path: databasePath)
        database.keepLogOnClose(true)
        return try Schema.state(of: database)
    }

    /// Gives the database another name, with all that belongs to it; says which.
    private func setAside(_ stamp: String) throws(RecordError) -> String {
        var aside = databasePath + "." + stamp
        var number = 1
        while access(aside, F_OK) == 0 || access(aside + "-wal", F_OK) == 0 {
            number += 1
            aside = databasePath + ".\(stamp)-\(number)"
        }
        // The log goes first: beside a new database, SQLite would take it for that one's.
        for ending in ["-wal", "-shm", "-journal", ""] {
            let name = databasePath + ending
            guard rename(name, aside + ending) != 0, errno != ENOENT else { continue }
            throw RecordError(FileFailure("rename", name, errorNumber: errno))
        }
        NewFile.syncFolder(of: databasePath)
        return aside
    }
}
