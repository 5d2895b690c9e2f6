import Synchronization

/// Keeps the record of a life over relaunches.
///
/// A store for a file writes beside it, syncs and renames, so that a crash leaves the old record or the new one. What
/// cannot be read is told by throwing; the life then begins anew.
public protocol LifeStore: Sendable {
    /// The record that was saved last; `nil` when there is none.
    func load() async throws -> LifeRecord?
    /// Keeps a record. Returns when it would survive a crash.
    func save(_ record: LifeRecord) async throws
}

/// A record in memory, for tests and for a life that needs none beyond its process.
public final class MemoryLifeStore: LifeStore {
    private let state: Mutex<(record: LifeRecord?, saves: Int)>

    /// A store with this record in it.
    public init(_ record: LifeRecord? = nil) {
        state = Mutex((record, 0))
    }

    /// The record that was saved last.
    public var record: LifeRecord? { state.withLock { $0.record } }

    /// How often something was saved.
    public var saves: Int { state.withLock { $0.saves } }

    /// The record that was saved last.
    public func load() async throws -> LifeRecord? { record }

    /// Keeps a record.
    public func save(_ record: LifeRecord) async throws {
        state.withLock { $0 = (record, $0.saves + 1) }
    }
}
