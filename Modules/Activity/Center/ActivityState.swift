#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Applies events to an ``Activity`` and says what each of them amounts to.
///
/// The same events give the same installs, whoever applies them: the center does it once, and a reader that lags does
/// it again at its own pace.
struct ActivityState: Sendable {
    /// What an event amounts to.
    enum Change: Equatable {
        case nothing
        case progress
        case fact(Fact)
    }

    private(set) var activity = Activity()
    private var positions: [InstallID: Int] = [:]
    private var steady = SteadyFraction()
    /// The sum of all fractions in billionths: whole numbers, so that it stays exact however often they change.
    private var billionths: Int64 = 0
    /// How many of the listed installs have ended.
    private var finished = 0

    init() {}

    /// The state before the facts that make up `other`: the same activity, without its installs.
    init(before other: ActivityState) {
        self.init(before: other.activity)
    }

    /// The same before the facts that make up `other`.
    init(before other: Activity) {
        activity.number = other.number
        activity.unlisted = other.unlisted
    }

    /// Applies `event`; `bytesPerSecond` is the rate of its install after it, where one is known.
    mutating func apply(_ event: ActivityEvent, at date: Date, bytesPerSecond: Double? = nil) -> Change {
        if case .added(let id, let title) = event { return add(id, title: title, at: date) }
        guard let position = positions[event.installID], !activity.installs[position].isFinished else {
            return .nothing
        }
        count(position, -1)
        let change = activity.installs[position].apply(event, at: date, bytesPerSecond: bytesPerSecond)
        count(position, 1)
        if case .finished(let id, _) = event { forget(except: id) }
        if change == .progress { activity.measuredAt = date }
        moveTotal()
        return change
    }

    private mutating func add(_ id: InstallID, title: String, at date: Date) -> Change {
        if let position = positions[id], !activity.installs[position].isFinished { return .nothing }
        if finished > 0, finished == activity.installs.count { beginAnew() }
        let install = Install(id: id, title: title, addedAt: date)
        if let position = positions[id] {
            count(position, -1)
            activity.installs[position] = install
        } else {
            positions[id] = activity.installs.count
            activity.installs.append(install)
        }
        moveTotal()
        return .fact(.added(id))
    }

    /// Adds an install to the sums, or takes it away from them. A new one adds nothing.
    private mutating func count(_ position: Int, _ sign: Int) {
        let install = activity.installs[position]
        billionths += Int64(sign) * Int64(((install.fraction ?? 0) * 1e9).rounded())
        finished += install.isFinished ? sign : 0
    }

    private mutating func moveTotal() {
        let sum = Double(billionths) / 1e9 + Double(activity.unlisted.total)
        activity.totalFraction = steady.move(to: sum / Double(max(activity.count, 1)))
    }

    private mutating func beginAnew() {
        let number = activity.number
        self = ActivityState()
        activity.number = number + 1
    }

    /// Keeps the finished installs to their limit, a tenth of it at a time. The one whose end is being told stays.
    private mutating func forget(except id: InstallID) {
        guard finished > Activity.maximumFinishedInstalls else { return }
        var surplus = finished - Activity.maximumFinishedInstalls * 9 / 10
        var kept: [Install] = []
        for install in activity.installs {
            if surplus > 0, let outcome = install.outcome, install.id != id {
                activity.unlisted.count(outcome)
                surplus -= 1
                finished -= 1
                billionths -= 1_000_000_000
            } else {
                kept.append(install)
            }
        }
        activity.installs = kept
        positions = Dictionary(kept.enumerated().map { ($1.id, $0) }) { $1 }
    }
}

extension Install {
    fileprivate mutating func apply(
        _ event: ActivityEvent,
        at date: Date,
        bytesPerSecond rate: Double?
    ) -> ActivityState.Change {
        switch event {
        case .added: return .nothing
        case .named(_, let title, let bundleID, let version):
            guard title != self.title || bundleID != self.bundleID || version != self.version else { return .nothing }
            self.title = title
            self.bundleID = bundleID
            self.version = version
            return .fact(.named(id))
        case .icon(_, let icon):
            guard icon != self.icon, (1...Install.maximumIconBytes).contains(icon.count) else { return .nothing }
            self.icon = icon
            return .fact(.iconChanged(id))
        case .stage(_, let stage):
            guard stage != self.stage, stage != .finished else { return .nothing }
            self.stage = stage
            step = nil
            progress = nil
            measure(nil, at: date)
            return .fact(.stageChanged(id, stage))
        case .step(_, let step):
            guard step != self.step, !step.isEmpty else { return .nothing }
            self.step = step
            return .fact(.stepChanged(id, step))
        case .progress(_, let progress):
            guard progress != self.progress else { return .nothing }
            self.progress = progress
            measure(isHeld ? nil : rate, at: date)
            return .progress
        case .held:
            guard !isHeld else { return .nothing }
            isHeld = true
            measure(nil, at: date)
            return .fact(.held(id))
        case .released:
            guard isHeld else { return .nothing }
            isHeld = false
            measure(rate, at: date)
            return .fact(.released(id))
        case .note(_, let note):
            notes.append(note)
            notes.removeFirst(max(notes.count - Install.maximumNotes, 0))
            return .fact(.note(id, note))
        case .finished(_, let outcome):
            lastStage = stage
            stage = .finished
            step = nil
            progress = nil
            measure(nil, at: date)
            isHeld = false
            self.outcome = outcome
            finishedAt = date
            return .fact(.finished(id, outcome))
        }
    }

    private mutating func measure(_ rate: Double?, at date: Date) {
        bytesPerSecond = rate
        finishAt = nil
        if let rate, rate > 0, let left = progress?.remaining {
            finishAt = date.addingTimeInterval(Double(left) / rate)
        }
    }
}
