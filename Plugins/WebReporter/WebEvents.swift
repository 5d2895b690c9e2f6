/// The events of one viewer, as bytes of a `text/event-stream`.
///
/// Begins with the state, or with what came after the event that the viewer had last. Ends when nothing more comes, when
/// the viewer is too far behind, and when the reading task is cancelled. For one reader.
public struct WebEvents: AsyncSequence, Sendable {
    /// Some whole events.
    public typealias Element = [UInt8]
    /// Reading never fails.
    public typealias Failure = Never

    private let seat: Seat
    private let start: EventLog.Cursor

    init?(_ hub: EventHub, after id: String?) {
        guard let (viewer, cursor) = hub.enter(after: id) else { return nil }
        seat = Seat(hub: hub, viewer: viewer)
        start = cursor
    }

    /// Reads from the start.
    public func makeAsyncIterator() -> Iterator {
        Iterator(seat: seat, cursor: start)
    }

    /// Waits for one piece after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let seat: Seat
        fileprivate var cursor: EventLog.Cursor

        /// The next events; `nil` at the end.
        public mutating func next() async -> [UInt8]? {
            while !Task.isCancelled {
                switch seat.hub.take(&cursor) {
                case .bytes(let bytes): return bytes
                case .wait: await seat.hub.wait(seat.viewer, cursor)
                case .end, .tooLate: return nil
                }
            }
            return nil
        }
    }
}

/// The place of a viewer; when it is gone, so is the viewer.
final class Seat: Sendable {
    let hub: EventHub
    let viewer: Int

    init(hub: EventHub, viewer: Int) {
        self.hub = hub
        self.viewer = viewer
    }

    deinit {
        hub.leave(viewer)
    }
}
