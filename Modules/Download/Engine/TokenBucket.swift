import FerryBytes

/// A limit of bytes a second: what was taken too early is owed, and nothing more is taken until it is paid.
struct TokenBucket {
    /// The limit.
    let bytesPerSecond: Int64
    /// What may be taken now; below zero for a debt.
    private var balance = 0.0
    private var filledAt: Duration?

    init(bytesPerSecond: Int64) {
        self.bytesPerSecond = max(1, bytesPerSecond)
    }

    /// The most that is saved up while nothing is taken: a tenth of a second.
    private var capacity: Double { Double(bytesPerSecond) / 10 }

    /// Whether anything may be taken.
    mutating func isOpen(at now: Duration) -> Bool {
        fill(now)
        return balance >= 0
    }

    /// Takes bytes, also more than there are.
    mutating func spend(_ bytes: Int, at now: Duration) {
        fill(now)
        balance -= Double(bytes)
    }

    /// How long until something may be taken again.
    mutating func wait(at now: Duration) -> Duration {
        fill(now)
        return balance >= 0 ? .zero : .milliseconds(Int64(min(60_000, -balance * 1000 / Double(bytesPerSecond))) + 1)
    }

    private mutating func fill(_ now: Duration) {
        let passed = filledAt.map { max(0, (now - $0).inSeconds) } ?? 0
        filledAt = now
        balance = min(capacity, balance + passed * Double(bytesPerSecond))
    }
}

/// The limits that the bytes of one download come under: its own, and the one of all.
///
/// Belongs to the thread that drives the transfers.
final class Throttle {
    private var bucket: TokenBucket?
    private let shared: Throttle?

    /// Limits nothing where there is neither number nor `shared`.
    init(bytesPerSecond: Int64?, within shared: Throttle? = nil) {
        bucket = bytesPerSecond.map { TokenBucket(bytesPerSecond: $0) }
        self.shared = shared
    }

    /// The narrowest limit; `nil` for none.
    var bytesPerSecond: Int64? {
        [bucket?.bytesPerSecond, shared?.bytesPerSecond].compactMap { $0 }.min()
    }

    /// Whether bytes may be taken.
    func isOpen(at now: Duration) -> Bool {
        // Both are asked: each is to know what time it is.
        let isOpen = bucket?.isOpen(at: now) ?? true
        return (shared?.isOpen(at: now) ?? true) && isOpen
    }

    /// Takes bytes.
    func spend(_ bytes: Int, at now: Duration) {
        bucket?.spend(bytes, at: now)
        shared?.spend(bytes, at: now)
    }

    /// How long until bytes may be taken again.
    func wait(at now: Duration) -> Duration {
        max(bucket?.wait(at: now) ?? .zero, shared?.wait(at: now) ?? .zero)
    }
}
