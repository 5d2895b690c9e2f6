public import FerryActivity

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The record of one machine: an SQLite database in a folder, which any number of processes may share.
///
/// All of it is done on one thread of its own. Facts and orders are synced before a call returns (`synchronous = FULL`,
/// write-ahead log); progress is not. Orders of other processes are noticed by `PRAGMA data_version`, five times a second
/// while somebody listens: it needs no file beside the database, works on every system, and misses nothing, for what was
/// ordered lies in the record and not in a message.
public final class SQLiteRecord: InstallRecord {
    /// What people should know of how it was opened: that a database was set aside, and where; `nil` for nothing.
    public let notice: String?
    private let thread: RecordThread

    /// Opens the record in `folder`; makes what is missing.
    ///
    /// A database that is damaged, or of a newer ferry, is set aside under another name; then ``notice`` says so. What was
    /// cancelled while its process died has ended, and what ended longer ago than `limits` say is forgotten.
    ///
    /// - Parameter now: the date of what happens now.
    public init(
        folder: String,
        limits: RecordLimits = RecordLimits(),
        now: @escaping @Sendable () -> Date
    ) async throws(RecordError) {
        thread = try await RecordThread.start { () throws(RecordError) in
            try RecordCore(folder, limits: limits, now: now)
        }
        notice = try await thread.perform { core in core.notice }
    }

    deinit {
        thread.abandon()
    }

    /// Lets go of the installs that this process runs, and closes the database. Nothing can be written any more.
    public func close() async {
        await thread.close()
    }

    /// See ``InstallRecord``.
    public func add(_ id: InstallID, _ request: RecordedRequest, title: String) async throws(RecordError) {
        try await thread.perform { core throws(RecordError) in try core.add(id, request, title: title) }
    }

    /// See ``InstallRecord``.
    public func claim(_ id: InstallID) async throws(RecordError) -> RecordedInstall {
        try await thread.perform { core throws(RecordError) in try core.claim(id) }
    }

    /// See ``InstallRecord``.
    public func letGo(_ id: InstallID) async throws(RecordError) {
        try await thread.perform { core throws(RecordError) in try core.letGo(id) }
    }

    /// See ``InstallRecord``.
    public func write(_ fact: RecordedFact, of id: InstallID) async throws(RecordError) {
        try await thread.perform { core throws(RecordError) in try core.write(fact, of: id) }
    }

    /// See ``InstallRecord``.
    public func note(_ progress: StageProgress, of id: InstallID) {
        let note = StageNote(completed: progress.completed, total: progress.total, unit: progress.unit.rawValue)
        thread.note(note, of: id.rawValue)
    }

    /// See ``InstallRecord``.
    public func order(_ order: InstallOrder, _ ids: [InstallID]) async throws(RecordError) -> [InstallID: Standing] {
        try await thread.perform { core throws(RecordError) in try core.order(order, ids) }
    }

    /// See ``InstallRecord``.
    public func standings(_ ids: [InstallID]) async throws(RecordError) -> [InstallID: Standing] {
        try await thread.perform { core throws(RecordError) in try core.standings(ids) }
    }

    /// See ``InstallRecord``.
    public func installs(all: Bool) async throws(RecordError) -> [RecordedInstall] {
        try await thread.perform { core throws(RecordError) in
            try core.installs(where: all ? "1" : "outcome IS NULL")
        }
    }

    /// See ``InstallRecord``.
    public func changes() -> AsyncStream<Void> {
        thread.watch()
    }
}
