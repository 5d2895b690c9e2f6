import FerryActivity
import Foundation
import Testing

@testable import FerryLiveActivity

private func state(_ changes: (inout [Install], inout Date) -> Void = { _, _ in }, seq: Int = 1) -> IslandState {
    var installs = IslandSamples.batch.installs
    var date = IslandSamples.date
    changes(&installs, &date)
    return IslandState(Activity(installs: installs, measuredAt: date), seq: seq)
}

private func completed(_ bytes: Int64, of total: Int64? = 100_000_000) -> IslandState {
    state { installs, _ in installs[0].progress = .bytes(bytes, of: total) }
}

@Suite struct `What an update brings` {
    @Test func `is nothing where no whole percentage moved`() {
        #expect(state(seq: 9).importance(since: state()) == nil)
        #expect(completed(25_999_999).importance(since: state()) == nil)
        #expect(completed(25_999_999) != state())
    }

    @Test func `is progress where one did, or five million bytes of an unknown length`() {
        #expect(completed(26_000_000).importance(since: state()) == .progress)
        #expect(completed(24_999_999).importance(since: state()) == .progress)
        #expect(completed(9_999_999, of: nil).importance(since: completed(5_000_000, of: nil)) == nil)
        #expect(completed(10_000_000, of: nil).importance(since: completed(5_000_000, of: nil)) == .progress)
        let one = IslandState(IslandSamples.oneDownload, seq: 1)
        let stalled = IslandState(Activity(installs: IslandSamples.oneDownload.installs), seq: 1)
        #expect(one.finishAt != nil && stalled.finishAt == nil)
        #expect(one.importance(since: stalled) == .progress)
    }

    @Test func `is a fact where something happened, though no percentage moved`() {
        #expect(state().importance(since: nil) == .fact)
        let changes: [(inout [Install], inout Date) -> Void] = [
            { installs, _ in installs[0].isHeld = true },
            { installs, _ in installs[4].isHeld = false },
            { installs, _ in installs[2].stage = .installing },
            { installs, _ in installs[0].title = "Lamp" },
            { installs, _ in installs[5].outcome = .cancelled },
            { installs, _ in installs.append(IslandSamples.install("New")) },
        ]
        for change in changes { #expect(state(change).importance(since: state()) == .fact) }
        #expect(state().askingForTap().importance(since: state()) == .fact)
    }
}
