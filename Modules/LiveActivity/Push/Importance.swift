extension LiveActivityPush {
    /// What an update brings: it decides how urgent the push is.
    public enum Importance: Sendable, Hashable, CaseIterable {
        /// Numbers moved. Costs nothing of the system's budget and may arrive late.
        case progress
        /// Something happened: a stage, a hold, a failure.
        case fact
    }
}

extension IslandState {
    /// Where no length is known, how many bytes are worth an update.
    public static let bytesWorthTelling: Int64 = 5_000_000

    /// What this state brings to who has seen `previous` (`nil` for nothing); `nil` where an update is not worth its cost.
    ///
    /// Whole percentages are, not bytes and not the finish, which are as new as those. ``seq`` does not count.
    public func importance(since previous: IslandState?) -> LiveActivityPush.Importance? {
        guard let previous else { return .fact }
        if facts != previous.facts { return .fact }
        if numbers != previous.numbers { return .progress }
        return nil
    }

    /// What happened: a state that differs in it is told at once.
    private var facts: IslandState {
        IslandState(
            count: count,
            installedCount: installedCount,
            failedCount: failedCount,
            stoppedCount: stoppedCount,
            isDownloading: isDownloading,
            icon: icon,
            items: items.map { Item(title: $0.title, stage: $0.stage, isHeld: $0.isHeld) },
            hiddenCount: hiddenCount,
            isHeld: isHeld,
            needsTap: needsTap
        )
    }

    /// The numbers that people see move.
    private var numbers: [Int?] {
        let steps = percent == nil ? downloadedBytes.map { Int(clamping: $0 / Self.bytesWorthTelling) } : nil
        return [percent, steps, finishAt == nil ? 0 : 1] + items.map(\.percent)
    }
}
