import Foundation
import Testing

@testable import FerryLiveActivity

@Suite struct `Histories of three days` {
    /// How many are played. Ten thousand take long without optimisation: `FERRY_HISTORIES=10000 swift test`.
    static let count = ProcessInfo.processInfo.environment["FERRY_HISTORIES"].flatMap { Int($0) } ?? 1_000

    @Test func `break no rule`() throws {
        var counts = LifeRun.Counts()
        var failures = 0
        for seed in 1...UInt64(Self.count) {
            let history = LifeHistory(seed: seed)
            do {
                counts += try LifeRun.play(history, goesThroughJSON: seed.isMultiple(of: 16))
            } catch {
                failures += 1
                let rule = error.rule
                let short = history.shrunk { history in
                    do throws(Broken) {
                        _ = try LifeRun.play(history)
                        return false
                    } catch {
                        return error.rule == rule
                    }
                }
                Issue.record("\(error)\n\(short)\n\(LifeRun.decisions(of: short))")
                if failures >= 5 { break }
            }
        }
        print(counts)
        // What a history is for must have happened.
        #expect(counts.requests > 100)
        #expect(counts.pushedStarts > 100)
        #expect(counts.renewals > 100)
        #expect(counts.swipes > 100)
        #expect(counts.silentDrops > 100)
        #expect(counts.overlaps > 10)
        #expect(counts.stuckRestarts > 10)
    }

    @Test(
        arguments: [
            (.endsOldOnAnswer, [.leftNothing]),
            (.forgetsDismissal, [.swipeUndone]),
            (.forgetsBackOff, [.startInBackOff]),
            (.forgetsDeadline, [.notRenewed]),
            (.stacksStarts, [.startsStacked, .startInBackOff]),
            (.requestsTooEarly, [.requestNotInFront]),
            (.mistakesOwnEnds, [.swipeMistaken]),
            (.ignoresBackOff, [.startInBackOff]),
            (.waitsForEver, [.noActivity, .notRenewed]),
            (.keepsOld, [.twoActivities]),
            (.hasNoGrace, [.widgetMisjudged]),
            (.updatesReplaced, [.pushToReplaced]),
            (.undoesSwipes, [.swipeUndone]),
        ] as [(LifeRules.Flaws, [Broken.Rule])]
    )
    func `show each mistake that somebody made, and in few moments`(flaw: LifeRules.Flaws, wanted: [Broken.Rule]) {
        var rules = LifeRules()
        rules.flaws = flaw
        func broken(_ history: LifeHistory) -> Broken? {
            do {
                _ = try LifeRun.play(history, rules: rules)
                return nil
            } catch {
                return error
            }
        }
        for seed in 1...UInt64(200) {
            let history = LifeHistory(seed: seed)
            guard let first = broken(history), wanted.contains(first.rule) else { continue }
            let short = history.shrunk { broken($0)?.rule == first.rule }
            #expect(short.moments.count <= 10, "\(first)\n\(short)")
            #expect(broken(short)?.rule == first.rule)
            // Without the mistake the same history is none.
            #expect(throws: Never.self) { try LifeRun.play(short) }
            print("\(wanted.map(\.rawValue)) by seed \(seed) in \(short.moments.count) moments")
            return
        }
        Issue.record("no history shows it")
    }
}
