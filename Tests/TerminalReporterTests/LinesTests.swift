import FerryActivity
import Foundation
import TestKit
import Testing

@testable import FerryTerminalReporter

private let plain = Style(isLive: false, hasColours: false, hasUnicode: true)

/// What a center tells about these events, one every `step`.
private func updates(_ events: [ActivityEvent], step: Duration = .seconds(1)) async -> [ActivityUpdate] {
    let clock = ManualClock()
    let center = ActivityCenter(now: { clock.date }, clock: clock)
    var iterator = await center.subscribe().makeAsyncIterator()
    var updates: [ActivityUpdate] = []
    for event in events {
        await center.send(event)
        if let update = await iterator.next() { updates.append(update) }
        clock.advance(by: step)
    }
    await center.close(waitingAtMost: .zero)
    if let update = await iterator.next() { updates.append(update) }
    return updates
}

private let failure = Failure(message: "The device went\naway.", remedy: "Connect it again.", stage: .installing)

@Suite(.timeLimit(.minutes(10))) struct `Plain lines` {
    private func lines(_ events: [ActivityEvent], step: Duration = .seconds(1)) async -> [String] {
        var lines = PlainLines(style: plain)
        return await updates(events, step: step).flatMap { lines.lines(for: $0) }.map { $0.text(plain) }
    }

    @Test func `tell every fact`() async {
        let lines = await lines([
            .added("a", title: "a.ipa"), .added("b", title: "Compass"), .stage("a", .downloading), .held("a"),
            .released("a"), .stage("a", .signing), .note("a", "The profile expires in 3 days."),
            .named("a", title: "Lantern", bundleID: "org.example.lantern", version: "2.1"), .stage("a", .installing),
            .step("a", "VerifyingApplication"), .finished("a", .installed(location: "/srv/apps/lantern")),
            .icon("b", [0xFF, 0xD8]),
            .finished("b", .failed(failure)),
        ])
        #expect(
            lines == [
                "a.ipa: waiting",
                "Compass: waiting",
                "a.ipa: downloading",
                "a.ipa: paused",
                "a.ipa: goes on",
                "a.ipa: signing",
                "a.ipa: warning: The profile expires in 3 days.",
                "a.ipa: this is Lantern 2.1 (org.example.lantern)",
                "Lantern: installing",
                "Lantern: installing, VerifyingApplication",
                "Lantern: installed in 10s, /srv/apps/lantern",
                "Compass: failed while installing: The device went away.",
                "Compass: Connect it again.",
                "2 apps: 1 installed, 1 failed",
            ]
        )
    }

    @Test func `tell progress every tenth and every five seconds at most`() async {
        let begin: [ActivityEvent] = [.added("a", title: "A"), .stage("a", .downloading)]
        let fast = (0...100).map { ActivityEvent.progress("a", .bytes($0 * 1_000_000, of: 100_000_000)) }
        // A percent each second: 10 seconds for a tenth.
        let slow = await lines(begin + fast)
        #expect(slow.count == 2 + 10)
        #expect(slow[2] == "A: downloading, 10%, 10.0/100 MB, 1.0 MB/s, 1m 30s left")
        #expect(slow[11] == "A: downloading, 100%, 100/100 MB, 1.0 MB/s")
        // Ten percent each second: 5 seconds are half of it.
        let quick = await lines(begin + fast, step: .milliseconds(100))
        #expect(quick.count == 2 + 2)
        #expect(quick[2] == "A: downloading, 49%, 49.0/100 MB, 10.0 MB/s, 5s left")
        // Without a length time alone decides.
        let unknown = (0...20).map { ActivityEvent.progress("a", .bytes($0 * 1_000, of: nil)) }
        #expect(await lines(begin + unknown).count == 2 + 4)
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Lasting lines` {
    // Not every command goes the whole way.
    @Test(arguments: [
        (Stage.downloading, "downloaded"), (.signing, "signed"), (.installing, "installed"),
    ])
    func `say what the last stage was`(stage: Stage, word: String) async {
        let updates = await updates([
            .added("a", title: "A"), .stage("a", stage), .finished("a", .installed(location: "/x")),
        ])
        let lasting = LastingLines(style: plain)
        #expect(
            updates.flatMap { lasting.lines(for: $0) }.map { $0.text(plain) } == ["✓ A  \(word) in 2.0s, /x"]
        )
    }

    @Test func `tell what ended and what people should see`() async {
        let updates = await updates([
            .added("a", title: "A"), .added("b", title: "B\u{1B}[2J"), .added("c", title: "C"), .stage("a", .signing),
            .note("a", "Old profile."), .named("a", title: "Lantern", bundleID: nil, version: "2.1"),
            .finished("a", .installed(location: nil)), .finished("b", .failed(failure)), .finished("c", .cancelled),
        ])
        let lasting = LastingLines(style: plain)
        #expect(
            updates.flatMap { lasting.lines(for: $0) }.map { $0.text(plain) } == [
                "! A  Old profile.",
                "✓ Lantern 2.1  signed in 6.0s",
                "✗ B[2J  failed while installing: The device went away.",
                "  Connect it again.",
                "– C  cancelled",
            ]
        )
        #expect(
            updates.last.flatMap { lasting.summary(of: $0.activity)?.text(plain) }
                == "3 apps: 1 signed, 1 failed, 1 cancelled"
        )
    }

    @Test func `tell of a reporter that was lost`() {
        let fact = Fact.reporterDetached(name: "log", reason: "disk full")
        let update = ActivityUpdate(sequence: 1, date: ManualClock().date, fact: fact, activity: Activity())
        #expect(
            LastingLines(style: plain).lines(for: update).map { $0.text(plain) } == [
                "! The reporter log has stopped: disk full"
            ]
        )
    }
}
