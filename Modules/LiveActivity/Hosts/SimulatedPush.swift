#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A push to a ``SimulatedPhone``: what of it matters to the phone.
public struct SimulatedPush: Sendable, Hashable {
    /// What `aps.event` says.
    public enum Event: Sendable, Hashable {
        /// A start; without an alert it is answered 200 and dropped. A silent one has an empty alert.
        case start(startedAt: Date, hasAlert: Bool, isSilent: Bool = false)
        /// An update.
        case update
        /// An end; without a date it leaves the screen at once.
        case end(dismissAt: Date?)
    }

    /// What it does.
    public var event: Event
    /// To whom.
    public var token: PushToken
    /// `aps.timestamp`, in seconds since 1970.
    public var timestamp: Int
    /// The number of the state.
    public var seq: Int
    /// `aps.stale-date`; `nil` for never.
    public var staleAt: Date?
    /// How long the body is, in bytes.
    public var bytes: Int

    /// A push; 400 bytes long unless said otherwise.
    public init(
        _ event: Event,
        to token: PushToken,
        timestamp: Int,
        seq: Int,
        staleAt: Date? = nil,
        bytes: Int = 400
    ) {
        self.event = event
        self.token = token
        self.timestamp = timestamp
        self.seq = seq
        self.staleAt = staleAt
        self.bytes = bytes
    }
}
