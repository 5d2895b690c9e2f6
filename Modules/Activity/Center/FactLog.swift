#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The facts that some reader has not seen yet, and where each reader is.
///
/// A fact is kept once, however many readers there are, and goes when the last of them has seen it. No state is kept
/// with it: a reader that lags applies the facts one by one to a state of its own; one that has caught up has none, and
/// is given the present one. So an update never contradicts its fact. A reader that is more than `limit` facts behind is cut off,
/// which bounds the log by that number whatever the readers do.
struct FactLog: Sendable {
    /// What a reader gets when it asks.
    enum Take: Sendable {
        case update(ActivityUpdate)
        case wait
        case end
    }

    private struct Entry: Sendable {
        /// What to apply; `nil` for what changes no install.
        let event: ActivityEvent?
        let fact: Fact
        let date: Date
    }

    private struct Reader: Sendable {
        /// The facts that make up the state at the time of subscribing, the next one last.
        var prelude: [Entry]
        /// The number of the next entry to read.
        var next: Int
        /// The state to go on from; `nil` for a reader that has caught up, so that the present state is nobody's but
        /// ours and can be changed in place.
        var state: ActivityState?
        /// The number of the first entry that is not in ``state``: ``next``, or one more.
        var stateEnd: Int
        /// The total that was shown last, and in which activity: it must not go back.
        var shown: (number: Int, total: Double)?
        /// The revision of the state that was given last.
        var revision: UInt64
        var sequence: UInt64 = 0
        /// Whether it found nothing and waits for the bell.
        var waits = false
    }

    /// How many facts a reader may be behind.
    let limit: Int
    /// The present state.
    private(set) var state = ActivityState()
    /// Whether nothing more will come.
    private(set) var isClosed = false
    private var entries: [Entry] = []
    /// The number of the first entry that is kept.
    private var first = 0
    /// When to look for entries that everybody has seen.
    private var trimsAt = 64
    private var readers: [Int: Reader] = [:]
    private var revision: UInt64 = 0
    private var changedAt = Date(timeIntervalSince1970: 0)

    init(limit: Int) {
        self.limit = max(limit, 1)
    }

    /// How many facts are kept.
    var count: Int { entries.count }

    private var end: Int { first + entries.count }

    // MARK: What comes in

    /// Applies an event; gives whether it changed anything.
    mutating func apply(_ event: ActivityEvent, at date: Date, bytesPerSecond: Double?) -> Bool {
        guard !isClosed else { return false }
        if case .progress = event {} else { keepStateForReadersBehind() }
        switch state.apply(event, at: date, bytesPerSecond: bytesPerSecond) {
        case .nothing: return false
        case .progress: break
        case .fact(let fact): append(Entry(event: event, fact: fact, date: date))
        }
        revision += 1
        changedAt = date
        return true
    }

    /// Tells that a reporter was detached.
    mutating func detached(_ name: String, reason: String, at date: Date) {
        guard !isClosed else { return }
        keepStateForReadersBehind()
        append(Entry(event: nil, fact: .reporterDetached(name: name, reason: reason), date: date))
    }

    /// Ends everything, once.
    mutating func close(at date: Date) {
        guard !isClosed else { return }
        keepStateForReadersBehind()
        append(Entry(event: nil, fact: .closed, date: date))
        isClosed = true
    }

    /// Before the state moves on from the one fact that a reader has not seen, that reader is given it.
    private mutating func keepStateForReadersBehind() {
        let end = end
        for (id, reader) in readers where reader.state == nil && reader.next < end {
            readers[id]?.state = state
            readers[id]?.stateEnd = end
        }
    }

    private mutating func append(_ entry: Entry) {
        if readers.isEmpty {
            first += 1
        } else {
            entries.append(entry)
            if entries.count >= trimsAt { trim() }
        }
    }

    // MARK: Readers

    /// Adds a reader that starts with the facts of the present state.
    mutating func subscribe(_ id: Int, at date: Date) {
        var prelude = state.activity.prelude.map { Entry(event: $0.event, fact: $0.fact, date: $0.date) }
        if isClosed {
            prelude.append(Entry(event: nil, fact: .closed, date: date))
        }
        readers[id] = Reader(
            prelude: prelude.reversed(),
            next: end,
            state: ActivityState(before: state),
            stateEnd: end,
            revision: prelude.isEmpty ? revision : 0
        )
    }

    /// Takes a reader away; it gets nothing more.
    mutating func remove(_ id: Int) {
        readers[id] = nil
        if readers.isEmpty { trim() }
    }

    /// Takes away the readers that are further behind than the limit, and gives them.
    mutating func cutOff() -> [Int] {
        guard entries.count > limit else { return [] }
        let late = readers.filter { end - $0.value.next > limit }.map(\.key).sorted()
        for id in late { readers[id] = nil }
        trim()
        return late
    }

    /// The readers that wait; each is given once for every time it waits.
    mutating func wake() -> [Int] {
        var awake: [Int] = []
        for (id, reader) in readers where reader.waits {
            readers[id]?.waits = false
            awake.append(id)
        }
        return awake
    }

    /// How many facts a reader has not seen; `nil` for one that is not there.
    func unread(_ id: Int) -> Int? {
        readers[id].map { $0.prelude.count + end - $0.next }
    }

    /// What comes next for a reader.
    mutating func take(_ id: Int) -> Take {
        guard var reader = readers.removeValue(forKey: id) else { return .end }
        let isInPrelude = !reader.prelude.isEmpty
        let entry = next(of: &reader)
        let isAbreast = reader.prelude.isEmpty && reader.next == end
        if entry == nil, isClosed || reader.revision == revision {
            reader.waits = !isClosed
            readers[id] = reader
            return isClosed ? .end : .wait
        }
        if isAbreast {
            reader.state = nil
            reader.revision = revision
        } else if let entry, isInPrelude || reader.next > reader.stateEnd {
            if let event = entry.event { _ = reader.state?.apply(event, at: entry.date) }
            if !isInPrelude { reader.stateEnd = reader.next }
        }
        var activity = (reader.state ?? state).activity
        if let shown = reader.shown, shown.number == activity.number {
            activity.totalFraction = max(activity.totalFraction, shown.total)
        }
        reader.shown = (activity.number, activity.totalFraction)
        reader.sequence += 1
        let update = ActivityUpdate(
            sequence: reader.sequence,
            date: entry?.date ?? changedAt,
            fact: entry?.fact,
            activity: activity
        )
        readers[id] = reader
        return .update(update)
    }

    private func next(of reader: inout Reader) -> Entry? {
        if let entry = reader.prelude.popLast() { return entry }
        guard reader.next < end else { return nil }
        defer { reader.next += 1 }
        return entries[reader.next - first]
    }

    /// Lets go of what everybody has seen. The next time is when there is twice as much: each fact is moved once.
    private mutating func trim() {
        let seen = (readers.values.map(\.next).min() ?? end) - first
        entries.removeFirst(seen)
        first += seen
        trimsAt = max(entries.count * 2, 64)
    }
}

extension Activity {
    /// The events that make this state out of nothing, except for progress.
    ///
    /// All installs are added before anything else happens, or the first to finish would end the activity.
    fileprivate var prelude: [(event: ActivityEvent, fact: Fact, date: Date)] {
        let added = installs.map {
            (event: ActivityEvent.added($0.id, title: $0.title), fact: Fact.added($0.id), date: $0.addedAt)
        }
        return added + installs.flatMap(\.prelude)
    }
}

extension Activity {
    /// The updates that a reader gets who comes now, for one that has to be told everything again; then its progress.
    package var retelling: [ActivityUpdate] {
        var state = ActivityState(before: self)
        var updates: [ActivityUpdate] = []
        for entry in prelude {
            _ = state.apply(entry.event, at: entry.date)
            updates.append(
                ActivityUpdate(
                    sequence: UInt64(updates.count + 1),
                    date: entry.date,
                    fact: entry.fact,
                    activity: state.activity
                )
            )
        }
        if let measuredAt {
            updates.append(
                ActivityUpdate(sequence: UInt64(updates.count + 1), date: measuredAt, fact: nil, activity: self)
            )
        }
        return updates
    }
}

extension Install {
    fileprivate var prelude: [(event: ActivityEvent, fact: Fact, date: Date)] {
        var prelude: [(event: ActivityEvent, fact: Fact, date: Date)] = []
        if bundleID != nil || version != nil {
            let event = ActivityEvent.named(id, title: title, bundleID: bundleID, version: version)
            prelude.append((event, .named(id), addedAt))
        }
        if let icon {
            prelude.append((.icon(id, icon), .iconChanged(id), addedAt))
        }
        if stage != .waiting, stage != .finished {
            prelude.append((.stage(id, stage), .stageChanged(id, stage), addedAt))
        }
        if let step {
            prelude.append((.step(id, step), .stepChanged(id, step), addedAt))
        }
        prelude += notes.map { (.note(id, $0), .note(id, $0), addedAt) }
        if isHeld {
            prelude.append((.held(id), .held(id), addedAt))
        }
        if let outcome {
            prelude.append((.finished(id, outcome), .finished(id, outcome), finishedAt ?? addedAt))
        }
        return prelude
    }
}
