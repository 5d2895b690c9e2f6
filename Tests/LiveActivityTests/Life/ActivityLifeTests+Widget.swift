import Foundation
import Testing

@testable import FerryLiveActivity

private let hour = 3_600.0

// The liveness of the widget.
extension `The life of an activity` {
    @Test func `takes a fresh widget that was never heard for alive, for a while`() {
        var bench = LifeBench(LifeBench.server)
        bench.at(0, .launched(found: nil))
        bench.at(0, .pushToStartToken("5555"))
        bench.at(0, .installs(running: 1, began: true))
        bench.at(0, .answer(.start(seq: 1, "5555"), .ok))
        bench.at(2, .adopted(bench.found("one", at: 0, seq: 1, token: "aa01")))
        #expect(bench.at(901, .tick).isEmpty)
        #expect(bench.at(902, .tick).kinds == ["push silently"])
        #expect(bench.reasons.contains { if case .pushedStart(_, .stuckWidget, _) = $0 { true } else { false } })
    }

    @Test func `takes no widget for stuck that had nothing to draw`() {
        var bench = LifeBench.serverThatShows()
        #expect(bench.at(2 * hour, .contentChanged(isUrgent: false)).kinds == ["update one"])
        #expect(bench.at(2 * hour, .answer(.update("one", seq: 2, "aa01"), .ok)).isEmpty)
        #expect(bench.at(2 * hour + 1, .tick).isEmpty)
        #expect(bench.at(2 * hour + 899, .tick).isEmpty)
        #expect(bench.at(2 * hour + 900, .tick).kinds == ["push silently"])
    }

    @Test func `takes no widget for stuck to which nothing got through`() {
        var bench = LifeBench.serverThatShows()
        bench.at(60, .contentChanged(isUrgent: false))
        bench.at(60, .answer(.update("one", seq: 2, "aa01"), PushAnswer(status: 429, retryAfter: 7_200)))
        #expect(bench.at(hour, .tick).isEmpty)
    }

    @Test func `forgets what the old widget drew when a fresh activity takes over`() {
        var bench = LifeBench.serverThatShows()
        bench.at(7.5 * hour + 1, .tick)
        bench.at(7.5 * hour + 2, .adopted(bench.found("two", at: 7.5 * hour + 1, seq: 2, token: "aa02")))
        #expect(bench.life.record.liveness == nil)
        bench.at(7.5 * hour + 3, .answer(.end("one", "aa01"), .ok))
        #expect(bench.at(7.5 * hour + 800, .tick).isEmpty)
        bench.at(7.5 * hour + 801, .widgetSaw(seq: 1))
        #expect(bench.life.record.liveness == nil)
        bench.at(7.5 * hour + 802, .widgetSaw(seq: 2))
        #expect(bench.at(7.5 * hour + 1_000, .tick).isEmpty)
    }

    @Test func `restarts a widget twice without a sign of life, not for ever`() {
        var bench = LifeBench.serverThatShows()
        var restarts = 0
        for minute in 1..<400 {
            let time = Double(minute) * 60
            for action in bench.at(time, minute.isMultiple(of: 5) ? .contentChanged(isUrgent: false) : .tick) {
                switch action {
                case .update(let update):
                    bench.at(time, .answer(.update(update.island, seq: update.seq, update.token), .ok))
                case .pushStart(let start, let token):
                    restarts += 1
                    bench.at(time, .answer(.start(seq: start.seq, token), .ok))
                    let name = IslandID(rawValue: "new-\(minute)") ?? "new"
                    bench.at(time + 1, .adopted(bench.found(name, at: time, seq: start.seq, token: "bb01")))
                default: break
                }
            }
        }
        #expect(restarts == 2)
    }

    @Test(arguments: [0, -1, 2, Int.max, Int.min]) func `believes no state that was never sent`(seq: Int) {
        var bench = LifeBench.serverThatShows()
        let before = bench.life.record
        #expect(bench.at(60, .widgetSaw(seq: seq)).isEmpty)
        #expect(bench.life.record == before)
    }
}
