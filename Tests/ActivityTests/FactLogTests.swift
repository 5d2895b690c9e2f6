import Foundation
import TestKit
import Testing

@testable import FerryActivity

private let date = Date(timeIntervalSince1970: 1_750_000_000)

extension FactLog {
    fileprivate mutating func send(_ event: ActivityEvent) {
        _ = apply(event, at: date, bytesPerSecond: nil)
    }

    fileprivate mutating func updates(_ id: Int) -> [ActivityUpdate] {
        var updates: [ActivityUpdate] = []
        while case .update(let update) = take(id) { updates.append(update) }
        return updates
    }
}

extension [Install] {
    /// The installs without what only the present state knows.
    fileprivate var withoutProgress: [Install] {
        map {
            var install = $0
            install.progress = nil
            return install
        }
    }
}

@Suite struct `The log of facts` {
    @Test func `gives each fact with the state after it`() {
        var log = FactLog(limit: 100)
        log.subscribe(1, at: date)
        for event in History.holds.events { log.send(event) }
        let held = log.updates(1).filter { $0.fact != nil }.map { "\($0.install?.isHeld ?? false)" }
        // added ×2, held a, held b, released a, stage a, held a, released a, finished a, finished b
        #expect(
            held == "false false true true false false true false false false".split(separator: " ").map(String.init)
        )
    }

    @Test func `merges progress`() {
        var log = FactLog(limit: 100)
        log.subscribe(1, at: date)
        log.send(.added("a", title: ""))
        log.send(.stage("a", .downloading))
        for byte in 0...1_000 { log.send(.progress("a", .bytes(Int64(byte), of: 1_000))) }
        var updates = log.updates(1)
        #expect(updates.map(\.fact) == [.added("a"), .stageChanged("a", .downloading)])
        #expect(updates.map { $0.activity["a"]?.progress?.completed } == [nil, 1_000])
        for byte in 0...500 { log.send(.progress("a", .bytes(Int64(byte), of: 1_000))) }
        updates = log.updates(1)
        #expect(updates.map(\.fact) == [nil])
        #expect(updates.first?.activity["a"]?.progress?.completed == 500)
        #expect(updates.first?.sequence == 3)
    }

    @Test func `says nothing twice`() {
        var log = FactLog(limit: 100)
        log.subscribe(1, at: date)
        guard case .wait = log.take(1) else {
            Issue.record("an empty log has something to say")
            return
        }
        #expect(log.wake() == [1])
        #expect(log.wake() == [])
        guard case .wait = log.take(1) else {
            Issue.record("an empty log has something to say")
            return
        }
    }

    @Test(arguments: History.all.map(\.name)) func `shows the same to who comes late`(name: String) throws {
        let history = try #require(History.all.first { $0.name == name })
        for cut in stride(from: 0, through: history.events.count, by: max(history.events.count / 6, 1)) {
            var log = FactLog(limit: 100_000)
            log.subscribe(1, at: date)
            for event in history.events[..<cut] { log.send(event) }
            log.subscribe(2, at: date)
            for event in history.events[cut...] { log.send(event) }
            log.close(at: date)
            let (early, late) = (log.updates(1), log.updates(2))
            #expect(early.last?.activity.installs == log.state.activity.installs)
            #expect(late.last?.activity.installs == log.state.activity.installs)
            #expect(late.map(\.sequence) == late.indices.map { UInt64($0) + 1 })
            #expect(late.last?.fact == .closed)
            // Every install that is there is told before anything else about it.
            #expect(late.allSatisfy { $0.fact?.installID == nil || $0.install != nil })
        }
    }

    @Test(arguments: 1...10) func `gives everybody the same facts whenever they read`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var log = FactLog(limit: 100_000)
        var read: [Int: [ActivityUpdate]] = [:]
        for reader in 1...5 { log.subscribe(reader, at: date) }
        let events = History.sideBySide((1...40).map { History.install(InstallID("\($0)"), title: "\($0)") })
        // What each fact must come with, from one who is always abreast.
        var truth: [Fact: [Install]] = [:]
        log.subscribe(6, at: date)
        for event in events {
            log.send(event)
            for update in log.updates(6) {
                if let fact = update.fact { truth[fact] = update.activity.installs.withoutProgress }
            }
            for reader in 2...5 where Int.random(in: 0..<(reader * reader * reader), using: &random) == 0 {
                for _ in 0..<Int.random(in: 0..<(3 * reader), using: &random) {
                    if case .update(let update) = log.take(reader) { read[reader, default: []].append(update) }
                }
            }
        }
        log.close(at: date)
        for reader in 1...5 { read[reader, default: []] += log.updates(reader) }
        let facts = read[1]?.compactMap(\.fact)
        for (reader, updates) in read {
            #expect(updates.compactMap(\.fact) == facts, "seed \(seed), reader \(reader)")
            #expect(updates.map(\.sequence) == updates.indices.map { UInt64($0) + 1 }, "seed \(seed)")
            let totals = updates.map(\.activity.totalFraction)
            #expect(totals == totals.sorted(), "seed \(seed), reader \(reader): the total went back")
            let isTrue = updates.allSatisfy { update in
                guard let fact = update.fact, fact != .closed else { return true }
                return update.activity.installs.withoutProgress == truth[fact]
            }
            #expect(isTrue, "seed \(seed), reader \(reader)")
        }
    }

    @Test func `lets go of what everybody has seen`() {
        var log = FactLog(limit: 100_000)
        log.subscribe(1, at: date)
        log.subscribe(2, at: date)
        log.send(.added("a", title: ""))
        for _ in 0..<5_000 {
            log.send(.held("a"))
            log.send(.released("a"))
            for reader in 1...2 { _ = log.updates(reader) }
            #expect(log.count <= 64)
        }
    }

    @Test func `is bounded by cutting off who is too far behind`() {
        var log = FactLog(limit: 50)
        log.subscribe(1, at: date)
        log.subscribe(2, at: date)
        log.send(.added("a", title: ""))
        var late: [Int] = []
        for _ in 0..<500 {
            log.send(.held("a"))
            log.send(.released("a"))
            _ = log.updates(2)
            late += log.cutOff()
            #expect(log.count <= 64)
        }
        #expect(late == [1])
        #expect(log.unread(1) == nil)
        #expect(log.unread(2) == 0)
    }

    @Test func `keeps nothing when nobody reads`() {
        var log = FactLog(limit: 50)
        for event in History.many.events { log.send(event) }
        #expect(log.count == 0)
        log.subscribe(1, at: date)
        log.remove(1)
        #expect(log.count == 0)
    }
}
