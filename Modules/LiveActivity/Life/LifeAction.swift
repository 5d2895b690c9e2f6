#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is to be done, in this order.
public enum LifeAction: Sendable, Hashable {
    /// Keep the record. Comes before what cannot be taken back.
    case save
    /// Ask the system on this device for an activity; only while the app is in front.
    case request(IslandStart)
    /// Have an activity started by push.
    case pushStart(IslandStart, PushToken)
    /// Show the present state.
    case update(IslandUpdate)
    /// End an activity.
    case end(IslandEnd)
    /// Tell the user, by a notification, that a tap brings the activity up to date.
    case notifyTapToUpdate
    /// Take that notification away.
    case withdrawNotice
}

/// A start.
public struct IslandStart: Sendable, Hashable {
    /// The number of the state, for ``FoundIsland/seq``.
    public let seq: Int
    /// For `aps.timestamp`, in seconds since 1970.
    public let timestamp: Int
    /// Goes into the attributes, so that the activity knows its age.
    public let startedAt: Date
    /// The stale date.
    public let staleAt: Date
    /// Whether nobody should hear it: an alert with empty texts and `interruption-level: passive`, never no alert.
    public let isSilent: Bool
}

/// An update.
public struct IslandUpdate: Sendable, Hashable {
    /// Which activity.
    public let island: IslandID
    /// Its token; `nil` for a host on the device.
    public let token: PushToken?
    /// The number of the state.
    public let seq: Int
    /// For `aps.timestamp`, in seconds since 1970; newer than that of every update before.
    public let timestamp: Int
    /// The stale date.
    public let staleAt: Date
    /// Whether it should get through at once.
    public let isUrgent: Bool
    /// Whether the state shows that a tap is needed.
    public let needsTap: Bool
}

/// An end.
public struct IslandEnd: Sendable, Hashable {
    /// Which activity.
    public let island: IslandID
    /// Its token; `nil` for a host on the device.
    public let token: PushToken?
    /// The number of the last state.
    public let seq: Int
    /// For `aps.timestamp`, in seconds since 1970.
    public let timestamp: Int
    /// When it leaves the screen; `nil` for at once.
    public let dismissAt: Date?
}

/// What a host can do.
public struct HostAbilities: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int

    /// Abilities of these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Requests an activity while the app is in front.
    public static let requests = HostAbilities(rawValue: 1)
    /// Pushes a start.
    public static let pushesStarts = HostAbilities(rawValue: 2)
    /// Updates and ends without a token, as it is on the device.
    public static let isOnDevice = HostAbilities(rawValue: 4)
    /// Hears from the widget what it drew. Without it no widget is ever taken for stuck.
    public static let hearsWidget = HostAbilities(rawValue: 8)
}
