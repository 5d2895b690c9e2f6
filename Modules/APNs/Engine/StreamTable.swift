/// The pushes under way on a connection, by the number of their stream.
///
/// Streams of a client have the odd numbers in order (RFC 9113 §5.1.1), so a ring of slots finds each without hashing. It
/// grows with the span from the oldest open stream to the newest.
struct StreamTable {
    private var slots: [(stream: Int32, push: Push)?] = Array(repeating: nil, count: 64)
    /// How many are under way.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Every push under way, in no order.
    var pushes: [Push] { slots.compactMap { $0?.push } }

    /// The push of a stream; `nil` where it has none of ours.
    subscript(stream: Int32) -> Push? {
        guard stream > 0, let entry = slots[index(stream)], entry.stream == stream else { return nil }
        return entry.push
    }

    /// Adds the push of a new stream.
    mutating func insert(_ push: Push, _ stream: Int32) {
        while slots[index(stream)] != nil { grow() }
        slots[index(stream)] = (stream, push)
        count += 1
    }

    /// Takes out the push of a stream.
    mutating func remove(_ stream: Int32) -> Push? {
        guard let push = self[stream] else { return nil }
        slots[index(stream)] = nil
        count -= 1
        return push
    }

    /// The stream of a push.
    func stream(of push: Push) -> Int32? {
        slots.lazy.compactMap { $0 }.first { $0.push === push }?.stream
    }

    /// Takes out all.
    mutating func removeAll() -> [Push] {
        defer { self = StreamTable() }
        return pushes
    }

    private func index(_ stream: Int32) -> Int { Int(stream >> 1) & (slots.count - 1) }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: nil, count: old.count * 2)
        // Numbers that differed in fewer bits differ in one more.
        for case let entry? in old { slots[index(entry.stream)] = entry }
    }
}
