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

    init() {}

    /// The state before the facts that make up `other`: the same activity, without its installs.
    init(before other: ActivityState) {
        activity.number = other.activity.number
        activity.unlisted = other.activity.unlisted
    }

    /// Applies `event`; `bytesPerSecond` is the rate of its install after it, where one is known.
    mutating func apply(_ event: ActivityEvent, at date: Date, bytesPerSecond: Double? = nil) -> Change {
        if case .added(let id, let title) = event { return add(id, title: title, at: date) }
        guard let position = positions[event.installID], !activity.installs[position].isFinished else {
            return .nothing
        }
        let before = activity.installs[position].fraction ?? 0
        let change = activity.installs[position].apply(event, at: date, bytesPerSecond: bytesPerSecond)
        switch change {
        case .nothing: return change
        case .progress:
            activity.measuredAt = date
            let gain = (activity.installs[position].fraction ?? 0) - before
            let count = Double(activity.count)
            activity.totalFraction = steady.move(by: gain / count)
        case .fact:
            if case .finished(let id, _) = event { forget(except: id) }
            activity.totalFraction = steady.move(to: activity.meanFraction)
        }
        return change
    }

    private mutating func add(_ id: InstallID, title: String, at date: Date) -> Change {
        if let position = positions[id], !activity.installs[position].isFinished { return .nothing }
        if activity.isFinished { beginAnew() }
        let install = Install(id: id, title: title, addedAt: date)
        if let position = positions[id] {
            activity.installs[position] = install
        } else {
            positions[id] = activity.installs.count
            activity.installs.append(install)
        }
        activity.totalFraction = steady.move(to: activity.meanFraction)
        return .fact(.added(id))
    }

    private mutating func beginAnew() {
        let number = activity.number
        self = ActivityState()
        activity.number = number + 1
    }

    /// Lets the total stay where `other` has seen it, if that is further and of the same activity.
    mutating func keepUp(with other: ActivityState) {
        guard activity.number == other.activity.number else { return }
        activity.totalFraction = max(activity.totalFraction, other.activity.totalFraction)
    }

    /// Keeps the finished installs to their limit, a tenth of it at a time. The one whose end is being told stays.
    private mutating func forget(except id: InstallID) {
        let finished = activity.installs.count { $0.isFinished }
        guard finished > Activity.maximumFinishedInstalls else { return }
        var surplus = finished - Activity.maximumFinishedInstalls * 9 / 10
        var kept: [Install] = []
        for install in activity.installs {
            if surplus > 0, let outcome = install.outcome, install.id != id {
                activity.unlisted.count(outcome)
                surplus -= 1
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
        case .stage(_, let stage):
            guard stage != self.stage, stage != .finished else { return .nothing }
            self.stage = stage
            progress = nil
            measure(nil, at: date)
            return .fact(.stageChanged(id, stage))
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
            stage = .finished
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
