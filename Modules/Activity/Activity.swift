#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The one activity of every install.
///
/// It begins with an install that is added while none is unfinished, and is over when the last one has ended. What was
/// there before is then no longer listed.
public struct Activity: Sendable, Hashable {
    /// How many finished installs stay listed in an activity that never comes to rest; the oldest go first, and are
    /// only counted from then on.
    public static let maximumFinishedInstalls = 1_000

    /// How many installs ended, by outcome.
    public struct Tally: Sendable, Hashable {
        /// Apps that are installed or delivered.
        public var installed = 0
        /// Installs that did not work.
        public var failed = 0
        /// Installs that somebody ended.
        public var cancelled = 0

        /// Nothing has ended.
        public init() {}

        /// All that ended.
        public var total: Int { installed + failed + cancelled }

        mutating func count(_ outcome: Outcome) {
            switch outcome {
            case .installed, .delivered: installed += 1
            case .failed: failed += 1
            case .cancelled: cancelled += 1
            }
        }
    }

    /// Counts the activities of a center, from 1: another number is another batch.
    public internal(set) var number: Int
    /// Every install, in the order in which they were added.
    public internal(set) var installs: [Install]
    /// Finished installs that are no longer listed.
    public internal(set) var unlisted = Tally()
    /// How much of everything is done, from 0 to 1; 0 when there is nothing.
    ///
    /// Each install counts the same, by its ``Install/fraction`` (0 where that is unknown). It never goes back within
    /// an activity: an install that is added, or a download that begins again, makes the rest of the way longer and
    /// leaves what was reached.
    public internal(set) var totalFraction: Double
    /// When progress was last told; `nil` before.
    public internal(set) var measuredAt: Date?

    /// An activity of these installs, as a test of a reporter wants it.
    public init(installs: [Install] = [], number: Int = 1, measuredAt: Date? = nil) {
        self.number = number
        self.installs = installs
        self.measuredAt = measuredAt
        totalFraction = 0
        totalFraction = meanFraction
    }

    /// The install of that name; `nil` where it is not listed.
    public subscript(_ id: InstallID) -> Install? {
        installs.first { $0.id == id }
    }

    /// The installs that have not ended, in order.
    public var unfinished: [Install] {
        installs.filter { !$0.isFinished }
    }

    /// How many installs the activity has had, the unlisted ones too.
    public var count: Int { installs.count + unlisted.total }

    /// How the installs ended so far.
    public var tally: Tally {
        var tally = unlisted
        for install in installs {
            if let outcome = install.outcome { tally.count(outcome) }
        }
        return tally
    }

    /// Whether there was something and all of it has ended.
    public var isFinished: Bool {
        !installs.isEmpty && installs.allSatisfy(\.isFinished)
    }

    /// Whether something is left to do and all of that is held.
    public var isHeld: Bool {
        var isHeld = false
        for install in installs where !install.isFinished {
            guard install.isHeld else { return false }
            isHeld = true
        }
        return isHeld
    }

    /// The rates of all installs together; `nil` while none is known.
    public var bytesPerSecond: Double? {
        let rates = installs.compactMap(\.bytesPerSecond)
        return rates.isEmpty ? nil : rates.reduce(0, +)
    }

    /// When the downloads will be over at ``bytesPerSecond``; `nil` while an install waits, is held, or downloads
    /// without a known length, and when nothing downloads.
    public var finishAt: Date? {
        guard let measuredAt, let rate = bytesPerSecond, rate > 0 else { return nil }
        var remaining = 0.0
        for install in installs where !install.isFinished {
            switch install.stage {
            case .waiting: return nil
            case .downloading:
                guard !install.isHeld, let left = install.progress?.remaining else { return nil }
                remaining += Double(left)
            case .signing, .installing, .finished: break
            }
        }
        return remaining > 0 ? measuredAt.addingTimeInterval(remaining / rate) : nil
    }

    /// The state in at most 8 letters: that of the install where there is one, else `3 apps`, `Paused`, and at the end
    /// `Done` or `Failed`. Empty when there is nothing.
    ///
    /// The count is that of all installs; above 999 it is `999+`.
    public var label: String {
        if count == 1, let only = installs.first { return only.label }
        if installs.isEmpty { return "" }
        if isFinished {
            let tally = tally
            return tally.failed > 0 ? "Failed" : tally.installed > 0 ? "Done" : "Stopped"
        }
        if isHeld { return "Paused" }
        return count > 999 ? "999+" : "\(count) apps"
    }

    /// The mean of all fractions, as it is.
    var meanFraction: Double {
        guard count > 0 else { return 0 }
        let sum = installs.reduce(Double(unlisted.total)) { $0 + ($1.fraction ?? 0) }
        return min(max(sum / Double(count), 0), 1)
    }
}
