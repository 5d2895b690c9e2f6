/// How often each of many may ask: a bucket for each that fills up again by itself.
struct RateLimit: Sendable {
    /// How many are known at once; whose bucket is full again is forgotten first.
    static let maximumKeys = 10_000

    private struct Bucket: Sendable {
        var rest: Double
        var at: Double
    }

    private let burst: Double
    private let perSecond: Double
    private var buckets: [String: Bucket] = [:]
    /// When full buckets were forgotten last.
    private var forgotAt = -Double.infinity

    /// How many are known.
    var count: Int { buckets.count }

    init(burst: Int, perSecond: Double) {
        self.burst = Double(burst)
        self.perSecond = perSecond
    }

    /// Takes one of `key`'s; gives after how many seconds there is one again where there is none.
    ///
    /// - Parameter now: in seconds.
    mutating func take(_ key: String, at now: Double) -> Double? {
        var bucket = filled(key, at: now)
        defer { keep(bucket, key, at: now) }
        guard bucket.rest >= 1 else { return (1 - bucket.rest) / perSecond }
        bucket.rest -= 1
        return nil
    }

    private func filled(_ key: String, at now: Double) -> Bucket {
        guard var bucket = buckets[key] else { return Bucket(rest: burst, at: now) }
        bucket.rest = min(burst, bucket.rest + max(0, now - bucket.at) * perSecond)
        bucket.at = now
        return bucket
    }

    private mutating func keep(_ bucket: Bucket, _ key: String, at now: Double) {
        if buckets[key] == nil, buckets.count >= Self.maximumKeys {
            // To look at all of them takes a while, so it is done once a second at most, however many new names come.
            guard abs(now - forgotAt) >= 1 else { return }
            forgotAt = now
            buckets = buckets.filter { filled($0.key, at: now).rest < burst }
            // All of them busy: whoever comes last is not counted, rather than that all memory is theirs.
            guard buckets.count < Self.maximumKeys else { return }
        }
        buckets[key] = bucket
    }
}
