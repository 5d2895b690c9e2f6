#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One push that starts, updates or ends a Live Activity: the body and what its headers should say.
///
/// A pure value: the time comes in, nothing is sent. Numbers that are none, and dates that no push may have, are set
/// right when it is made.
public struct LiveActivityPush: Sendable, Hashable {
    /// How long a body may be, in bytes.
    public static let sizeLimit = 4_096
    /// How long the body of a push to a broadcast channel may be.
    public static let broadcastSizeLimit = 5_120
    /// How far ahead a dismissal may be: the system takes the activity away then in any case.
    public static let longestDismissal: Duration = .seconds(4 * 3_600)
    /// How long a collapse id may be, in bytes.
    public static let maximumCollapseIDBytes = 64

    /// `aps.event`.
    public enum Event: String, Sendable, Hashable, CaseIterable {
        /// Makes a new activity.
        case start
        /// Shows another state.
        case update
        /// Shows a last state and lets go.
        case end
    }

    /// When an activity that ended leaves the screen.
    public enum Dismissal: Sendable, Hashable {
        /// When the system likes, at most four hours later.
        case bySystem
        /// Now.
        case atOnce
        /// After a while: at most ``LiveActivityPush/longestDismissal``.
        case after(Duration)
    }

    /// What happens to the activity.
    public let event: Event
    /// The state as it is wished; ``encode(limit:)`` may shed some of it.
    public let state: IslandState
    /// What never changes; only for a start.
    public let attributes: IslandAttributes?
    /// What is told aloud; a start always has one, be it ``PushAlert/silent``.
    public let alert: PushAlert?
    /// Whether numbers moved or something happened.
    public let importance: Importance
    /// `aps.timestamp`: seconds since 1970. A push that is older than the last one is dropped by the system.
    public let timestamp: Int
    /// `aps.stale-date`: when the state is out of date, in seconds since 1970.
    public let staleAt: Int?
    /// `aps.dismissal-date`, in seconds since 1970; only for an end.
    public let dismissAt: Int?
    /// `aps.relevance-score`, from 0 to 100: which activity the system prefers.
    public let relevance: Double?
    /// Whether a start asks for a token for updates: `input-push-token`, from iOS 18 on.
    public let wantsToken: Bool

    /// Makes a new activity on a device.
    ///
    /// - Parameters:
    ///   - attributes: What never changes.
    ///   - state: The first state.
    ///   - alert: What is told. The default makes no sound and shows nothing, for a renewal; without any alert the
    ///     system drops a start.
    ///   - date: Now.
    ///   - staleDate: When the state is out of date.
    ///   - relevance: Which activity the system prefers.
    ///   - wantsToken: Whether the device is asked for a token for updates (iOS 18).
    public static func start(
        _ attributes: IslandAttributes,
        _ state: IslandState,
        alert: PushAlert = .silent,
        at date: Date,
        staleDate: Date? = nil,
        relevance: Double? = nil,
        wantsToken: Bool = true
    ) -> LiveActivityPush {
        LiveActivityPush(
            .start,
            state,
            attributes,
            alert,
            .fact,
            date,
            staleDate,
            nil,
            relevance,
            wantsToken: wantsToken
        )
    }

    /// Shows another state.
    public static func update(
        _ state: IslandState,
        _ importance: Importance,
        alert: PushAlert? = nil,
        at date: Date,
        staleDate: Date? = nil,
        relevance: Double? = nil
    ) -> LiveActivityPush {
        LiveActivityPush(.update, state, nil, alert, importance, date, staleDate, nil, relevance, wantsToken: false)
    }

    /// Shows the last state and lets go of the activity.
    public static func end(
        _ state: IslandState,
        dismissal: Dismissal = .bySystem,
        alert: PushAlert? = nil,
        at date: Date
    ) -> LiveActivityPush {
        LiveActivityPush(.end, state, nil, alert, .fact, date, nil, dismissal, nil, wantsToken: false)
    }

    private init(
        _ event: Event,
        _ state: IslandState,
        _ attributes: IslandAttributes?,
        _ alert: PushAlert?,
        _ importance: Importance,
        _ date: Date,
        _ staleDate: Date?,
        _ dismissal: Dismissal?,
        _ relevance: Double?,
        wantsToken: Bool
    ) {
        self.event = event
        self.state = state
        self.attributes = attributes
        self.alert = alert
        self.importance = importance
        timestamp = Self.seconds(date) ?? 0
        staleAt = staleDate.flatMap(Self.seconds)
        dismissAt =
            switch dismissal {
            case nil, .bySystem: nil
            // A moment that has passed, not the present one: clocks differ.
            case .atOnce: max(timestamp - 60, 0)
            case .after(let time):
                timestamp + Int(min(max(time, .zero), Self.longestDismissal).components.seconds)
            }
        self.relevance = relevance.flatMap { $0.isNaN ? nil : min(max($0, 0), 100) }
        self.wantsToken = wantsToken
    }

    /// Whole seconds since 1970; `nil` for what is before that, after 2300, or no date. A 32-bit watch ends in 2038.
    private static func seconds(_ date: Date) -> Int? {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        guard seconds >= 0, seconds < 10_413_792_000, seconds < Double(Int.max) - 86_400 else { return nil }
        return Int(seconds)
    }
}
