import FerryActivity
import FerryLiveActivity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes of updates what the life of the activity must hear, and the state that is shown.
struct StateFeed {
    /// What is shown.
    private(set) var state = IslandState()
    /// The state that was offered last.
    private var offered: IslandState?
    private var running = -1

    /// Takes an update; gives what the life is to hear of it. What there is to show waits for ``offer(_:at:)``.
    mutating func take(_ update: ActivityUpdate) -> [LifeInput] {
        let activity = update.activity
        state = IslandState(activity, seq: 0, icon: activity.installs.count == 1 ? activity.installs.first?.icon : nil)
        var began = false
        if case .added = update.fact { began = true }
        guard began || state.count != running else { return [] }
        running = state.count
        return [.installs(running: running, began: began)]
    }

    /// Whether there is something new to show and room for it; then it counts as told.
    mutating func offer(_ budget: PushBudget, at now: Date) -> LifeInput? {
        guard let importance = state.importance(since: offered), budget.earliest(importance, at: now) <= now else {
            return nil
        }
        offered = state
        return .contentChanged(isUrgent: importance == .fact)
    }
}
