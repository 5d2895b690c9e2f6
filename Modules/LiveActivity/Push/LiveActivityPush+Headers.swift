extension LiveActivityPush {
    /// `apns-push-type`.
    public static let pushType = "liveactivity"

    /// `apns-topic` for an app.
    public static func topic(bundleID: String) -> String { bundleID + ".push-type.liveactivity" }

    /// `apns-priority`: 5 where only numbers moved, which is free of the system's budget; 10 for what happened.
    public var priority: Int {
        event == .update && importance == .progress && alert == nil ? 5 : 10
    }

    /// `apns-collapse-id` for the pushes of one activity: a later state replaces one that was not delivered yet, as
    /// each holds everything. `nil` for a start, which no other push stands for.
    public func collapseID(for activity: String) -> String? {
        guard event != .start else { return nil }
        var kept = ""
        var room = Self.maximumCollapseIDBytes
        for character in activity {
            room -= character.utf8.count
            guard room >= 0 else { break }
            kept.append(character)
        }
        return kept.isEmpty ? nil : kept
    }

    /// `apns-expiration`, in seconds since 1970: when Apple's servers may give up on a device that cannot be reached.
    ///
    /// Numbers are of no use after two minutes; a start must not arrive after the next attempt, five minutes later; what
    /// happened is worth an hour, and an end four, after which the activity is gone by itself.
    public var expiration: Int {
        let seconds =
            switch event {
            case .start: 300
            case .update: importance == .progress ? 120 : 3_600
            case .end: 4 * 3_600
            }
        return timestamp + seconds
    }
}
