/// Makes provider tokens, as few as can be: one signature serves every push until it is time for the next.
struct TokenMint {
    /// What is to be done after the service refused a token.
    enum Order: Equatable {
        /// Send the push again: a newer token is there, or was made for it.
        case again
        /// Give the answer to the caller: a new token would help no more, or comes too soon.
        case giveUp
    }

    private let key: ProviderKey
    /// Where the last token is kept for other processes; `nil` for nowhere.
    private let file: ProviderTokenFile?
    private(set) var token: ProviderToken?
    /// Counts the tokens; 0 before the first.
    private(set) var serial = 0
    /// How many of them were signed here.
    private(set) var signed = 0
    /// When the last one was made out of turn, by the timer.
    private var forcedAt: Duration?

    init(_ key: ProviderKey, _ file: ProviderTokenFile? = nil) {
        self.key = key
        self.file = file
    }

    /// The token to send now; signs where the last one is too old.
    mutating func current(wallSeconds: Int64) throws(APNsError) -> ProviderToken {
        if let token, token.isFresh(at: wallSeconds) { return token }
        if let kept = file?.token(for: key), kept.isFresh(at: wallSeconds) { return take(kept) }
        return try make(wallSeconds)
    }

    /// The service called the token number `serial` expired, though by our clock it was not.
    ///
    /// One new token in 20 minutes is made for that, not more: APNs punishes frequent ones.
    mutating func refused(serial refused: Int, wallSeconds: Int64, now: Duration) throws(APNsError) -> Order {
        guard refused == serial else { return .again }
        if let kept = file?.token(for: key), kept.issuedAt > token?.issuedAt ?? 0, kept.isFresh(at: wallSeconds) {
            _ = take(kept)
            return .again
        }
        if let forcedAt, now - forcedAt < ProviderToken.shortestAge { return .giveUp }
        forcedAt = now
        _ = try make(wallSeconds)
        return .again
    }

    private mutating func make(_ wallSeconds: Int64) throws(APNsError) -> ProviderToken {
        let made = try ProviderToken(key, issuedAt: wallSeconds)
        file?.keep(made, of: key)
        signed += 1
        return take(made)
    }

    private mutating func take(_ other: ProviderToken) -> ProviderToken {
        token = other
        serial += 1
        return other
    }
}
