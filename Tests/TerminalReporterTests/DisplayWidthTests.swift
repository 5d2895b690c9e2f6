import TestKit
import Testing

@testable import FerryTerminalReporter

@Suite struct `The width of a text` {
    @Test(
        arguments: [
            ("", 0), ("Lantern", 7), ("灯籠", 4), ("e\u{301}clair", 6), ("éclair", 6), ("한국", 4),
            ("\u{1112}\u{1161}\u{11AB}", 2), ("👩‍👩‍👧‍👦", 2), ("🇩🇪", 2), ("❤\u{FE0F}", 2), ("❤", 1), ("1\u{FE0F}\u{20E3}", 2),
            ("\u{7}\u{1B}", 0), ("\u{200B}", 0), ("ｆｕｌｌ", 8), ("ﾊﾝ", 2), ("│━⏸✓", 4), ("Z\u{335}\u{322}", 1),
            ("שלום", 4),
        ] as [(String, Int)]
    )
    func `is counted in columns`(text: String, width: Int) {
        #expect(text.displayWidth == width)
    }

    @Test func `agrees with the tables of Python`() throws {
        // UAX #11 of Python's own Unicode version. Unassigned letters, the Hangul parts that join and the
        // halves of flags are left out.
        let script = """
            import unicodedata as u
            for c in range(0xA1, 0x30000):
                s = chr(c)
                k = u.category(s)
                if k[0] in "LNPS" and not 0x1160 <= c <= 0x11FF and not 0x1F1E6 <= c <= 0x1F1FF:
                    print(c, 2 if u.east_asian_width(s) in "WF" else 1)
            """
        guard let python = Tool("python3") else { return }
        let lines = try python.run(["-c", script]).text.split(separator: "\n")
        #expect(lines.count > 90_000)
        var wrong: [String] = []
        for line in lines {
            let parts = line.split(separator: " ").compactMap { UInt32($0) }
            guard let scalar = parts.first.flatMap(Unicode.Scalar.init), parts.count == 2 else { continue }
            let width = Character(scalar).displayWidth
            if width != Int(parts[1]) { wrong.append("\(String(parts[0], radix: 16)): \(width)") }
        }
        #expect(wrong == [])
    }

    @Test(
        arguments: [
            ("Lantern", 7, "Lantern"), ("Lantern", 6, "Lante…"), ("灯籠灯籠", 7, "灯籠灯…"), ("灯籠灯籠", 6, "灯籠…"),
            ("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3, "👩‍👩‍👧‍👦…"), ("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 2, "…"), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("abc", 1, "…"),
            ("abc", 0, ""), ("", 0, ""),
        ] as [(String, Int, String)]
    )
    func `is kept to by cutting between letters`(text: String, columns: Int, result: String) {
        #expect(text.cut(to: columns, ellipsis: "…") == result)
    }

    @Test func `is not cheated by control characters`() {
        #expect("a\u{1B}[31mb\u{7}\nc\u{202E}d\u{9B}2J".printable == "a[31mb cd2J")
    }
}

@Suite struct `A quantity` {
    @Test(
        arguments: [
            (0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (99_940, "99.9 kB"), (99_950, "100 kB"), (999_499, "999 kB"),
            (999_500, "1.0 MB"), (48_000_000, "48.0 MB"), (3.1e9, "3.1 GB"), (7e15, "7000 TB"), (1e300, "999999 TB"),
            (-5, "0 B"),
        ] as [(Double, String)]
    )
    func `of bytes is short`(count: Double, text: String) {
        #expect(Quantities.bytes(count) == text)
    }

    @Test func `of bytes has one unit for both numbers`() {
        #expect(Quantities.bytes(200_000, of: 48_000_000) == "0.2/48.0 MB")
        #expect(Quantities.bytes(5, of: 10) == "5/10 B")
        #expect(Quantities.bytes(5_000, of: nil) == "5.0 kB")
    }

    @Test(
        arguments: [
            (-1, "0s", "0s"), (0.44, "0.4s", "0s"), (9.94, "9.9s", "10s"), (42.4, "42s", "42s"),
            (59.6, "1m 00s", "1m 00s"),
            (65, "1m 05s", "1m 05s"), (3_599.6, "1h 00m", "1h 00m"), (12_000, "3h 20m", "3h 20m"),
            (1e30, ">99h", ">99h"),
            (.infinity, ">99h", ">99h"), (.nan, "0s", "0s"),
        ] as [(Double, String, String)]
    )
    func `of time is short`(seconds: Double, text: String, whole: String) {
        #expect(Quantities.time(seconds) == text)
        #expect(Quantities.wholeTime(seconds) == whole)
    }
}

@Suite struct `A style` {
    @Test(
        arguments: [
            // environment, terminal: live, colours, unicode
            (["TERM": "xterm"], true, true, true, false),
            (["TERM": "xterm", "LANG": "de_DE.UTF-8"], true, true, true, true),
            (["TERM": "xterm", "LANG": "de_DE.UTF-8"], false, false, false, true),
            (["TERM": "xterm", "LC_ALL": "C", "LANG": "en_US.UTF-8"], true, true, true, false),
            (["TERM": "xterm", "LC_ALL": "", "LC_CTYPE": "C.utf8"], true, true, true, true),
            (["TERM": "xterm", "NO_COLOR": "1"], true, true, false, false),
            (["TERM": "xterm", "NO_COLOR": ""], true, true, true, false),
            (["TERM": "dumb"], true, false, false, false),
            ([:], true, false, false, false),
            (["CLICOLOR_FORCE": "1"], false, false, true, false),
            (["CLICOLOR_FORCE": "0"], false, false, false, false),
            (["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], false, false, false, false),
        ] as [([String: String], Bool, Bool, Bool, Bool)]
    )
    func `follows the environment`(
        environment: [String: String],
        isTerminal: Bool,
        isLive: Bool,
        hasColours: Bool,
        hasUnicode: Bool
    ) {
        let style = Style(environment: environment, isTerminal: isTerminal)
        #expect(style == Style(isLive: isLive, hasColours: hasColours, hasUnicode: hasUnicode))
    }
}
