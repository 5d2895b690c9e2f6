import FerryActivity
import Foundation
import TestKit
import Testing

@testable import FerryLiveActivity

private typealias Samples = IslandSamples

@Suite struct `A content state` {
    @Test func `has no numbers once nothing is downloading`() {
        let parts = IslandState(
            count: 1,
            percent: 41,
            barFraction: 0.4,
            downloadedBytes: 1,
            totalBytes: 2,
            finishAt: Samples.date
        )
        #expect(parts == IslandState(count: 1))
        for stage in [Stage.waiting, .signing, .installing] {
            let activity = Activity(
                installs: [Samples.install("a", stage, .steps(1, of: 2), rate: 5)],
                measuredAt: Samples.date
            )
            let state = IslandState(activity, seq: 1)
            #expect(
                state
                    == IslandState(
                        seq: 1,
                        count: 1,
                        items: [.init(title: "a", stage: IslandStage(activity.installs[0]))]
                    )
            )
        }
    }

    @Test func `lists what runs, then what failed, then the rest, oldest first`() {
        let done = Outcome.installed(location: nil)
        func titles(_ installs: [Install]) -> [String] {
            IslandState(Activity(installs: installs), seq: 0).items.map(\.title)
        }
        let installs = [
            Samples.install("done 1", outcome: done), Samples.install("failed 1", outcome: Samples.failure()),
            Samples.install("running 1", .signing), Samples.install("stopped", outcome: .cancelled),
            Samples.install("failed 2", outcome: Samples.failure()), Samples.install("running 2"),
        ]
        #expect(titles(installs) == ["running 1", "running 2", "failed 1", "failed 2"])
        #expect(titles(Array(installs.dropLast())) == ["running 1", "failed 1", "failed 2", "done 1"])
        #expect(titles([installs[0], installs[3], installs[4]]) == ["failed 2", "done 1", "stopped"])
        let many = (1...500).map { Samples.install("\($0)", outcome: $0 < 496 ? done : nil) }
        let state = IslandState(Activity(installs: many), seq: 0)
        #expect(state.items.map(\.title) == ["496", "497", "498", "499"])
        let counts: [Int] = [state.hiddenCount, state.count, state.installedCount, state.totalCount]
        #expect(counts == [496, 5, 495, 500] as [Int])
    }

    @Test func `counts the bytes of all downloads with a known length`() {
        let activity = Activity(installs: [
            Samples.install("a", .downloading, .bytes(10, of: 100)),
            Samples.install("b", .downloading, .bytes(300, of: 200)),
            Samples.install("c", .downloading, .bytes(7_000, of: nil)),
            Samples.install("d", .downloading), Samples.install("e", .signing, .bytes(1, of: 1_000)),
            Samples.install("f", .downloading, .bytes(-50, of: 100), held: true),
            Samples.install("g", .downloading, .bytes(1, of: 900), outcome: .cancelled),
        ])
        let state = IslandState(activity, seq: 0)
        #expect(state.isDownloading)
        // 10 of 100, 200 of 200, 0 of 100: 210 of 400.
        #expect(state.downloadedBytes == 210)
        #expect(state.totalBytes == 400)
        #expect(state.percent == 52)
        #expect(state.barFraction == 0.525)
        #expect(state.finishAt == nil)
    }

    @Test func `knows bytes and no percentage of unknown lengths`() {
        let activity = Activity(installs: [
            Samples.install("a", .downloading, .bytes(7, of: nil)),
            Samples.install("b", .downloading, .bytes(5, of: 0)),
        ])
        let state = IslandState(activity, seq: 0)
        #expect(state.isDownloading)
        #expect(state.downloadedBytes == 12)
        #expect(
            [state.totalBytes.map(Double.init), state.percent.map(Double.init), state.barFraction] == [nil, nil, nil]
        )
        let begun = IslandState(Activity(installs: [Samples.install("a", .downloading)]), seq: 0)
        #expect(begun == IslandState(count: 1, isDownloading: true, items: [.init(title: "a", stage: .downloading)]))
    }

    @Test func `has an icon only where there is one install`() {
        let icon: [UInt8] = [1, 2, 3]
        #expect(IslandState(Samples.oneDownload, seq: 0, icon: icon).icon == icon)
        #expect(IslandState(Samples.oneDownload, seq: 0, icon: []).icon == nil)
        #expect(IslandState(Samples.batch, seq: 0, icon: icon).icon == nil)
        // One that runs beside one that has ended are two.
        #expect(IslandState(count: 1, failedCount: 1, icon: icon).icon == nil)
        #expect(IslandState(failedCount: 1, icon: icon).icon == icon)
        #expect(IslandState(icon: icon).icon == nil)
    }

    @Test func `is held when the activity is, and final when it is`() {
        let held = Activity(installs: [
            Samples.install("a", .downloading, .bytes(1, of: 2), held: true), Samples.install("b", outcome: .cancelled),
        ])
        #expect(IslandState(held, seq: 0).isHeld)
        #expect(IslandState(held, seq: 0).percent == 50)
        #expect(!IslandState(Samples.batch, seq: 0).isHeld)
        #expect(IslandState(Samples.finished, seq: 0).isFinished)
        #expect(!IslandState(held, seq: 0).isFinished)
        #expect(!IslandState(Activity(), seq: 0).isFinished)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300, -1, 9_000_000_001])
    func `has no finish at a date that is none`(seconds: Double) throws {
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        let state = IslandState(count: 1, isDownloading: true, finishAt: date)
        #expect(state.finishAt == nil)
        #expect(IslandAttributes(id: "a", startedAt: date) == IslandAttributes(id: "a"))
    }

    @Test func `brings numbers into their range`() {
        for wild in [Int.min, -1, Int.max] {
            let item = IslandState.Item(title: "a", stage: .downloading, percent: wild)
            let state = IslandState(
                seq: wild,
                count: 1,
                installedCount: wild,
                failedCount: wild,
                stoppedCount: wild,
                isDownloading: true,
                percent: wild,
                barFraction: wild < 0 ? -.infinity : .infinity,
                downloadedBytes: Int64(wild),
                totalBytes: Int64(wild),
                items: Array(repeating: item, count: 9),
                hiddenCount: wild
            )
            let most = IslandState.maximumCount
            #expect(state.seq == (wild < 0 ? 0 : most))
            #expect(state.hiddenCount == (wild < 0 ? 5 : most))
            #expect(state.totalCount == (wild < 0 ? 1 : most))
            #expect(state.items.map(\.percent) == Array(repeating: wild < 0 ? 0 : 100, count: 4))
            #expect(state.percent == (wild < 0 ? 0 : 100))
            #expect(state.barFraction == (wild < 0 ? 0 : 1))
            #expect(state.totalBytes == (wild < 0 ? 0 : IslandState.maximumBytes))
        }
        #expect(IslandState(count: 1, isDownloading: true, barFraction: .nan).barFraction == nil)
    }

    @Test func `is another one with another number or when it asks for a tap`() {
        let state = IslandState(Samples.oneDownload, seq: 1)
        #expect(state.numbered(2) == IslandState(Samples.oneDownload, seq: 2))
        #expect(state.askingForTap() == IslandState(Samples.oneDownload, seq: 1, needsTap: true))
        #expect(state.askingForTap().askingForTap(false) == state)
        #expect(state.numbered(2) != state)
    }

    @Test func `takes unlisted installs into its counts`() async {
        // A center lists 1,000 finished installs at most and only counts the older ones.
        let clock = ManualClock()
        let center = ActivityCenter(now: { clock.date }, clock: clock)
        await center.send(.added("last", title: "Last"))
        for number in 0..<1_200 {
            await center.send(.added(InstallID("\(number)"), title: "App \(number)"))
            await center.send(.finished(InstallID("\(number)"), .installed(location: nil)))
        }
        let activity = await center.activity
        let state = IslandState(activity, seq: 0)
        #expect(activity.installs.count < 1_201)
        let counts: [Int] = [state.count, state.installedCount, state.hiddenCount]
        #expect(counts == [1, 1_200, 1_197] as [Int])
    }
}

@Suite struct `A title in the island` {
    @Test(
        arguments: [
            ("Lantern", "Lantern"), ("  two\r\nlines\t ", "two lines"), ("\u{0}\u{0}", ""), ("a\u{2028}b", "a b"),
            ("\u{202E}desrever\u{202C}", "desrever"), ("👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"),
        ]
    )
    func `is one line`(title: String, expected: String) {
        #expect(Array(IslandState.Item(title: title, stage: .waiting).title.utf8) == Array(expected.utf8))
    }

    @Test(
        arguments: [
            ("Lantern", 7, 99, "Lantern"), ("Lantern", 6, 99, "Lante…"), ("Lantern", 1, 99, "…"),
            ("Lantern", 0, 99, ""),
            ("Lantern", 99, 6, "Lan…"), ("Lantern", 99, 3, "…"), ("Lantern", 99, 2, ""), ("", 0, 0, ""),
            ("two words", 5, 99, "two…"), ("e\u{301}e\u{301}e\u{301}", 99, 8, "e\u{301}…"),
            // 25 bytes each: no family is torn apart.
            ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 99, 49, "👨‍👩‍👧‍👦…"), ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 99, 27, "…"), ("🇩🇪🇫🇷", 1, 99, "…"),
            ("灯籠灯籠", 99, 9, "灯籠…"),
        ] as [(String, Int, Int, String)]
    )
    func `is cut between letters`(text: String, letters: Int, bytes: Int, expected: String) {
        #expect(Array(text.cut(toLetters: letters, bytes: bytes).utf8) == Array(expected.utf8))
    }

    @Test(arguments: IslandSamples.names) func `is whole letters of the name, at every length`(name: String) {
        let line = String(name.prefix(40)).oneLine
        let beginnings = Set((0...line.count).map { Array(line.prefix($0).utf8) })
        for bytes in 0...min(line.utf8.count + 2, 1_000) {
            let cut = line.cut(toLetters: .max, bytes: bytes)
            #expect(cut.utf8.count <= bytes)
            #expect(cut.cut(toLetters: .max, bytes: bytes) == cut)
            if cut.utf8.count == line.utf8.count { continue }
            #expect(cut.isEmpty ? bytes < 3 : cut.unicodeScalars.last == "…")
            #expect(beginnings.contains { $0 == Array(cut.utf8.dropLast(3)) })
        }
        let title = IslandState.Item(title: name, stage: .waiting).title
        #expect(title.utf8.count <= 256 && title.count <= 64)
        #expect(IslandState.Item(title: title, stage: .waiting).title == title)
    }
}
