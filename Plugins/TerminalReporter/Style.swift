/// What the terminal can show and what people want to see.
public struct Style: Sendable, Hashable {
    /// Whether lines are drawn over and over; else each fact is a line.
    public var isLive: Bool
    /// Whether there are colours.
    public var hasColours: Bool
    /// Whether there are letters beyond ASCII.
    public var hasUnicode: Bool

    /// Takes the choices as they are.
    public init(isLive: Bool, hasColours: Bool, hasUnicode: Bool) {
        self.isLive = isLive
        self.hasColours = hasColours
        self.hasUnicode = hasUnicode
    }

    /// Chooses by the usual variables: `TERM`, `NO_COLOR`, `CLICOLOR_FORCE`, and `LC_ALL`, `LC_CTYPE` or `LANG`.
    ///
    /// `NO_COLOR` with any text wins over `CLICOLOR_FORCE`, which gives colours to a file too. A terminal that is
    /// `dumb` or has no name gets plain lines.
    public init(environment: [String: String], isTerminal: Bool) {
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        let terminal = value("TERM") ?? "dumb"
        isLive = isTerminal && terminal != "dumb"
        let isForced = value("CLICOLOR_FORCE").map { $0 != "0" } ?? false
        hasColours = value("NO_COLOR") == nil && (isForced || isLive)
        let locale = (value("LC_ALL") ?? value("LC_CTYPE") ?? value("LANG") ?? "C").lowercased()
        hasUnicode = locale.contains("utf-8") || locale.contains("utf8")
    }
}

/// How a piece of a line looks, as the parameters of an SGR sequence.
enum Ink: String {
    case plain = ""
    case dim = "2"
    case bold = "1"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case blue = "34"
    case cyan = "36"
}

/// A line in pieces.
struct Line: Sendable {
    private(set) var pieces: [(text: String, ink: Ink)] = []

    init(_ text: String = "", _ ink: Ink = .plain) {
        add(text, ink)
    }

    /// Adds a piece.
    mutating func add(_ text: String, _ ink: Ink = .plain) {
        if !text.isEmpty { pieces.append((text, ink)) }
    }

    /// How many columns it takes.
    var width: Int { pieces.reduce(0) { $0 + $1.text.displayWidth } }

    /// The line without what does not fit into `columns`.
    func cut(to columns: Int) -> Line {
        var room = columns
        var line = Line()
        for piece in pieces where room > 0 {
            line.add(piece.text.cut(to: room, ellipsis: ""), piece.ink)
            room -= piece.text.displayWidth
        }
        return line
    }

    /// The text with its colours, without spaces at the end.
    func text(_ style: Style) -> String {
        var text = ""
        for piece in pieces {
            let plain = style.hasUnicode ? piece.text : piece.text.ascii
            let isInked = style.hasColours && piece.ink != .plain && plain.contains { $0 != " " }
            text += isInked ? "\u{1B}[\(piece.ink.rawValue)m\(plain)\u{1B}[0m" : plain
        }
        while text.last == " " { text.removeLast() }
        return text
    }
}

extension String {
    /// The text with `?` for every letter that is not ASCII, as many as it has columns.
    fileprivate var ascii: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        return map { $0.isASCII ? String($0) : String(repeating: "?", count: $0.displayWidth) }.joined()
    }
}

/// The signs of a style.
struct Signs: Sendable {
    let done, failed, stopped, held, note, downloading, waiting: String
    let spinner: [String]
    let ellipsis: String
    /// A full, a half and an empty step of a bar; `half` is `nil` where there is none.
    let full, empty: String
    let half: String?

    init(_ style: Style) {
        if style.hasUnicode {
            (done, failed, stopped, held, note, downloading, waiting) = ("✓", "✗", "–", "⏸", "!", "↓", "·")
            spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
            (full, half, empty, ellipsis) = ("━", "╸", "─", "…")
        } else {
            (done, failed, stopped, held, note, downloading, waiting) = ("+", "x", "-", "=", "!", ">", ".")
            spinner = ["|", "/", "-", "\\"]
            (full, half, empty, ellipsis) = ("#", nil, "-", "...")
        }
    }
}
