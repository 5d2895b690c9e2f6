import Foundation
import TestKit
import Testing

@testable import FerryActivity

private let date = Date(timeIntervalSince1970: 1_750_000_000)

@Suite struct `The state of the activity` {
    private func state(after events: [ActivityEvent]) -> ActivityState {
        var state = ActivityState()
        for event in events { _ = state.apply(event, at: date) }
        return state
    }

    @Test func `takes the word of an app that was delivered, and of no other that has ended`() throws {
        var state = state(after: [
            .added("a", title: "a"), .added("b", title: "b"), .stage("a", .installing),
            .finished("a", .delivered(location: "here")),
        ])
        let fraction = state.activity.totalFraction
        #expect(state.apply(.finished("a", .cancelled), at: date) == .nothing)
        #expect(state.apply(.stage("a", .installing), at: date) == .nothing)
        let installed = Outcome.installed(location: "here")
        #expect(state.apply(.finished("a", installed), at: date) == .fact(.finished("a", installed)))
        #expect(state.apply(.finished("a", installed), at: date) == .nothing)
        #expect(state.activity["a"]?.lastStage == .installing)
        #expect(state.activity.totalFraction == fraction)
        #expect(state.activity.tally.installed == 1)
    }

    @Test func `follows an install to its end`() throws {
        var state = ActivityState()
        let changes = [
            .added("a", title: "a.ipa"),
            .stage("a", .downloading),
            .progress("a", .bytes(40, of: 100)),
            .stage("a", .signing),
            .named("a", title: "Lantern", bundleID: "org.example.lantern", version: "2.1"),
            .note("a", "The profile expires in 3 days."),
            .stage("a", .installing),
            .finished("a", .installed(location: "/srv/a")),
        ].map { state.apply($0, at: date) }
        #expect(
            changes == [
                .fact(.added("a")), .fact(.stageChanged("a", .downloading)), .progress,
                .fact(.stageChanged("a", .signing)), .fact(.named("a")),
                .fact(.note("a", "The profile expires in 3 days.")), .fact(.stageChanged("a", .installing)),
                .fact(.finished("a", .installed(location: "/srv/a"))),
            ]
        )
        let install = try #require(state.activity["a"])
        #expect(install.title == "Lantern")
        #expect(install.bundleID == "org.example.lantern")
        #expect(install.version == "2.1")
        #expect(install.stage == .finished)
        #expect(install.progress == nil)
        #expect(install.outcome == .installed(location: "/srv/a"))
        #expect(install.notes == ["The profile expires in 3 days."])
        #expect(state.activity.isFinished)
        #expect(state.activity.totalFraction == 1)
    }

    @Test func `keeps an icon that is short enough`() {
        let longest = [UInt8](repeating: 7, count: 2_304)
        var state = state(after: [.added("a", title: "Lantern")])
        #expect(state.activity["a"]?.icon == nil)
        #expect(state.apply(.icon("a", [1, 2]), at: date) == .fact(.iconChanged("a")))
        #expect(state.apply(.icon("a", [1, 2]), at: date) == .nothing)
        #expect(state.apply(.icon("a", longest), at: date) == .fact(.iconChanged("a")))
        #expect(state.apply(.icon("a", longest + [7]), at: date) == .nothing)
        #expect(state.apply(.icon("a", []), at: date) == .nothing)
        #expect(state.activity["a"]?.icon == longest)
        // The same id once more is another install.
        _ = state.apply(.finished("a", .cancelled), at: date)
        #expect(state.activity["a"]?.icon == longest)
        _ = state.apply(.added("a", title: "Lantern"), at: date)
        #expect(state.activity["a"]?.icon == nil)
    }

    @Test func `says what a stage does until the stage is over`() {
        var state = state(after: [.added("a", title: "Lantern"), .stage("a", .installing)])
        #expect(
            state.apply(.step("a", "VerifyingApplication"), at: date)
                == .fact(.stepChanged("a", "VerifyingApplication"))
        )
        #expect(state.apply(.step("a", "VerifyingApplication"), at: date) == .nothing)
        #expect(state.apply(.step("a", ""), at: date) == .nothing)
        #expect(state.activity["a"]?.step == "VerifyingApplication")
        _ = state.apply(.progress("a", .steps(40, of: 100)), at: date)
        #expect(state.activity["a"]?.step == "VerifyingApplication")
        _ = state.apply(.stage("a", .signing), at: date)
        #expect(state.activity["a"]?.step == nil)
        _ = state.apply(.step("a", "seals"), at: date)
        _ = state.apply(.finished("a", .cancelled), at: date)
        #expect(state.activity["a"]?.step == nil)
    }

    @Test(
        arguments: [
            .progress("b", .bytes(1, of: 2)), .held("b"), .finished("b", .cancelled), .added("a", title: "Again"),
            .stage("a", .downloading), .stage("a", .finished), .released("a"), .progress("a", .bytes(40, of: 100)),
            .named("a", title: "Lantern", bundleID: nil, version: nil), .held("h"), .note("f", "late"), .held("f"),
        ] as [ActivityEvent]
    )
    func `passes over what changes nothing`(event: ActivityEvent) {
        var state = state(after: [
            .added("a", title: "Lantern"), .added("h", title: "Held"), .held("h"), .added("f", title: "Finished"),
            .finished("f", .cancelled), .stage("a", .downloading), .progress("a", .bytes(40, of: 100)),
        ])
        let before = state.activity
        #expect(state.apply(event, at: date + 9) == .nothing)
        #expect(state.activity == before)
    }

    @Test func `is held when all that is unfinished is held`() {
        let events: [ActivityEvent] = [
            .added("a", title: "A"), .added("b", title: "B"), .held("a"), .held("b"), .finished("a", .cancelled),
            .released("b"), .held("b"), .finished("b", .cancelled),
        ]
        let held = events.indices.map { state(after: Array(events[...$0])).activity.isHeld }
        #expect(held == [false, false, false, true, true, false, true, false])
    }

    @Test func `begins anew after the last install`() {
        let state = state(after: [
            .added("a", title: "A"), .added("b", title: "B"), .finished("a", .cancelled), .finished("b", .cancelled),
            .added("c", title: "C"),
        ])
        #expect(state.activity.installs.map(\.id) == ["c"])
        #expect(state.activity.number == 2)
        #expect(state.activity.totalFraction == 0)
    }

    @Test func `starts a finished install again in its place`() {
        let state = state(after: [
            .added("a", title: "A"), .added("b", title: "B"), .finished("a", .cancelled), .added("a", title: "A2"),
        ])
        #expect(state.activity.installs.map(\.title) == ["A2", "B"])
        #expect(state.activity["a"]?.outcome == nil)
    }

    @Test func `forgets the oldest of very many finished installs but counts them`() {
        var state = state(after: [.added("stays", title: "Stays")])
        for number in 0..<2_500 {
            let id = InstallID("\(number)")
            _ = state.apply(.added(id, title: ""), at: date)
            _ = state.apply(.finished(id, number % 2 == 0 ? .cancelled : .installed(location: nil)), at: date)
            #expect(state.activity.installs.count <= Activity.maximumFinishedInstalls + 1)
            #expect(state.activity[id]?.isFinished == true)
        }
        #expect(state.activity.count == 2_501)
        #expect(state.activity.tally.installed == 1_250)
        #expect(state.activity.tally.cancelled == 1_250)
        #expect(state.activity["stays"]?.isFinished == false)
        #expect(state.activity["0"] == nil)
        #expect(state.activity.totalFraction > 0.99)
    }

    @Test func `keeps the latest notes`() {
        let state = state(after: History.notes.events)
        #expect(state.activity["a"]?.notes.count == 20)
        #expect(state.activity["a"]?.notes.last == "The profile expires in 50 days.")
    }

    @Test(arguments: [
        (StageProgress.bytes(5, of: nil), nil), (.bytes(5, of: 0), nil), (.bytes(5, of: -5), nil),
        (.bytes(-5, of: 5), 0),
        (.bytes(9, of: 5), 1), (.bytes(.min, of: .max), 0), (.bytes(1, of: 4), 0.25),
    ])
    func `makes a fraction of any numbers`(progress: StageProgress, fraction: Double?) {
        #expect(progress.fraction == fraction)
    }

    @Test func `counts the download as most of an install`() {
        func fraction(_ stage: Stage, _ progress: StageProgress?) -> Double? {
            Install(id: "a", title: "", stage: stage, progress: progress, addedAt: date).fraction
        }
        #expect(fraction(.waiting, nil) == 0)
        #expect(fraction(.downloading, nil) == 0)
        #expect(fraction(.downloading, .bytes(1, of: 2)) == 0.35)
        #expect(fraction(.downloading, .bytes(1, of: nil)) == nil)
        #expect(fraction(.signing, .steps(1, of: 2)) == 0.7 + 0.1)
        #expect(fraction(.installing, nil) == 0.9)
        #expect(fraction(.finished, nil) == 1)
    }

    @Test(arguments: 1...20) func `never lets the total go back`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var state = ActivityState()
        var last = 0.0
        _ = state.apply(.added("first", title: ""), at: date)
        for step in 0..<600 {
            let id = InstallID("\(Int.random(in: 0..<12, using: &random))")
            let event: ActivityEvent =
                switch Int.random(in: 0..<8, using: &random) {
                case 0: .added(id, title: "")
                case 1: .stage(id, Stage.allCases.randomElement(using: &random) ?? .waiting)
                case 2: .finished(id, .cancelled)
                default: .progress(id, .bytes(.random(in: -5...120, using: &random), of: 100))
                }
            _ = state.apply(event, at: date)
            #expect(state.activity.totalFraction >= last, "seed \(seed), step \(step), \(event)")
            #expect(state.activity.totalFraction <= 1)
            last = state.activity.totalFraction
        }
        for install in state.activity.unfinished { _ = state.apply(.finished(install.id, .cancelled), at: date) }
        #expect(abs(state.activity.totalFraction - 1) < 1e-9, "seed \(seed)")
    }

    @Test func `goes on from where it was when an install is added`() {
        var state = state(after: [
            .added("a", title: ""), .stage("a", .signing), .added("b", title: ""),
        ])
        // Half of the raw way is lost; what was reached, 70 %, stays.
        #expect(state.activity.totalFraction == 0.7)
        _ = state.apply(.finished("a", .cancelled), at: date)
        // From 35 % to 50 % of the raw way is 15/65 of what was left of it.
        #expect(abs(state.activity.totalFraction - (0.7 + 0.3 * 15 / 65)) < 1e-9)
    }
}

@Suite struct `A label` {
    private func install(_ stage: Stage, _ progress: StageProgress? = nil, held: Bool = false) -> Install {
        Install(id: "a", title: "", stage: stage, progress: progress, isHeld: held, addedAt: date)
    }

    private func install(_ outcome: Outcome) -> Install {
        Install(id: "a", title: "", stage: .finished, outcome: outcome, addedAt: date)
    }

    @Test func `says the state of an install in eight letters`() {
        let failure = Failure(message: "", remedy: nil, stage: .signing)
        let labels = [
            install(.waiting), install(.downloading), install(.downloading, .bytes(419, of: 1_000)),
            install(.downloading, .bytes(9, of: nil)), install(.signing), install(.installing),
            install(.downloading, .bytes(1, of: 2), held: true), install(.installed(location: nil)),
            install(.failed(failure)), install(.cancelled),
        ].map(\.label)
        #expect(
            labels == [
                "Waiting", "Download", "41%", "Download", "Signing", "Install", "Paused", "Done", "Failed", "Stopped",
            ]
        )
        #expect(labels.allSatisfy { $0.count <= 8 })
    }

    @Test func `says the state of a batch`() {
        let done = install(.installed(location: nil))
        let stopped = install(.cancelled)
        let failed = install(.failed(Failure(message: "", remedy: nil, stage: .signing)))
        #expect(Activity().label == "")
        #expect(Activity(installs: [install(.signing)]).label == "Signing")
        #expect(Activity(installs: [install(.signing), install(.waiting), done]).label == "3 apps")
        #expect(Activity(installs: [install(.signing, held: true), done]).label == "Paused")
        #expect(Activity(installs: [done, stopped]).label == "Done")
        #expect(Activity(installs: [done, failed]).label == "Failed")
        #expect(Activity(installs: [stopped, stopped]).label == "Stopped")
        #expect(Activity(installs: Array(repeating: install(.waiting), count: 1_000)).label == "999+")
    }
}

@Suite struct `The date when downloads are over` {
    private func install(_ stage: Stage, left: Int64?, rate: Double?, held: Bool = false) -> Install {
        Install(
            id: "a",
            title: "",
            stage: stage,
            progress: .bytes(0, of: left),
            bytesPerSecond: rate,
            isHeld: held,
            addedAt: date
        )
    }

    @Test func `comes from all rates and all that is left`() {
        let activity = Activity(
            installs: [
                install(.downloading, left: 300, rate: 20), install(.downloading, left: 100, rate: 20),
                install(.signing, left: nil, rate: nil),
            ],
            measuredAt: date
        )
        #expect(activity.bytesPerSecond == 40)
        #expect(activity.finishAt == date + 10)
    }

    @Test func `is unknown while something is`() {
        let known = install(.downloading, left: 300, rate: 20)
        let others = [
            install(.waiting, left: nil, rate: nil), install(.downloading, left: nil, rate: 5),
            install(.downloading, left: 5, rate: nil, held: true),
        ]
        for other in others {
            #expect(Activity(installs: [known, other], measuredAt: date).finishAt == nil)
        }
        #expect(Activity(installs: [known]).finishAt == nil)
        #expect(Activity(installs: [install(.signing, left: 3, rate: nil)], measuredAt: date).finishAt == nil)
    }
}
