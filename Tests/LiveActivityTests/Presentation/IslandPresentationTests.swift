import FerryActivity
import Foundation
import TestKit
import Testing

@testable import FerryLiveActivity

private typealias Samples = IslandSamples

@Suite struct `What the island shows` {
    /// Every install that can be: its stages with and without progress, held and not, and its outcomes.
    private static let installs: [Install] = {
        var installs: [Install] = []
        for stage in Stage.allCases {
            let progress: [StageProgress?] =
                [nil, .bytes(5, of: nil), .bytes(0, of: 0), .bytes(.max, of: 3)] + (0...200).map { .bytes($0, of: 200) }
            for progress in progress {
                installs.append(Samples.install("Lantern", stage, progress))
                // What is finished is not held.
                if stage != .finished { installs.append(Samples.install("Lantern", stage, progress, held: true)) }
            }
        }
        for outcome in [.installed(location: nil), .cancelled, Samples.failure()] as [Outcome] {
            installs.append(Samples.install("Lantern", outcome: outcome))
            installs.append(Samples.install("Lantern", held: true, outcome: outcome))
        }
        return installs
    }()

    @Test func `is the label of the install, at every stage and end`() {
        for install in Self.installs {
            let shown = IslandPresentation(IslandState(Activity(installs: [install]), seq: 1))
            #expect(shown.label == install.label)
            #expect(shown.compactTrailing == install.label)
            #expect(shown.expanded.rows.map(\.label) == [install.label])
        }
        #expect(Set(Self.installs.map(\.label)).isSuperset(of: ["Waiting", "41%", "Download", "Paused", "Stopped"]))
    }

    @Test func `is the label of the activity`() {
        for seed in UInt64(1)...500 {
            var random = SeededGenerator(seed: seed)
            let activity = Samples.random(upTo: 6, &random)
            let shown = IslandPresentation(IslandState(activity, seq: 1))
            #expect(shown.label == activity.label, "seed \(seed)")
            #expect(shown.expanded.rows.map(\.label).allSatisfy { $0.count <= 8 }, "seed \(seed)")
        }
        for count in [0, 1, 2, 99, 100, 999, 1_000] {
            let activity = Activity(installs: (0..<count).map { _ in Samples.install("a", .signing) })
            #expect(IslandPresentation(IslandState(activity, seq: 1)).label == activity.label)
        }
    }

    @Test func `fits into the compact island in every language`() {
        for seed in UInt64(1)...300 {
            var random = SeededGenerator(seed: seed)
            let state = IslandState(Samples.random(upTo: 5, &random), seq: 1, needsTap: Bool.random(using: &random))
            for words in IslandWords.builtIn {
                let shown = IslandPresentation(state, words: words)
                for text in [shown.label, shown.compactLeading, shown.compactTrailing]
                    + shown.expanded.rows.map(\.label)
                {
                    #expect((1...8).contains(text.count), "seed \(seed), \(words.language): \(text)")
                }
                #expect((1...4).contains(shown.minimal.count), "seed \(seed), \(words.language): \(shown.minimal)")
            }
        }
    }

    @Test func `of one download is its name, its percentage and its bytes`() {
        let state = IslandState(Samples.oneDownload, seq: 7, icon: [1])
        let shown = IslandPresentation(state)
        #expect([shown.compactLeading, shown.compactTrailing, shown.minimal] == ["Lantern", "41%", "41%"])
        #expect([shown.expanded.title, shown.expanded.subtitle] == ["Lantern", "Downloading"])
        #expect(shown.expanded.detail == "19.7/48.0 MB")
        #expect(shown.expanded.footer == nil)
        #expect(shown.expanded.fraction == 0.41)
        #expect(shown.expanded.rows.map(\.fraction) == [0.41])
        #expect(shown.expanded.countdown == Samples.date + 14)
        #expect([shown.lockScreen.title, shown.lockScreen.status] == ["Lantern", "Downloading, 41%"])
        #expect(shown.lockScreen.detail == "19.7/48.0 MB")
        #expect(shown.lockScreen.countdown == Samples.date + 14)
        #expect(shown.accessibilityText == "Lantern, Downloading, 41 percent")
        #expect(shown.icon == [1])
    }

    @Test func `of a batch is its count, and what the list does not hold`() {
        let shown = IslandPresentation(IslandState(Samples.batch, seq: 12))
        #expect(
            [shown.label, shown.compactLeading, shown.compactTrailing, shown.minimal] == [
                "6 apps", "6 apps", "25%", "25%",
            ]
        )
        #expect([shown.expanded.title, shown.expanded.subtitle] == ["6 apps", "Downloading"])
        #expect(shown.expanded.rows.map(\.label) == ["25%", "Signing", "Paused", "Waiting"])
        #expect(shown.expanded.footer == "and 2 more, 1 failed")
        #expect(shown.lockScreen.detail == "25.0/100 MB, 1 failed")
        #expect(shown.accessibilityText == "6 apps, Downloading, 25 percent, 1 failed")
    }

    @Test func `of a batch that is over is how it ended`() {
        let shown = IslandPresentation(IslandState(Samples.finished, seq: 30))
        #expect(
            [shown.label, shown.compactLeading, shown.compactTrailing, shown.minimal] == [
                "Failed", "3 apps", "Failed", "!",
            ]
        )
        #expect(shown.expanded.subtitle == "1 installed, 1 failed, 1 stopped")
        #expect(shown.expanded.footer == nil)
        #expect(shown.expanded.detail == nil)
        #expect(shown.accessibilityText == "3 apps, 1 installed, 1 failed, 1 stopped")
        let done = IslandPresentation(IslandState(installedCount: 2))
        #expect([done.label, done.minimal, done.expanded.subtitle] == ["Done", "✓", "2 installed"])
        let stopped = IslandPresentation(IslandState(stoppedCount: 2))
        #expect([stopped.label, stopped.minimal, stopped.expanded.subtitle] == ["Stopped", "–", "2 stopped"])
    }

    @Test func `of a stage that is not known is neutral`() throws {
        let state = try Samples.decode(#"{"count":1,"items":[{"at":"polishing","name":"Lantern"}]}"#)
        let shown = IslandPresentation(state)
        #expect([shown.label, shown.expanded.subtitle, shown.minimal] == ["Working", "Working", "…"])
    }

    @Test func `asks for a tap until all is over`() {
        let shown = IslandPresentation(Samples.heldTap)
        #expect([shown.label, shown.compactTrailing, shown.minimal] == ["Paused", "Tap", "↻"])
        #expect([shown.expanded.footer, shown.lockScreen.detail] == ["Tap to update", "Tap to update"])
        #expect(shown.expanded.subtitle == "Paused")
        #expect(shown.accessibilityText == "\"Quo/ted\" 灯籠, Paused, 50 percent, Tap to update")
        #expect(shown.compactLeading == "\"Quo/te…")
        let over = IslandPresentation(IslandState(Samples.finished, seq: 1, needsTap: true))
        #expect([over.compactTrailing, over.minimal, over.expanded.footer] == ["Failed", "!", nil])
    }

    @Test func `of one install goes on without its item`() {
        #expect(IslandPresentation(IslandState(failedCount: 1)).label == "Failed")
        #expect(IslandPresentation(IslandState(failedCount: 1)).expanded.subtitle == "Failed")
        let shown = IslandPresentation(IslandState(count: 1, isDownloading: true, percent: 3, hiddenCount: 1))
        #expect([shown.label, shown.expanded.title, shown.expanded.footer] == ["3%", "App", nil])
        #expect(IslandPresentation(IslandState(count: 1)).label == "Working")
        #expect(IslandPresentation(IslandState(count: 1, isHeld: true)).label == "Paused")
    }

    @Test func `of nothing is nothing`() {
        let shown = IslandPresentation(IslandState(Activity(), seq: 1))
        #expect([shown.label, shown.compactLeading, shown.compactTrailing, shown.minimal] == ["", "", "", ""])
        #expect(shown.expanded.title == "Nothing to install")
        #expect(shown.accessibilityText == "Nothing to install")
    }

    @Test(
        arguments: [
            ("en", ["6 apps", "25%", "Downloading", "and 2 more, 1 failed", "25.0/100 MB, 1 failed"]),
            (
                "de-AT",
                [
                    "6 Apps", "25\u{A0}%", "Wird geladen", "und 2 weitere, 1 fehlgeschlagen",
                    "25,0/100 MB, 1 fehlgeschlagen",
                ]
            ),
            ("ja_JP", ["6個", "25%", "ダウンロード中", "ほか2個、1個失敗", "25.0/100 MB、1個失敗"]),
            ("ar", ["6 برامج", "25%", "جارٍ التنزيل", "وتطبيقان آخران، الفاشلة: 1", "25.0/100 MB، الفاشلة: 1"]),
            ("tlh", ["6 apps", "25%", "Downloading", "and 2 more, 1 failed", "25.0/100 MB, 1 failed"]),
        ]
    )
    func `is in the reader's language`(language: String, expected: [String]) {
        let shown = IslandPresentation(IslandState(Samples.batch, seq: 1), words: .words(for: language))
        let texts = [shown.compactLeading, shown.compactTrailing, shown.expanded.subtitle]
        #expect(texts + [shown.expanded.footer ?? "", shown.lockScreen.detail ?? ""] == expected)
    }
}
