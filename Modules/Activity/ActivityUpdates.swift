/// The updates of one reader: every fact in order, progress as its latest state.
///
/// Nothing is produced ahead of the reader. It starts with the facts that make up the present state, so that whoever
/// comes late sees the same installs as everybody else. For one reader: two iterators would share the updates between
/// them. It ends after ``Fact/closed``, when the reading task is cancelled, when the center goes away, and without that
/// fact when the reader was so far behind that it was cut off.
public struct ActivityUpdates: AsyncSequence, Sendable {
    /// Reading never fails.
    public typealias Failure = Never

    private weak var center: ActivityCenter?
    let ticket: Ticket

    init(center: ActivityCenter, ticket: Ticket) {
        self.center = center
        self.ticket = ticket
    }

    /// Reads on where the last reading stopped.
    public func makeAsyncIterator() -> Iterator {
        Iterator(center: center, ticket: ticket)
    }

    /// Waits for one update after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate weak var center: ActivityCenter?
        fileprivate let ticket: Ticket

        /// The next update; `nil` at the end.
        public mutating func next() async -> ActivityUpdate? {
            await next(isolation: nil)
        }

        /// The next update; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ActivityUpdate? {
            while !Task.isCancelled {
                // The center is not held while we wait: it goes when its owner lets it go.
                switch await center?.take(ticket.id) {
                case .update(let update): return update
                case .end, nil: return nil
                case .wait:
                    var bell = ticket.bell.makeAsyncIterator()
                    guard await bell.next(isolation: actor) != nil else { return nil }
                }
            }
            return nil
        }
    }
}

/// What a reader holds; when it is gone, so is the reader.
final class Ticket: Sendable {
    let id: Int
    /// Rings when there may be something to take. Holds one ring at most, for more would say the same.
    let bell: AsyncStream<Void>

    init(id: Int, bell: AsyncStream<Void>) {
        self.id = id
        self.bell = bell
    }
}
