#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What happens to the life of an activity.
///
/// A server never sends the three of the foreground: to it the app is always in the background.
public enum LifeInput: Sendable, Hashable {
    /// How many installs run; `began` when one of them is new, which ends the wish of who swiped the last activity.
    case installs(running: Int, began: Bool)
    /// There is something new to show; urgent when it is a fact and not a number that moved.
    case contentChanged(isUrgent: Bool)
    /// The process began. What the phone has, where that is known: on a server it is `nil`.
    case launched(found: [FoundIsland]?)
    /// The process ends.
    case terminates
    /// The app comes to the front. Requests are still refused, so this is only remembered.
    case willEnterForeground
    /// The app is in front: requests are granted.
    case didBecomeActive
    /// The app left the front.
    case didEnterBackground
    /// Time has passed; useful at ``ActivityLife/nextWake``, harmless at any time.
    case tick
    /// Whether activities are wanted and allowed.
    case availability(Availability)
    /// The token for starts came or changed; `nil` when it is known to be void.
    case pushToStartToken(PushToken?)
    /// An activity is on the phone that was started by push, or that we do not know.
    case adopted(FoundIsland)
    /// The system granted the request that we made.
    case requested(FoundIsland)
    /// The system refused it, for this reason.
    case requestRefused(String)
    /// The token of an activity came or changed. From a server's view of an unknown activity, that adopts it.
    case updateToken(IslandID, PushToken)
    /// An activity left the screen.
    case dismissed(IslandID)
    /// An activity ended and may still be on the lock screen.
    case ended(IslandID)
    /// An activity's stale date passed.
    case stale(IslandID)
    /// What was said to a push.
    case answer(LifePush, PushAnswer)
    /// The widget drew the state of that number.
    case widgetSaw(seq: Int)
}

/// An activity as the phone has it.
public struct FoundIsland: Sendable, Hashable, Codable {
    /// Its name.
    public var id: IslandID
    /// Its token, where one has come.
    public var token: PushToken?
    /// When it was started: the attributes say it. `nil` where they do not.
    public var startedAt: Date?
    /// The number of the state that it has; `nil` where that is unknown.
    public var seq: Int?
    /// Whether it is active, stale or not; it is not when it ended or was dismissed and is only still listed.
    public var isActive: Bool
    /// Whether its stale date has passed.
    public var isStale: Bool

    /// An activity, active and fresh unless said otherwise.
    public init(
        id: IslandID,
        token: PushToken? = nil,
        startedAt: Date? = nil,
        seq: Int? = nil,
        isActive: Bool = true,
        isStale: Bool = false
    ) {
        self.id = id
        self.token = token
        self.startedAt = startedAt
        self.seq = seq
        self.isActive = isActive
        self.isStale = isStale
    }
}

/// Whether activities are wanted and allowed.
public enum Availability: Sendable, Hashable, Codable {
    /// Yes.
    case on
    /// Our own switch is off.
    case off
    /// The user switched them off for the app, in Settings.
    case offInSettings
    /// The system has none, for this reason.
    case unsupported(String)
}

/// Which push was answered.
public enum LifePush: Sendable, Hashable, Codable {
    /// The start with that number.
    case start(seq: Int, PushToken)
    /// The update of that activity to that state; the token is `nil` for a host on the device itself.
    case update(IslandID, seq: Int, PushToken?)
    /// The end of that activity.
    case end(IslandID, PushToken?)
}

/// What was said to a push.
public struct PushAnswer: Sendable, Hashable, Codable {
    /// The HTTP status; 0 where there was no answer.
    public var status: Int
    /// Apple's word for it, such as `BadDeviceToken`.
    public var reason: String?
    /// How many seconds to wait, if the answer says so.
    public var retryAfter: TimeInterval?

    /// An answer.
    public init(status: Int, reason: String? = nil, retryAfter: TimeInterval? = nil) {
        self.status = status
        self.reason = reason
        self.retryAfter = retryAfter
    }

    /// It went through, or there is nothing to go through as the host is on the device.
    public static let ok = PushAnswer(status: 200)
    /// Nobody answered.
    public static let none = PushAnswer(status: 0)

    /// Whether the token is void: 404 and 410, and the two words of a 400 that say the same.
    public var isTokenVoid: Bool {
        switch status {
        case 404, 410: true
        case 400: reason == "BadDeviceToken" || reason == "DeviceTokenNotForTopic"
        default: false
        }
    }
}
