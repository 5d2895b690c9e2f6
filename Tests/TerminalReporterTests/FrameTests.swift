import FerryActivity
import Foundation
import Testing

@testable import FerryTerminalReporter

// The tenths of this second are where the spinner and the wandering piece begin.
private let date = Date(timeIntervalSinceReferenceDate: 1_008)
private let plain = Style(isLive: true, hasColours: false, hasUnicode: true)
private let ascii = Style(isLive: true, hasColours: false, hasUnicode: false)

private func lines(
    _ installs: [Install],
    width: Int = 80,
    height: Int = 24,
    style: Style = plain,
    at now: Date = date,
    hint: String? = nil
) -> [String] {
    var frame = Frame(width: width, height: height, style: style, now: now)
    frame.hint = hint
    return frame.lines(Activity(installs: installs, measuredAt: date))
}

private let lantern = Install(
    id: "lantern",
    title: "Lantern",
    stage: .downloading,
    progress: .bytes(24_000_000, of: 48_000_000),
    bytesPerSecond: 3_100_000,
    finishAt: date + 8,
    addedAt: date - 9
)
private let compass = Install(id: "compass", title: "Compass", stage: .signing, addedAt: date)
private let tide = Install(id: "tide", title: "Tide", addedAt: date)

@Suite struct `A frame` {
    @Test func `shows one install in a line`() {
        #expect(
            lines([lantern]) == [
                "↓ Lantern  ━━━━━━━━━━━━────────────      50%    24.0/48.0 MB   3.1 MB/s      8s"
            ]
        )
    }

    @Test func `adds a line for a batch`() {
        var held = lantern
        held.isHeld = true
        (held.bytesPerSecond, held.finishAt) = (nil, nil)
        let done = Install(id: "done", title: "Done", stage: .finished, outcome: .cancelled, addedAt: date)
        #expect(
            lines([lantern, compass, held, tide, done], hint: "p pause   q cancel") == [
                "↓ Lantern  ━━━━━━━━━━━━────────────      50%    24.0/48.0 MB   3.1 MB/s      8s",
                "⠋ Compass  ━━━━━━──────────────────  Signing",
                "⏸ Lantern  ━━━━━━━━━━━━────────────   Paused    24.0/48.0 MB",
                "· Tide     ────────────────────────  Waiting",
                "  5 apps   ━━━━━━━━━━━╸────────────      48%          1 done   3.1 MB/s",
                "  p pause   q cancel",
            ]
        )
    }

    @Test func `moves what has no measure`() {
        #expect(
            [0, 1, 18, 19].map { lines([compass], at: date + $0 / 10 + 0.01)[0] } == [
                "⠋ Compass  ━━━━━━──────────────────  Signing",
                "⠙ Compass  ─━━━━━━─────────────────  Signing",
                "⠇ Compass  ──────────────────━━━━━━  Signing",
                "⠏ Compass  ─────────────────━━━━━━─  Signing",
            ]
        )
    }

    @Test func `says what a stage does where there is room`() {
        var installing = compass
        (installing.stage, installing.step) = (.installing, "VerifyingApplication\u{1B}[31m")
        installing.progress = .steps(40, of: 100)
        #expect(
            lines([installing]) == [
                "⠋ Compass  ━━━━━━━━━╸──────────────  Install  VerifyingApplication[31m"
            ]
        )
        installing.step = String(repeating: "long ", count: 20)
        #expect(lines([installing])[0].count == 79)
        #expect(lines([installing], width: 50)[0].contains("long") == false)
    }

    @Test func `does without letters that are not ASCII`() {
        var named = lantern
        named.title = "灯籠 é"
        #expect(
            lines([named, compass], style: ascii) == [
                "> ???? ?   ############------------      50%    24.0/48.0 MB   3.1 MB/s      8s",
                "| Compass  ######------------------  Signing",
                "  2 apps   ############------------      52%          0 done   3.1 MB/s      8s",
            ]
        )
    }

    @Test func `has colours where they are wanted`() {
        let style = Style(isLive: true, hasColours: true, hasUnicode: true)
        #expect(
            lines([tide], width: 40, style: style) == [
                "\u{1B}[2m· \u{1B}[0mTide  \u{1B}[2m──────────────\u{1B}[0m  Waiting"
            ]
        )
    }

    @Test func `drops columns as the terminal becomes narrow`() {
        #expect(
            [64, 50, 36, 24, 14].map { lines([lantern], width: $0)[0] } == [
                "↓ Lantern  ━━━━━━━━━━━━────────────      50%   3.1 MB/s      8s",
                "↓ Lantern  ━━━━━━━━━━╸──────────      50%      8s",
                "↓ Lantern  ━━━━━━━╸───────      50%",
                "↓ Lantern      50%",
                "↓ L…      50%",
            ]
        )
    }

    @Test(arguments: 0...130) func `never reaches the last column or row`(size: Int) {
        let wide = History.unicode.events.compactMap { event -> Install? in
            guard case .added(let id, let title) = event else { return nil }
            return Install(id: id, title: title, stage: .downloading, progress: .bytes(1, of: nil), addedAt: date)
        }
        for installs in [[lantern], [lantern, compass, tide], wide] {
            for style in [plain, ascii] {
                let lines = lines(installs, width: size, height: size % 17, style: style, hint: "p pause   q cancel")
                #expect(lines.allSatisfy { $0.displayWidth < max(size, 1) })
                #expect(lines.count < max(size % 17, 1))
            }
        }
    }

    @Test func `shows those that something is done for when there are too many`() {
        var installs = (1...40).map { Install(id: InstallID("\($0)"), title: "App \($0)", addedAt: date) }
        installs[30].stage = .signing
        installs[20].stage = .downloading
        installs[20].isHeld = true
        installs[10].stage = .installing
        #expect(
            lines(installs, width: 40, height: 7).map { String($0.prefix(8)) } == [
                "· App 1 ", "⠋ App 11", "⏸ App 21", "⠋ App 31", "  … and ", "  40 app",
            ]
        )
        #expect(lines(installs, width: 40, height: 7)[4] == "  … and 36 more")
        #expect(lines(installs, width: 40, height: 3).map { String($0.prefix(8)) } == ["⠋ App 11", "  40 app"])
        #expect(lines(installs, width: 40, height: 2).map { String($0.prefix(8)) } == ["  40 app"])
    }

    @Test func `is empty when all is finished`() {
        #expect(lines([]) == [])
        #expect(lines([Install(id: "a", title: "", stage: .finished, outcome: .cancelled, addedAt: date)]) == [])
    }

    @Test func `is full only at the end`() {
        var almost = lantern
        almost.progress = .bytes(999_999, of: 1_000_000)
        #expect(lines([almost], width: 36) == ["↓ Lantern  ━━━━━━━━━━━━━━╸      99%"])
        almost.progress = .bytes(1_000_000, of: 1_000_000)
        #expect(lines([almost], width: 36) == ["↓ Lantern  ━━━━━━━━━━━━━━━     100%"])
    }

    @Test func `copes with dates and numbers out of all bounds`() {
        var odd = lantern
        odd.progress = .bytes(.max, of: .max)
        (odd.bytesPerSecond, odd.finishAt) = (1e-300, Date(timeIntervalSinceReferenceDate: 1e300))
        #expect(lines([odd])[0].displayWidth == 79)
        #expect(lines([odd], at: Date(timeIntervalSinceReferenceDate: -1e300)).count == 1)
    }
}
