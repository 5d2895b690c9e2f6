import FerryActivity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Lays out the lines that are drawn over and over: one for each unfinished install, one for a batch.
///
/// A pure function of what it is given. No line is wider than the terminal less one column, for a letter in the last
/// one makes some terminals wrap; there are fewer lines than rows.
struct Frame {
    /// Which columns a line has room for.
    private struct Columns {
        static let label = 8
        static let bytes = 14
        static let rate = 9
        static let left = 6

        var name = 0
        var bar = 0
        var hasBytes = false
        var hasRate = false
        var hasLeft = false
    }

    let width: Int
    let height: Int
    let style: Style
    let now: Date
    /// What the keys do, as a last line; `nil` where no keys are read.
    var hint: String?

    private var signs: Signs { Signs(style) }

    /// The lines of `activity`, from the top, with their colours; none when all is finished.
    func lines(_ activity: Activity) -> [String] {
        layOut(activity).map { $0.text(style) }
    }

    func layOut(_ activity: Activity) -> [Line] {
        let unfinished = activity.unfinished
        guard !unfinished.isEmpty, width > 1, height > 1 else { return [] }
        let isBatch = activity.count > 1
        var rows = height - 1
        let hasHint = hint != nil && rows >= 4
        if hasHint { rows -= 1 }
        if isBatch { rows -= 1 }
        let shown = chosen(of: unfinished, rows: rows)
        let hidden = unfinished.count - shown.count

        let title = "\(activity.count) apps"
        let names = shown.map { $0.title.printable }
        let columns = columns(for: names + (isBatch ? [title] : []))
        var lines = zip(shown, names).map { line($0, named: $1, columns) }
        if hidden > 0, rows > 1 { lines.append(Line("  \(signs.ellipsis) and \(hidden) more", .dim)) }
        if isBatch { lines.append(summary(activity, named: title, columns)) }
        if let hint, hasHint { lines.append(Line("  " + hint, .dim)) }
        return lines.map { $0.cut(to: width - 1) }
    }

    /// As many installs as there are rows, those first that something is done for, in the order of arrival.
    ///
    /// Where there are two rows or more, one is kept for the number of the others.
    private func chosen(of installs: [Install], rows: Int) -> [Install] {
        guard installs.count > rows else { return installs }
        var room = rows > 1 ? rows - 1 : rows
        var chosen: Set<InstallID> = []
        let ranks: [(Install) -> Bool] = [
            { !$0.isHeld && $0.stage != .waiting }, { $0.isHeld && $0.stage != .waiting }, { $0.stage == .waiting },
        ]
        for isOfRank in ranks {
            for install in installs where room > 0 && isOfRank(install) {
                chosen.insert(install.id)
                room -= 1
            }
        }
        return installs.filter { chosen.contains($0.id) }
    }

    private func columns(for names: [String]) -> Columns {
        var columns = Columns()
        let widest = names.map(\.displayWidth).max() ?? 0
        // The mark, a space, the name, a space, the label.
        let room = width - 1 - 3 - Columns.label
        columns.name = max(min(widest, max(width / 4, 12), 32, room), 1)
        let details: [(bytes: Bool, rate: Bool, left: Bool, bar: Int)] = [
            (true, true, true, 12), (false, true, true, 12), (false, false, true, 10), (false, false, false, 6),
        ]
        for choice in details {
            var bar = room - columns.name - 2
            if choice.bytes { bar -= Columns.bytes + 2 }
            if choice.rate { bar -= Columns.rate + 2 }
            if choice.left { bar -= Columns.left + 2 }
            guard bar >= choice.bar else { continue }
            columns.bar = min(bar, 40)
            (columns.hasBytes, columns.hasRate, columns.hasLeft) = (choice.bytes, choice.rate, choice.left)
            break
        }
        return columns
    }

    private func line(_ install: Install, named name: String, _ columns: Columns) -> Line {
        let step = step
        let (mark, ink): (String, Ink) =
            if install.isHeld {
                (signs.held, .yellow)
            } else {
                switch install.stage {
                case .waiting, .finished: (signs.waiting, .dim)
                case .downloading: (signs.downloading, .cyan)
                case .signing, .installing: (signs.spinner[step % signs.spinner.count], .blue)
                }
            }
        var line = Line(mark + " ", ink)
        line.add(name.cut(to: columns.name, ellipsis: signs.ellipsis).padded(to: columns.name))
        if columns.bar > 0 {
            line.add("  ")
            let bar = Bar(columns: columns.bar, signs: signs)
            let fraction = install.progress?.fraction
            let isMoving = !install.isHeld && install.stage != .waiting
            let drawn =
                fraction == nil && isMoving ? bar.wandering(at: step, ink) : bar.filled(to: fraction ?? 0, ink)
            for piece in drawn.pieces { line.add(piece.text, piece.ink) }
        }
        line.add(" " + install.label.aligned(to: Columns.label), install.isHeld ? .yellow : .plain)
        let details = Columns.bytes + 2 + Columns.rate + 2 + Columns.left
        if let step = install.step, install.progress?.unit != .bytes, columns.hasBytes {
            line.add("  " + step.printable.cut(to: details, ellipsis: signs.ellipsis), .dim)
            return line
        }
        let bytes: String? =
            if let progress = install.progress, progress.unit == .bytes {
                Quantities.bytes(Double(progress.completed), of: progress.total.map { Double($0) })
            } else {
                nil
            }
        add(bytes, install.bytesPerSecond, install.finishAt, columns, to: &line)
        return line
    }

    private func summary(_ activity: Activity, named name: String, _ columns: Columns) -> Line {
        let ink: Ink = activity.isHeld ? .yellow : .green
        var line = Line((activity.isHeld ? signs.held : " ") + " ", ink)
        line.add(name.cut(to: columns.name, ellipsis: signs.ellipsis).padded(to: columns.name), .bold)
        if columns.bar > 0 {
            line.add("  ")
            let bar = Bar(columns: columns.bar, signs: signs).filled(to: activity.totalFraction, ink)
            for piece in bar.pieces { line.add(piece.text, piece.ink) }
        }
        let label = activity.isHeld ? "Paused" : "\(Int(activity.totalFraction * 100))%"
        line.add(" " + label.aligned(to: Columns.label), activity.isHeld ? .yellow : .bold)
        add("\(activity.tally.total) done", activity.bytesPerSecond, activity.finishAt, columns, to: &line)
        return line
    }

    private func add(_ amount: String?, _ rate: Double?, _ end: Date?, _ columns: Columns, to line: inout Line) {
        if columns.hasBytes {
            line.add("  " + (amount ?? "").aligned(to: Columns.bytes), .dim)
        }
        if columns.hasRate {
            line.add("  " + (rate.map { Quantities.bytes($0) + "/s" } ?? "").aligned(to: Columns.rate), .dim)
        }
        if columns.hasLeft {
            let left = end.map { $0.timeIntervalSince(now) } ?? 0
            line.add("  " + (left > 0 ? Quantities.wholeTime(left) : "").aligned(to: Columns.left), .dim)
        }
    }

    /// Tenths of a second, for what moves.
    private var step: Int {
        Int(now.timeIntervalSinceReferenceDate.magnitude.truncatingRemainder(dividingBy: 1_000_000) * 10)
    }
}
