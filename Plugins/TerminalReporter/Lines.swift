import FerryActivity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The lines that stay: what ended, and what people should see.
struct LastingLines {
    let style: Style

    /// The lines for a fact above the moving ones; most facts have none.
    func lines(for update: ActivityUpdate) -> [Line] {
        let signs = Signs(style)
        switch update.fact {
        case .note(let id, let text):
            var line = Line(signs.note + " ", .yellow)
            line.add((update.activity[id]?.title ?? id.rawValue).printable)
            line.add("  " + text.printable)
            return [line]
        case .finished(_, let outcome):
            guard let install = update.install else { return [] }
            return lines(for: install, outcome, signs)
        case .reporterDetached(let name, let reason):
            var line = Line(signs.note + " ", .yellow)
            line.add("The reporter \(name) has stopped: \(reason)".printable)
            return [line]
        case .added, .named, .iconChanged, .stageChanged, .stepChanged, .held, .released, .closed, nil: return []
        }
    }

    private func lines(for install: Install, _ outcome: Outcome, _ signs: Signs) -> [Line] {
        let (mark, ink): (String, Ink) =
            switch outcome {
            case .installed, .delivered: (signs.done, .green)
            case .failed: (signs.failed, .red)
            case .cancelled: (signs.stopped, .yellow)
            }
        var line = Line(mark + " ", ink)
        line.add(install.title.printable)
        if let version = install.version { line.add(" " + version.printable, .dim) }
        line.add("  ")
        line.add(outcome.words(after: install).printable, outcome.isInstalled ? .dim : .plain)
        guard let remedy = outcome.failure?.remedy else { return [line] }
        return [line, Line("  " + remedy.printable, .dim)]
    }

    /// What became of an app whose way ended well after that stage.
    static func word(after stage: Stage?) -> String {
        switch stage {
        case .downloading: "downloaded"
        case .signing: "signed"
        default: "installed"
        }
    }

    /// The last line of a batch; `nil` for a single install.
    func summary(of activity: Activity) -> Line? {
        guard activity.count > 1 else { return nil }
        let tally = activity.tally
        // The listed ones tell of all: a batch goes one way.
        let stages = Set(activity.installs.filter { $0.outcome?.isInstalled == true }.map(\.lastStage))
        let parts = [
            (tally.installed, stages.count == 1 ? Self.word(after: stages.first ?? nil) : "installed"),
            (tally.failed, "failed"), (tally.cancelled, "cancelled"),
            (activity.count - tally.total, "unfinished"),
        ]
        let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return Line("\(activity.count) apps: \(words)", .bold)
    }
}

/// A line for every fact, for what is not a terminal.
struct PlainLines {
    /// The least time between two lines of progress of an install.
    static let pause = 5.0
    /// The least progress between two such lines, in percent; where it has no measure, the time alone decides.
    static let percent = 10

    private struct Told {
        var title: String
        var percent = 0
        var date: Date
    }

    let style: Style
    private var told: [InstallID: Told] = [:]

    init(style: Style) {
        self.style = style
    }

    /// The lines for an update.
    mutating func lines(for update: ActivityUpdate) -> [Line] {
        guard let fact = update.fact else { return progress(update) }
        switch fact {
        case .reporterDetached(let name, let reason):
            return [Line("The reporter \(name) has stopped: \(reason)".printable)]
        case .closed:
            return LastingLines(style: style).summary(of: update.activity).map { [$0] } ?? []
        case .iconChanged: return []
        case .added, .named, .stageChanged, .stepChanged, .held, .released, .note, .finished:
            guard let install = update.install else { return [] }
            let lines = lines(for: fact, install)
            told[install.id] = install.isFinished ? nil : Told(title: install.title, date: update.date)
            return lines
        }
    }

    private func lines(for fact: Fact, _ install: Install) -> [Line] {
        let name = told[install.id]?.title ?? install.title
        let words: [String] =
            switch fact {
            case .added: ["waiting"]
            case .named:
                [install.identity(isRenamed: install.title != name)]
            case .stageChanged(_, let stage): [stage.rawValue]
            case .stepChanged(_, let step): [install.stage.rawValue + ", " + step]
            case .held: ["paused"]
            case .released: ["goes on"]
            case .note(_, let text): ["warning: " + text]
            case .finished(_, let outcome):
                [outcome.words(after: install)] + (outcome.failure?.remedy.map { [$0] } ?? [])
            case .iconChanged, .reporterDetached, .closed: []
            }
        let ink: Ink =
            switch fact {
            case .note: .yellow
            case .finished(_, let outcome): outcome.isInstalled ? .green : outcome.failure != nil ? .red : .yellow
            default: .plain
            }
        return words.map { words in
            var line = Line(name.printable + ": ")
            line.add(words.printable, ink)
            return line
        }
    }

    private mutating func progress(_ update: ActivityUpdate) -> [Line] {
        var lines: [Line] = []
        for install in update.activity.installs {
            guard let progress = install.progress, let last = told[install.id], !install.isHeld else { continue }
            guard update.date.timeIntervalSince(last.date) >= Self.pause else { continue }
            let percent = progress.fraction.map { Int($0 * 100) }
            if let percent, percent < last.percent + Self.percent { continue }
            told[install.id] = Told(title: last.title, percent: percent ?? last.percent, date: update.date)
            var words = install.stage.rawValue + (percent.map { ", \($0)%" } ?? "")
            if progress.unit == .bytes {
                words += ", " + Quantities.bytes(Double(progress.completed), of: progress.total.map { Double($0) })
            }
            if let rate = install.bytesPerSecond { words += ", " + Quantities.bytes(rate) + "/s" }
            if let end = install.finishAt, end > update.date {
                words += ", " + Quantities.wholeTime(end.timeIntervalSince(update.date)) + " left"
            }
            lines.append(Line(install.title.printable + ": " + words))
        }
        return lines
    }
}

extension Install {
    /// What is known about the app: `this is Lantern 2.1 (org.example.lantern)`, or `version 2.1 (org.example.lantern)`
    /// where the title is not news.
    fileprivate func identity(isRenamed: Bool) -> String {
        let parts = [
            isRenamed ? "this is \(title)" : version == nil ? nil : "version", version, bundleID.map { "(\($0))" },
        ]
        return parts.compactMap { $0 }.joined(separator: " ")
    }
}

extension Outcome {
    /// How an install ended, for the end of a line.
    fileprivate func words(after install: Install) -> String {
        switch self {
        case .installed(let location):
            let time = install.finishedAt.map { " in " + Quantities.time($0.timeIntervalSince(install.addedAt)) } ?? ""
            return LastingLines.word(after: install.lastStage) + time + (location.map { ", " + $0 } ?? "")
        case .delivered(let location): return "delivered" + (location.map { ", " + $0 } ?? "")
        case .failed(let failure): return "failed while \(failure.stage.rawValue): \(failure.message)"
        case .cancelled: return "cancelled"
        }
    }
}
