#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A host with a ``SimulatedPhone`` behind it, for the tests of apps and reporters.
///
/// Time passes by ``advance(to:)`` only.
public actor SimulatedHost: LiveActivityHost {
    /// What it can do.
    public nonisolated let abilities: HostAbilities
    /// What the phone tells.
    public nonisolated let events: AsyncStream<LifeInput>
    private let event: AsyncStream<LifeInput>.Continuation
    private var phone: SimulatedPhone

    /// The notification that stands, and how often one was shown.
    public private(set) var isNoticeShown = false
    /// How often the user was told to tap.
    public private(set) var notices = 0
    private let bytes: Int

    /// A host of that phone: an app on it, unless the abilities are those of a server. Each push has so many bytes.
    public init(
        _ phone: SimulatedPhone,
        abilities: HostAbilities = [.requests, .isOnDevice, .pushesStarts, .hearsWidget],
        bytes: Int = 400
    ) {
        self.bytes = bytes
        self.phone = phone
        self.abilities = abilities
        // Unbounded: a phone says a few things an hour, and a fact must not get lost.
        (events, event) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
    }

    /// Looks at the phone, or does something with it.
    public func with<Value: Sendable>(_ body: @Sendable (inout SimulatedPhone) -> Value) -> Value {
        body(&phone)
    }

    /// Lets time pass; what the phone tells meanwhile goes to ``events``.
    public func advance(to date: Date) {
        for told in phone.advance(to: date) { event.yield(told.input) }
    }

    /// No more events: the keeper's run ends.
    public func finish() {
        event.finish()
    }

    /// What the app knows at launch.
    public func launch() async -> [LifeInput] { phone.atLaunch }

    /// Asks the phone.
    public func request(_ start: IslandStart) async throws(HostRefusal) -> FoundIsland {
        do {
            return try phone.request(start, bytes: bytes)
        } catch {
            throw HostRefusal(error.rawValue)
        }
    }

    /// Pushes a start.
    public func pushStart(_ start: IslandStart, to token: PushToken) async -> PushAnswer {
        phone.push(SimulatedPush(start, to: token, bytes: bytes))
    }

    /// Updates on the device, or by push.
    public func update(_ update: IslandUpdate) async -> PushAnswer {
        guard !abilities.contains(.isOnDevice) else {
            phone.update(update)
            return .ok
        }
        return SimulatedPush(update, bytes: bytes).map { phone.push($0) } ?? .none
    }

    /// Ends on the device, or by push.
    public func end(_ end: IslandEnd) async -> PushAnswer {
        guard !abilities.contains(.isOnDevice) else {
            phone.end(end)
            return .ok
        }
        return SimulatedPush(end, bytes: bytes).map { phone.push($0) } ?? .none
    }

    /// Shows or takes away the notification.
    public func notifyTapToUpdate(_ isNeeded: Bool) async {
        isNoticeShown = isNeeded
        if isNeeded { notices += 1 }
    }
}

extension SimulatedPush {
    /// The push of a start; a silent one has an alert too, an empty one.
    public init(_ start: IslandStart, to token: PushToken, bytes: Int = 400) {
        self.init(
            .start(startedAt: start.startedAt, hasAlert: true, isSilent: start.isSilent),
            to: token,
            timestamp: start.timestamp,
            seq: start.seq,
            staleAt: start.staleAt,
            bytes: bytes
        )
    }

    /// The push of an update; `nil` without a token.
    public init?(_ update: IslandUpdate, bytes: Int = 400) {
        guard let token = update.token else { return nil }
        self.init(
            .update,
            to: token,
            timestamp: update.timestamp,
            seq: update.seq,
            staleAt: update.staleAt,
            bytes: bytes
        )
    }

    /// The push of an end; `nil` without a token.
    public init?(_ end: IslandEnd, bytes: Int = 400) {
        guard let token = end.token else { return nil }
        self.init(.end(dismissAt: end.dismissAt), to: token, timestamp: end.timestamp, seq: end.seq, bytes: bytes)
    }
}
