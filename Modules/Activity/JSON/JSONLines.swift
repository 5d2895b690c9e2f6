#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes lines of JSON of updates: one for each fact, and for progress one for each install now and then.
///
/// `docs/json-log.md` has the keys. A key is added with a new version of the log, and never changes its meaning.
package struct JSONLines: Sendable {
    /// The version of the keys.
    package static let schema = 1

    /// The least time between two lines of progress of an install, in seconds.
    private let pause: Double
    private var sequence = 0
    /// When the progress of an install was told last, and what it was.
    private var told: [InstallID: (date: Date, progress: StageProgress)] = [:]

    package init(progressPerSecond: Double) {
        pause = progressPerSecond > 0 ? 1 / progressPerSecond : .infinity
    }

    /// The lines for an update, each with its end.
    package mutating func lines(for update: ActivityUpdate) -> [String] {
        objects(for: update).map(\.line)
    }

    /// The same before they are lines: the one of a fact, or those of progress.
    package mutating func objects(for update: ActivityUpdate) -> [JSONObject] {
        guard let fact = update.fact else { return progress(update) }
        if let id = fact.installID, update.install?.isFinished != false { told[id] = nil }
        var object = begin(fact.kind, update)
        switch fact {
        case .reporterDetached(let name, let reason):
            object.add("reporter", name)
            object.add("reason", reason)
        case .closed:
            let tally = update.activity.tally
            object.add("installs", update.activity.count)
            object.add("installed", tally.installed)
            object.add("failed", tally.failed)
            object.add("cancelled", tally.cancelled)
        case .added(let id), .named(let id), .iconChanged(let id), .stageChanged(let id, _), .stepChanged(let id, _),
            .held(let id), .released(let id), .note(let id, _), .finished(let id, _):
            object.add("install", id.rawValue)
            if let install = update.install { add(fact, install, to: &object) }
        }
        return [object]
    }

    private func add(_ fact: Fact, _ install: Install, to object: inout JSONObject) {
        object.add("title", install.title)
        object.add("bundleID", install.bundleID)
        object.add("version", install.version)
        object.add("stage", install.stage.rawValue)
        object.add("held", install.isHeld)
        switch fact {
        case .iconChanged: object.add("iconBytes", install.icon?.count)
        case .stepChanged(_, let step): object.add("step", step)
        case .note(_, let text): object.add("note", text)
        case .finished(_, let outcome):
            object.add(outcome)
            let seconds = install.finishedAt?.timeIntervalSince(install.addedAt)
            object.add("durationMilliseconds", seconds.flatMap { Int64(exactly: ($0 * 1_000).rounded()) })
        default: break
        }
    }

    private mutating func progress(_ update: ActivityUpdate) -> [JSONObject] {
        var objects: [JSONObject] = []
        for install in update.activity.installs {
            guard let progress = install.progress else { continue }
            if let last = told[install.id] {
                guard progress != last.progress, update.date.timeIntervalSince(last.date) >= pause else { continue }
            } else if pause == .infinity {
                continue
            }
            told[install.id] = (update.date, progress)
            var object = begin("progress", update)
            object.add("install", install.id.rawValue)
            object.add("stage", install.stage.rawValue)
            object.add("held", install.isHeld)
            object.add("unit", progress.unit.rawValue)
            object.add("completed", progress.completed)
            object.add("total", progress.total)
            object.add("percent", progress.fraction.map { Int($0 * 100) })
            object.add("bytesPerSecond", install.bytesPerSecond.flatMap { Int64(exactly: $0.rounded()) })
            object.add("finishAt", install.finishAt?.isoText)
            objects.append(object)
        }
        return objects
    }

    private mutating func begin(_ kind: String, _ update: ActivityUpdate) -> JSONObject {
        sequence += 1
        var object = JSONObject()
        object.add("schema", Self.schema)
        object.add("sequence", sequence)
        object.add("time", update.date.isoText)
        object.add("kind", kind)
        object.add("activity", update.activity.number)
        return object
    }
}

extension Fact {
    /// The value of `kind`.
    fileprivate var kind: String {
        switch self {
        case .added: "added"
        case .named: "named"
        case .iconChanged: "icon"
        case .stageChanged: "stage"
        case .stepChanged: "step"
        case .held: "held"
        case .released: "released"
        case .note: "note"
        case .finished: "finished"
        case .reporterDetached: "reporterDetached"
        case .closed: "closed"
        }
    }
}
