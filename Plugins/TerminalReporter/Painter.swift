import FerryActivity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is on the screen, and how it becomes what should be there.
actor Painter {
    private enum Code {
        static let hideCursor = "\u{1B}[?25l"
        static let showCursor = "\u{1B}[?25h"
        static let clearToEndOfLine = "\u{1B}[K"
        static let clearBelow = "\u{1B}[J"

        static func up(_ rows: Int) -> String { rows > 0 ? "\u{1B}[\(rows)A" : "" }
    }

    private let output: TerminalOutput
    private let style: Style
    private let now: @Sendable () -> Date
    private let hasKeys: Bool
    private(set) var activity = Activity()
    /// Lines that stay and are not written yet.
    private var lasting: [Line] = []
    /// The moving lines on the screen.
    private var drawn: [String] = []
    private var widths: [Int] = []
    private var columns = 0
    private var isCursorHidden = false
    private var isFinished = false

    init(output: TerminalOutput, style: Style, hasKeys: Bool, now: @escaping @Sendable () -> Date) {
        self.output = output
        self.style = style
        self.hasKeys = hasKeys
        self.now = now
    }

    /// Takes in an update; it is drawn with the next frame.
    func take(_ update: ActivityUpdate) {
        activity = update.activity
        lasting += LastingLines(style: style).lines(for: update)
        if update.fact == .closed, let summary = LastingLines(style: style).summary(of: activity) {
            lasting.append(summary)
        }
    }

    /// Draws what changed since the last frame.
    func paint() throws {
        let size = output.size() ?? TerminalOutput.Size(columns: 80, rows: 24)
        var frame = Frame(width: size.columns, height: size.rows, style: style, now: now())
        if hasKeys { frame.hint = activity.isHeld ? "p go on   q cancel" : "p pause   q cancel" }
        let lines = frame.layOut(activity)
        let texts = lines.map { $0.text(style) }
        guard !isFinished, !lasting.isEmpty || texts != drawn || size.columns != columns else { return }
        var text = isCursorHidden || texts.isEmpty ? "" : Code.hideCursor
        text += Code.up(rows(at: size.columns)) + "\r"
        for line in lasting.map({ $0.text(style) }) + texts {
            text += line + Code.clearToEndOfLine + "\r\n"
        }
        text += Code.clearBelow
        isCursorHidden = isCursorHidden || !texts.isEmpty
        try output.write(text)
        (drawn, widths, columns, lasting) = (texts, lines.map(\.width), size.columns, [])
    }

    /// How many rows the moving lines take now: a terminal that became narrower has wrapped them.
    private func rows(at columns: Int) -> Int {
        guard columns > 0, columns < self.columns else { return drawn.count }
        return widths.reduce(0) { $0 + max(($1 + columns - 1) / columns, 1) }
    }

    /// Draws the last frame and shows the cursor again.
    func finish() throws {
        try paint()
        try restore()
    }

    /// Shows the cursor again; nothing more is drawn.
    func restore() throws {
        isFinished = true
        guard isCursorHidden else { return }
        isCursorHidden = false
        try output.write(Code.showCursor)
    }
}
