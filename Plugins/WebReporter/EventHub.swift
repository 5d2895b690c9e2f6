import FerryActivity
import FerryBytes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps the log for all viewers and calls those that wait.
final class EventHub: Sendable {
    private struct State: Sendable {
        var log: EventLog
        var lines = JSONLines(progressPerSecond: 0)
        var activity = Activity()
        /// What was told of each install that moves.
        var told: [InstallID: String] = [:]
        var hasProgress = false
        var islandSeq = 0
        var island: (seq: Int, bytes: [UInt8], json: String)?
        /// The state as an event, until it changes.
        var state: [UInt8]?
        var allProgress: (number: Int, bytes: [UInt8])?
        var progressNumber = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var viewers: Set<Int> = []
        var lastViewer = 0
    }

    typealias Addition = @Sendable (Install, inout JSONObject) -> Void

    let limits: WebLimits
    private let addition: Addition
    private let state: Guarded<State>

    init(epoch: String, limits: WebLimits, addition: @escaping Addition) {
        self.limits = limits
        self.addition = addition
        state = Guarded(State(log: EventLog(epoch: epoch, limits: limits)))
    }

    // MARK: What happens

    /// Takes an update; a fact is in the log afterwards, progress once ``flushProgress()`` is called.
    func take(_ update: ActivityUpdate) {
        state.withLock { state in
            state.activity = update.activity
            state.state = nil
            guard update.fact != nil else {
                state.hasProgress = true
                return
            }
            for var object in state.lines.objects(for: update) {
                if let install = update.install { object.add("installObject", self.object(install)) }
                state.log.addFact(object.json)
            }
            if let install = update.install { state.told[install.id] = nil }
            self.changeIsland(&state)
            if update.fact == .closed { state.log.close() }
        }
    }

    /// Whether something moved that was not told.
    var hasProgress: Bool { state.withLock { $0.hasProgress } }

    /// Makes one event of all that has moved.
    func flushProgress() {
        state.withLock { state in
            guard state.hasProgress else { return }
            state.hasProgress = false
            var moved: [JSONObject] = []
            for install in state.activity.installs where !install.isFinished && install.progress != nil {
                let object = install.webProgress
                if state.told[install.id] != object.text {
                    state.told[install.id] = object.text
                    moved.append(object)
                }
            }
            if state.told.count > state.activity.installs.count {
                let there = Set(state.activity.installs.map(\.id))
                state.told = state.told.filter { there.contains($0.key) }
            }
            guard !moved.isEmpty else { return }
            state.progressNumber += 1
            state.log.addProgress(Self.progress(moved))
            self.changeIsland(&state)
        }
    }

    /// Gives a comment to those that have heard nothing.
    func beat() { state.withLock { $0.log.beat() } }

    /// Nothing more comes.
    func close() {
        state.withLock { $0.log.close() }
        call()
    }

    /// Wakes the viewers that wait.
    func call() {
        let waiting = state.withLock { state in
            let waiting = state.waiting
            state.waiting = [:]
            return waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }

    private func changeIsland(_ state: inout State) {
        state.islandSeq += 1
        state.log.islandChanged()
    }

    private func object(_ install: Install) -> JSONObject {
        var object = install.webObject
        addition(install, &object)
        return object
    }

    private static func progress(_ installs: [JSONObject]) -> String {
        var object = JSONObject()
        object.add("installs", installs)
        return object.json
    }

    // MARK: What there is

    var lastEventID: String { state.withLock { $0.log.lastEventID } }

    func islandJSON() -> String { state.withLock { self.island(&$0).json } }

    var isClosed: Bool { state.withLock { $0.log.isClosed } }

    var viewerCount: Int { state.withLock { $0.viewers.count } }

    var kept: (facts: Int, bytes: Int) { state.withLock { $0.log.kept } }

    private func stateEvent(_ state: inout State) -> [UInt8] {
        if let known = state.state { return known }
        var object = JSONObject()
        object.add("installs", state.activity.installs.map(self.object))
        object.add("island", json: island(&state).json)
        let event = EventLog.event("state", object.json, id: state.log.lastEventID)
        state.state = event
        return event
    }

    private func island(_ state: inout State) -> (seq: Int, bytes: [UInt8], json: String) {
        if let known = state.island, known.seq == state.islandSeq { return known }
        let json = state.activity.webIsland(seq: state.islandSeq + 1).json
        let made = (state.islandSeq, EventLog.event("island", json), json)
        state.island = made
        return made
    }

    private func allProgress(_ state: inout State) -> [UInt8] {
        if let known = state.allProgress, known.number == state.progressNumber { return known.bytes }
        let moving = state.activity.installs.filter { !$0.isFinished && $0.progress != nil }.map(\.webProgress)
        let bytes = EventLog.event("progress", Self.progress(moving))
        state.allProgress = (state.progressNumber, bytes)
        return bytes
    }

    // MARK: Viewers

    /// A new viewer; `nil` where there are too many.
    func enter(after id: String?) -> (viewer: Int, cursor: EventLog.Cursor)? {
        state.withLock { state in
            guard state.viewers.count < self.limits.viewers else { return nil }
            state.lastViewer += 1
            state.viewers.insert(state.lastViewer)
            return (state.lastViewer, state.log.cursor(after: id))
        }
    }

    func leave(_ viewer: Int) {
        let waiting = state.withLock { state in
            state.viewers.remove(viewer)
            return state.waiting.removeValue(forKey: viewer)
        }
        waiting?.resume()
    }

    func take(_ cursor: inout EventLog.Cursor) -> EventLog.Take {
        let start = cursor
        let (end, take) = state.withLock { state in
            var cursor = start
            let made =
                switch state.log.need(cursor) {
                case .nothing: [UInt8]()
                case .state: self.stateEvent(&state)
                case .allProgress: self.allProgress(&state)
                case .island: self.island(&state).bytes
                }
            let take = state.log.take(&cursor, made)
            return (cursor, take)
        }
        cursor = end
        return take
    }

    /// Waits until there is news for that viewer, or its task is cancelled.
    func wait(_ viewer: Int, _ cursor: EventLog.Cursor) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // Cancelled and gone, or something came in between.
                    guard !Task.isCancelled, state.viewers.contains(viewer), !state.log.hasNews(cursor) else {
                        return true
                    }
                    state.waiting[viewer] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: viewer) }?.resume()
        }
    }
}
