import FerryBytes

/// A command line, taken apart into words as a shell does it with quotes and backslashes, and with nothing else.
///
/// Blanks part words. `'…'` is taken as it is; in `"…"` a backslash before `"` or `\` is taken away; outside, before any
/// character. There are no variables, patterns, pipes or redirections: for those, name a script.
enum CommandWords {
    /// How many words there may be.
    static let limit = 256

    static func split(_ text: String) throws(CommandReporterError) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var letters = text.makeIterator()
        while let letter = letters.next() {
            switch (letter, quote) {
            case ("'", nil), ("\"", nil):
                quote = letter
                word = word ?? ""
            case ("'", "'"), ("\"", "\""): quote = nil
            case ("\\", nil):
                guard let next = letters.next() else { throw unfinished(text, "a backslash") }
                word = (word ?? "") + String(next)
            case ("\\", "\""):
                guard let next = letters.next() else { throw unfinished(text, "a quote") }
                word = (word ?? "") + (next == "\"" || next == "\\" ? "" : "\\") + String(next)
            case (_, nil) where letter.isWhitespace:
                if let ended = word { words.append(ended) }
                word = nil
            default: word = (word ?? "") + String(letter)
            }
        }
        guard quote == nil else { throw unfinished(text, "a quote") }
        if let word { words.append(word) }
        guard let program = words.first, !program.isEmpty else {
            throw CommandReporterError(.command, "exec: names no program.", remedy: "Give exec:PROGRAM.")
        }
        guard words.count <= limit, !text.utf8.contains(0) else {
            throw CommandReporterError(
                .command,
                "exec:\(program.printable): more than \(limit) words, or a zero byte.",
                remedy: "Put the command into a script, and name that."
            )
        }
        return words
    }

    private static func unfinished(_ text: String, _ what: String) -> CommandReporterError {
        CommandReporterError(
            .command,
            "exec:\(text.printable): \(what) is never closed.",
            remedy: "Close it, or put the command into a script and name that."
        )
    }
}
