public import FerryActivity

extension IslandState {
    /// What is shown of an activity.
    ///
    /// The list holds what is running before what has ended, and of that the failed before the others, each in the
    /// order in which they were added. The numbers are those of the downloads that are under way: their bytes together,
    /// where the length is known. `finishAt` and `isHeld` are the activity's own.
    ///
    /// - Parameters:
    ///   - activity: All installs.
    ///   - seq: The number of this state.
    ///   - icon: A picture, which is left out unless there is exactly one install.
    ///   - needsTap: Whether the activity could not be renewed.
    public init(_ activity: Activity, seq: Int, icon: [UInt8]? = nil, needsTap: Bool = false) {
        let tally = activity.tally
        let downloads = Downloads(activity)
        self.init(
            seq: seq,
            count: activity.count - tally.total,
            installedCount: tally.installed,
            failedCount: tally.failed,
            stoppedCount: tally.cancelled,
            isDownloading: downloads.count > 0,
            percent: downloads.fraction.map { Int($0 * 100) },
            barFraction: downloads.fraction.map { ($0 * 1_000).rounded(.down) / 1_000 },
            downloadedBytes: downloads.completed,
            totalBytes: downloads.total,
            finishAt: activity.finishAt,
            icon: icon,
            items: Self.first(activity.installs).map(Item.init),
            hiddenCount: activity.count - min(activity.installs.count, Self.maximumItems),
            isHeld: activity.isHeld,
            needsTap: needsTap
        )
    }

    /// The installs that are listed, in order.
    private static func first(_ installs: [Install]) -> [Install] {
        var running: [Install] = []
        var failed: [Install] = []
        var ended: [Install] = []
        for install in installs {
            switch install.outcome {
            case nil: running.append(upTo: maximumItems, install)
            case .failed: failed.append(upTo: maximumItems, install)
            case .installed, .delivered, .cancelled: ended.append(upTo: maximumItems, install)
            }
            if running.count == maximumItems { break }
        }
        return Array((running + failed + ended).prefix(maximumItems))
    }
}

extension IslandState.Item {
    /// What is shown of an install.
    public init(_ install: Install) {
        self.init(
            title: install.title,
            stage: IslandStage(install),
            percent: install.progress?.fraction.map { Int($0 * 100) },
            isHeld: install.isHeld
        )
    }
}

extension IslandStage {
    /// Where an install is, or how it ended.
    public init(_ install: Install) {
        switch install.outcome {
        case .installed, .delivered: self = .installed
        case .failed: self = .failed
        case .cancelled: self = .stopped
        case nil:
            switch install.stage {
            case .waiting: self = .waiting
            case .downloading: self = .downloading
            case .signing: self = .signing
            case .installing: self = .installing
            case .finished: self = .installed
            }
        }
    }
}

/// The downloads that are under way, taken together.
private struct Downloads {
    var count = 0
    /// The bytes that are there; those of unknown lengths only where no length is known.
    var completed: Int64?
    var total: Int64?
    var fraction: Double?

    init(_ activity: Activity) {
        var unmeasured: Int64 = 0
        var hasUnmeasured = false
        var measured: Int64 = 0
        var length: Int64 = 0
        for install in activity.installs where install.outcome == nil && install.stage == .downloading {
            count += 1
            guard let progress = install.progress else { continue }
            if let total = progress.total, total > 0 {
                measured = measured.plus(min(progress.completed, total))
                length = length.plus(total)
            } else {
                hasUnmeasured = true
                unmeasured = unmeasured.plus(progress.completed)
            }
        }
        if length > 0 {
            completed = measured
            total = length
            fraction = StageProgress.bytes(measured, of: length).fraction
        } else if hasUnmeasured {
            completed = unmeasured
        }
    }
}

extension Int64 {
    /// The sum with what is not negative of `other`, at most the largest number.
    fileprivate func plus(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(Swift.max(other, 0))
        return overflow ? .max : sum
    }
}

extension Array {
    fileprivate mutating func append(upTo limit: Int, _ element: Element) {
        if count < limit { append(element) }
    }
}
