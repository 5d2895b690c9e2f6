import Foundation
import Testing

@testable import FerryLiveActivity

private let hour = 3_600.0

@Suite struct `The life of an activity` {
    // MARK: The three failures of the first version

    @Test func `requests when the app is active, not when it is about to be`() {
        var bench = LifeBench(LifeBench.app)
        bench.at(0, .launched(found: []))
        bench.at(1, .installs(running: 1, began: true))
        #expect(bench.text == "off since 0: the app may be coming to the front")
        bench.at(20, .tick)
        #expect(bench.text == "off since 0: only the app in front can start one")
        #expect(bench.at(22, .willEnterForeground).isEmpty)
        #expect(bench.text == "off since 0: the app may be coming to the front")
        #expect(bench.at(22.4, .didBecomeActive).kinds == ["request"])
    }

    @Test func `does nothing before it knows what there is`() {
        var bench = LifeBench(LifeBench.appThatPushes)
        #expect(bench.at(0, .pushToStartToken("5555")).isEmpty)
        #expect(bench.at(0, .installs(running: 1, began: true)).isEmpty)
        #expect(bench.at(60, .tick).isEmpty)
        #expect(bench.at(61, .launched(found: [bench.found("one", at: 0)])).isEmpty)
        #expect(bench.life.record.state == .running)
    }

    @Test func `pushes nothing while the app is about to be in front`() {
        var bench = LifeBench(LifeBench.appThatPushes)
        bench.at(0, .launched(found: []))
        bench.at(0, .pushToStartToken("5555"))
        bench.at(1, .willEnterForeground)
        #expect(bench.at(1.1, .installs(running: 1, began: true)).isEmpty)
        #expect(bench.life.nextWake == LifeBench.start.addingTimeInterval(11))
        // It never got there: ten seconds later the push goes out.
        #expect(bench.at(11, .tick).kinds == ["push"])
    }

    @Test func `takes no dismissal for a swipe that comes from an end of its own`() {
        var bench = LifeBench.appInFront()
        #expect(bench.at(7 * hour + 2, .tick).kinds == ["end one", "request"])
        // The callback races the answer to the request.
        bench.at(7 * hour + 2.1, .dismissed("one"))
        bench.at(7 * hour + 2.2, .requested(bench.found("two", at: 7 * hour + 2)))
        bench.at(7 * hour + 2.3, .dismissed("one"))
        #expect(bench.life.record.state == .running)
        #expect(bench.life.record.current?.id == "two")
        #expect(bench.reasons.contains(.ownEnd("one")))
    }

    @Test func `knows by the record, also after a crash, that an end was its own`() {
        var bench = LifeBench.appInFront()
        bench.at(7 * hour + 2, .tick)
        // Killed between the end and the request: what is left is the record from before both.
        bench.relaunch(at: 7 * hour + 3, found: [])
        bench.at(7 * hour + 3, .installs(running: 1, began: false))
        bench.at(7 * hour + 4, .dismissed("one"))
        #expect(bench.life.record.dismissal == nil)
        #expect(bench.at(7 * hour + 5, .didBecomeActive).kinds == ["request"])
    }

    // MARK: Swipes

    @Test func `starts nothing after a swipe until a new install begins`() {
        var bench = LifeBench.appInFront()
        #expect(bench.at(60, .dismissed("one")).isEmpty)
        #expect(
            bench.text == "dismissed by the user since 60: the user swiped one away; the next install brings a new one"
        )
        #expect(bench.at(61, .installs(running: 1, began: false)).isEmpty)
        #expect(bench.at(62, .contentChanged(isUrgent: true)).isEmpty)
        #expect(bench.at(9 * hour, .didBecomeActive).isEmpty)
        #expect(bench.at(9 * hour + 1, .installs(running: 2, began: true)).kinds == ["request"])
    }

    @Test func `remembers a swipe over a relaunch`() {
        var bench = LifeBench.appInFront()
        bench.at(60, .dismissed("one"))
        bench.relaunch(at: 100, found: [])
        #expect(bench.at(101, .didBecomeActive).isEmpty)
        #expect(bench.life.record.state == .dismissedByUser)
    }

    @Test func `sees at launch that it was swiped while the app was dead`() {
        var bench = LifeBench.appInFront()
        bench.relaunch(at: 2 * hour, found: [])
        #expect(bench.at(2 * hour + 1, .didBecomeActive).isEmpty)
        #expect(bench.life.record.state == .dismissedByUser)
    }

    @Test func `takes what is gone after its eight hours for ended by the system`() {
        var bench = LifeBench.appInFront()
        bench.relaunch(at: 8 * hour + 1, found: [])
        #expect(bench.at(8 * hour + 2, .didBecomeActive).kinds == ["request"])
    }

    @Test func `ends what it had started when the user swipes before it is adopted`() {
        var bench = LifeBench.serverThatShows()
        bench.at(7.5 * hour + 1, .tick)
        bench.at(7.5 * hour + 1, .answer(.start(seq: 2, "5555"), .ok))
        // The old one is swiped while the new one is on its way.
        #expect(bench.at(7.5 * hour + 2, .dismissed("one")).isEmpty)
        let new = bench.found("two", at: 7.5 * hour + 1, seq: 2, token: "aa02")
        #expect(bench.at(7.5 * hour + 3, .adopted(new)).kinds == ["end two"])
        #expect(bench.life.record.state == .dismissedByUser)
    }

    @Test func `takes the new one for swiped that nobody had told of`() {
        var bench = LifeBench.serverThatShows()
        bench.at(7.5 * hour + 1, .tick)
        bench.at(7.5 * hour + 1, .answer(.start(seq: 2, "5555"), .ok))
        #expect(bench.at(7.5 * hour + 2, .dismissed("two")).kinds == ["end one"])
        #expect(bench.life.record.state == .dismissedByUser)
    }

    @Test func `presumes a swipe where a token is void, and takes it back for a new token`() {
        var bench = LifeBench.serverThatShows()
        #expect(bench.at(60, .contentChanged(isUrgent: false)).kinds == ["update one"])
        bench.at(60, .answer(.update("one", seq: 2, "aa01"), PushAnswer(status: 410)))
        #expect(bench.life.record.state == .dismissedByUser)
        #expect(bench.text.contains("most likely swiped"))
        #expect(bench.at(61, .updateToken("one", "aa02")).kinds == ["update one"])
        #expect(bench.life.record.state == .running)
    }

    @Test func `asks nothing of a void token that was replaced meanwhile`() {
        var bench = LifeBench.serverThatShows()
        bench.at(60, .contentChanged(isUrgent: false))
        bench.at(60.1, .updateToken("one", "aa02"))
        bench.at(60.2, .answer(.update("one", seq: 2, "aa01"), PushAnswer(status: 410)))
        #expect(bench.life.record.state == .running)
    }

    @Test func `tells Settings from a swipe, whichever is heard of first`() {
        var bench = LifeBench.appInFront()
        bench.at(60, .dismissed("one"))
        bench.at(60.5, .availability(.offInSettings))
        #expect(bench.text == "off since 60: switched off in Settings")
        #expect(bench.at(90, .availability(.on)).kinds == ["request"])
    }

    // MARK: Renewal

    @Test func `in front is renewed half an hour early, the old one first`() {
        var bench = LifeBench.appInFront()
        #expect(bench.life.nextWake == LifeBench.start.addingTimeInterval(7 * hour + 1))
        #expect(bench.at(7 * hour + 0.5, .tick).isEmpty)
        #expect(bench.at(7 * hour + 1, .tick).kinds == ["end one", "request"])
        #expect(bench.life.record.state == .renewing)
    }

    @Test func `in the background is renewed by a silent push at seven and a half hours`() {
        var bench = LifeBench.serverThatShows()
        #expect(bench.at(7.5 * hour, .tick).isEmpty)
        #expect(bench.at(7.5 * hour + 1, .tick).kinds == ["push silently"])
        #expect(bench.life.record.state == .renewing)
        bench.at(7.5 * hour + 1.2, .answer(.start(seq: 2, "5555"), .ok))
        #expect(bench.life.record.state == .awaitingAdoption)
    }

    @Test func `ends the old one when the new one is adopted, not when the push is answered`() {
        var bench = LifeBench.serverThatShows()
        bench.at(7.5 * hour + 1, .tick)
        #expect(bench.at(7.5 * hour + 2, .answer(.start(seq: 2, "5555"), .ok)).isEmpty)
        #expect(bench.life.record.current?.id == "one")
        let new = bench.found("two", at: 7.5 * hour + 1, seq: 2, token: "aa02")
        #expect(bench.at(7.5 * hour + 4, .adopted(new)).kinds == ["end one"])
        #expect(bench.life.record.current?.id == "two")
        #expect(bench.at(7.5 * hour + 5, .contentChanged(isUrgent: false)).kinds == ["update two"])
    }

    @Test func `keeps the old one when a start is silently dropped, and tries again`() {
        var bench = LifeBench.serverThatShows()
        let due = 7.5 * hour + 1
        bench.at(due, .tick)
        bench.at(due, .answer(.start(seq: 2, "5555"), .ok))
        #expect(bench.at(due + 299, .contentChanged(isUrgent: false)).kinds == ["update one"])
        #expect(bench.at(due + 299.5, .tick).isEmpty)
        #expect(bench.at(due + 300, .tick).kinds == ["push silently"])
    }

    @Test func `takes an adoption for an answer, whichever comes first`() {
        var bench = LifeBench.serverThatShows()
        bench.at(7.5 * hour + 1, .tick)
        bench.at(7.5 * hour + 2, .adopted(bench.found("two", at: 7.5 * hour + 1, seq: 2, token: "aa02")))
        bench.at(7.5 * hour + 3, .answer(.start(seq: 2, "5555"), .ok))
        #expect(bench.life.record.state == .running)
        #expect(bench.life.record.unadoptedStarts == 0)
        #expect(bench.life.record.backOff == nil)
    }

    @Test func `that cannot be renewed says so once, and shows it`() {
        var bench = LifeBench.appInFront()
        bench.at(hour, .didEnterBackground)
        let actions = bench.at(7.5 * hour + 1, .tick)
        #expect(actions.kinds == ["notify", "update one"])
        guard case .update(let update) = actions.last else { return }
        #expect(update.needsTap)
        #expect(update.isUrgent)
        #expect(bench.text == "renewal failed, tap to update since 27001: only the app in front can start one")
        #expect(bench.at(7.5 * hour + 60, .tick).isEmpty)
        // The system ends it; the user taps; all is well again.
        bench.at(8 * hour + 1, .ended("one"))
        bench.at(9 * hour, .willEnterForeground)
        #expect(bench.at(9 * hour + 0.4, .didBecomeActive).kinds == ["end one", "request"])
        #expect(bench.at(9 * hour + 0.5, .requested(bench.found("two", at: 9 * hour))).kinds == ["withdraw"])
        #expect(bench.life.record.state == .running)
    }

    @Test func `keeps its date over a relaunch`() {
        var bench = LifeBench.serverThatShows()
        bench.relaunch(at: 4 * hour, found: nil)
        #expect(bench.life.nextWake == LifeBench.start.addingTimeInterval(7.5 * hour + 1))
        #expect(bench.at(7.5 * hour + 1, .tick).kinds == ["push silently"])
    }

    @Test(arguments: [true, false]) func `is replaced at launch when it is stale or due`(isStale: Bool) {
        var bench = LifeBench.appInFront()
        bench.at(60, .didEnterBackground)
        let time = isStale ? 2 * hour : 7.6 * hour
        var old = bench.found("one", at: 1)
        old.isStale = isStale
        bench.relaunch(at: time, found: [old])
        #expect(bench.at(time + 1, .didBecomeActive).kinds == ["end one", "request"])
        #expect(bench.reasons.contains { if case .started(_, .coldStart) = $0 { true } else { false } })
    }

    // MARK: Back-off

    @Test func `waits as long as each answer to a start says`() {
        var bench = LifeBench(LifeBench.server)
        bench.at(0, .launched(found: nil))
        bench.at(0, .pushToStartToken("5555"))
        bench.at(0, .installs(running: 1, began: true))
        // 300 s and doubling for each 429, no more than an hour; Retry-After where it is longer; at least 300 s else.
        let table: [(PushAnswer, Double)] = [
            (PushAnswer(status: 503), 300), (PushAnswer(status: 429), 600), (PushAnswer(status: 429), 1_200),
            (PushAnswer(status: 429, retryAfter: 10), 2_400), (PushAnswer(status: 429), 3_600),
            (PushAnswer(status: 429), 3_600), (PushAnswer(status: 429, retryAfter: 5_000), 5_000), (.none, 3_600),
            (PushAnswer(status: 429, retryAfter: 1e300), 86_400), (PushAnswer(status: 429, retryAfter: .nan), 3_600),
            (.ok, 300), (PushAnswer(status: 429), 600),
        ]
        var time = 0.0
        for (number, (answer, wait)) in table.enumerated() {
            bench.at(time, .answer(.start(seq: number + 1, "5555"), answer))
            #expect(bench.life.nextWake.map { $0 <= LifeBench.start.addingTimeInterval(time + wait) } == true)
            #expect(bench.at(time + wait - 0.5, .tick).isEmpty, "\(answer)")
            #expect(bench.at(time + wait, .tick).kinds == ["push"], "\(answer)")
            time += wait
        }
    }

    @Test(arguments: [404, 410]) func `forgets a void token, and with it the back-off`(status: Int) {
        var bench = LifeBench(LifeBench.server)
        bench.at(0, .launched(found: nil))
        bench.at(0, .pushToStartToken("5555"))
        bench.at(0, .installs(running: 1, began: true))
        bench.at(0, .answer(.start(seq: 1, "5555"), PushAnswer(status: 429)))
        #expect(bench.text == "backing off since 0: backing off until 300 after 429")
        bench.at(300, .tick)
        bench.at(300, .answer(.start(seq: 2, "5555"), PushAnswer(status: status)))
        #expect(bench.text == "off since 300: no token yet")
        #expect(bench.at(301, .pushToStartToken("6666")).kinds == ["push"])
    }

    @Test func `keeps its back-off over a relaunch`() {
        var bench = LifeBench(LifeBench.server)
        bench.at(0, .launched(found: nil))
        bench.at(0, .pushToStartToken("5555"))
        bench.at(0, .installs(running: 1, began: true))
        bench.at(0, .answer(.start(seq: 1, "5555"), PushAnswer(status: 429, retryAfter: 1_000)))
        #expect(bench.relaunch(at: 10, found: nil).isEmpty)
        #expect(bench.at(999, .tick).isEmpty)
        #expect(bench.at(1_000, .tick).kinds == ["push"])
    }

    @Test func `stacks no starts while none has a token`() {
        var bench = LifeBench(LifeBench.server)
        bench.at(0, .launched(found: nil))
        for second in 1...20 {
            #expect(bench.at(Double(second), .installs(running: second, began: true)).isEmpty)
        }
        #expect(bench.text == "off since 0: no token yet")
        #expect(bench.at(30, .pushToStartToken("5555")).kinds == ["push"])
        for second in 31...40 { #expect(bench.at(Double(second), .installs(running: 20, began: true)).isEmpty) }
        bench.at(41, .answer(.start(seq: 1, "5555"), .ok))
        for second in 42...60 { #expect(bench.at(Double(second), .installs(running: 20, began: true)).isEmpty) }
    }

    @Test func `pushes every hour only after four starts that nobody adopted, and aloud after two`() {
        var bench = LifeBench.serverThatShows()
        var time = 7.5 * hour + 1
        var kinds: [String] = []
        for number in 2...5 {
            kinds += bench.at(time, .tick).kinds
            bench.at(time, .answer(.start(seq: number, "5555"), .ok))
            time += 300
        }
        #expect(kinds == ["push silently", "push silently", "push", "push"])
        #expect(bench.at(time, .tick).isEmpty)
        #expect(bench.text.contains("4 starts in a row were not adopted"))
        #expect(bench.at(time - 300 + 3_599, .tick).isEmpty)
        #expect(bench.at(time - 300 + 3_600, .tick).kinds == ["push"])
    }

    @Test func `begins anew in front when pushed starts get lost`() {
        var bench = LifeBench.appInFront(LifeBench.appThatPushes)
        bench.at(1, .pushToStartToken("5555"))
        bench.at(2, .didEnterBackground)
        bench.at(3, .widgetSaw(seq: 1))
        var time = 7.5 * hour + 1
        for _ in 0..<4 {
            guard case .pushStart(let start, let token) = bench.at(time, .tick).first else { break }
            bench.at(time, .answer(.start(seq: start.seq, token), .ok))
            time += 300
        }
        #expect(bench.life.record.unadoptedStarts == 4)
        #expect(bench.at(time, .didBecomeActive).kinds == ["end one", "request"])
    }

    // MARK: One activity

    @Test func `ends at once what turns up beside a good one`() {
        var bench = LifeBench.appInFront()
        #expect(bench.at(60, .adopted(bench.found("other", at: 50, token: "bb01"))).kinds == ["end other"])
        #expect(bench.life.record.current?.id == "one")
        // Its dismissal is not the user's.
        bench.at(61, .dismissed("other"))
        #expect(bench.life.record.state == .running)
    }

    @Test func `ends a replaced one when its token comes, if it had none`() {
        var bench = LifeBench.serverThatShows()
        bench.at(7.5 * hour + 1, .tick)
        bench.at(7.5 * hour + 2, .adopted(bench.found("two", at: 7.5 * hour + 1, seq: 2)))
        bench.at(7.5 * hour + 3, .adopted(bench.found("three", at: 7.5 * hour + 1, seq: 2)))
        #expect(bench.at(7.5 * hour + 4, .updateToken("three", "aa03")).kinds == ["end three"])
        #expect(bench.life.record.current?.id == "two")
    }

    @Test func `sends no update to the token of one that was replaced`() {
        var bench = LifeBench.serverThatShows()
        bench.at(7.5 * hour + 1, .tick)
        bench.at(7.5 * hour + 2, .adopted(bench.found("two", at: 7.5 * hour + 1, seq: 2, token: "aa02")))
        bench.at(7.5 * hour + 3, .updateToken("one", "aa99"))
        for second in 0..<20 {
            for action in bench.at(7.5 * hour + 10 + Double(second), .contentChanged(isUrgent: true)) {
                guard case .update(let update) = action else { continue }
                #expect(update.token == "aa02")
            }
        }
    }

    @Test func `sends an end again that did not get through`() {
        var bench = LifeBench.serverThatShows()
        #expect(bench.at(60, .installs(running: 0, began: false)).kinds == ["end one"])
        bench.at(60, .answer(.end("one", "aa01"), PushAnswer(status: 429, retryAfter: 400)))
        #expect(bench.at(459, .tick).isEmpty)
        #expect(bench.life.nextWake == LifeBench.start.addingTimeInterval(460))
        #expect(bench.at(460, .tick).kinds == ["end one"])
        bench.at(461, .answer(.end("one", "aa01"), .ok))
        #expect(bench.life.nextWake == nil)
    }

    @Test func `ends with the last install, and stays to be read for five minutes`() {
        var bench = LifeBench.appInFront()
        bench.at(5, .installs(running: 2, began: true))
        #expect(bench.at(6, .installs(running: 1, began: false)).isEmpty)
        guard case .end(let end) = bench.at(7, .installs(running: 0, began: false)).first else {
            Issue.record("it is not ended")
            return
        }
        #expect(end.dismissAt == LifeBench.start.addingTimeInterval(307))
        #expect(bench.text == "off since 7: no install runs")
        // A new one takes its place on the lock screen as well.
        #expect(bench.at(60, .installs(running: 1, began: true)).kinds == ["end one", "request"])
    }

    // MARK: Updates

    @Test func `numbers every state, over relaunches too`() {
        var bench = LifeBench.appInFront()
        var last = 0
        for second in 10..<30 {
            if second == 20 { bench.relaunch(at: 20, found: [bench.found("one", at: 1)]) }
            for action in bench.at(Double(second), .contentChanged(isUrgent: false)) {
                guard case .update(let update) = action else { continue }
                #expect(update.seq > last)
                last = update.seq
            }
        }
        #expect(last >= 20)
    }

    @Test func `stamps later than before although the clock was set back`() {
        var bench = LifeBench.appInFront()
        var last = 0
        for second in [100.0, 100.2, -3_000, -2_999, 200] {
            guard case .update(let update) = bench.at(second, .contentChanged(isUrgent: false)).first else { continue }
            #expect(update.timestamp > last)
            last = update.timestamp
        }
        // But not so far ahead that the system drops it.
        guard case .update(let update) = bench.at(-9 * hour, .contentChanged(isUrgent: false)).first else { return }
        #expect(update.timestamp == 1_750_000_000 - 9 * 3_600)
    }

    @Test func `waits with updates after 429, and sends the newest then`() {
        var bench = LifeBench.serverThatShows()
        bench.at(60, .contentChanged(isUrgent: false))
        bench.at(60, .answer(.update("one", seq: 2, "aa01"), PushAnswer(status: 429)))
        for second in 61..<359 { #expect(bench.at(Double(second), .contentChanged(isUrgent: true)).isEmpty) }
        #expect(bench.life.nextWake == LifeBench.start.addingTimeInterval(360))
        guard case .update(let update) = bench.at(360, .tick).first else {
            Issue.record("no update")
            return
        }
        #expect(update.isUrgent)
    }

    @Test func `does not send again what was too long`() {
        var bench = LifeBench.serverThatShows()
        bench.at(60, .contentChanged(isUrgent: false))
        bench.at(60, .answer(.update("one", seq: 2, "aa01"), PushAnswer(status: 413)))
        #expect(bench.at(3_600, .tick).isEmpty)
    }

    // MARK: Without the feature

    @Test(
        arguments: [
            (.off, "off since 0: switched off"), (.offInSettings, "off since 0: switched off in Settings"),
            (.unsupported("iOS 15"), "off since 0: not supported: iOS 15"),
        ] as [(Availability, String)]
    )
    func `does nothing and says why`(availability: Availability, text: String) {
        var bench = LifeBench(LifeBench.appThatPushes)
        bench.at(0, .availability(availability))
        let inputs: [LifeInput] = [
            .launched(found: []), .pushToStartToken("5555"), .installs(running: 3, began: true), .didBecomeActive,
            .contentChanged(isUrgent: true), .tick, .widgetSaw(seq: 1), .stale("one"), .ended("one"),
            .answer(.update("one", seq: 1, nil), .ok), .installs(running: 0, began: false), .terminates,
        ]
        for (second, input) in inputs.enumerated() { #expect(bench.at(Double(second), input).isEmpty) }
        #expect(bench.text == text)
    }

    @Test func `asks again after a refusal, not at once`() {
        var bench = LifeBench(LifeBench.app)
        bench.at(0, .launched(found: []))
        bench.at(0, .didBecomeActive)
        #expect(bench.at(1, .installs(running: 1, began: true)).kinds == ["request"])
        #expect(bench.at(1, .requestRefused("targetMaximumExceeded")).isEmpty)
        #expect(bench.text == "off since 1: the system refused: targetMaximumExceeded")
        #expect(bench.at(30, .tick).isEmpty)
        #expect(bench.at(31, .tick).kinds == ["request"])
    }

    @Test func `remembers some hundred decisions, not all`() {
        var bench = LifeBench.serverThatShows()
        for second in 0..<2_000 { bench.at(Double(second), .widgetSaw(seq: 0)) }
        #expect((200...400).contains(bench.life.decisions.count))
    }
}
