import Foundation
import Testing

@testable import FerryLiveActivity

@Suite struct `The record of a life` {
    /// A record with a value in every field.
    private var full: LifeRecord {
        let date = LifeBench.start
        var record = LifeRecord()
        record.availability = .unsupported("none here")
        record.installs = 3
        record.seq = 99
        record.current = LifeRecord.Island(id: "one", startedAt: date, adoptedAt: date.addingTimeInterval(2))
        record.current?.token = "aa01"
        record.current?.firstSeq = 90
        record.current?.sentSeq = 98
        record.current?.lastTimestamp = 1_750_000_001
        record.current?.behindSince = date.addingTimeInterval(3)
        record.current?.isUnusable = true
        record.current?.owesUpdate = true
        var former = LifeRecord.Former(id: "zero", startedAt: date, token: "bb01", isEndedByUs: true)
        former.owesEnd = true
        former.notBefore = date.addingTimeInterval(4)
        former.lingersUntil = date.addingTimeInterval(5)
        former.lastTimestamp = 1_750_000_002
        record.former = [former]
        record.pending = LifeRecord.Pending(seq: 97, at: date, isRequest: false, isAnswered: true)
        record.dismissal = LifeRecord.Dismissal(island: "zero", at: date, isPresumed: true)
        record.backOff = LifeRecord.BackOff(until: date.addingTimeInterval(600), step: 300, status: 429)
        record.updateBackOff = LifeRecord.BackOff(until: date.addingTimeInterval(700), step: 600, status: 503)
        record.pushToStartToken = "5555"
        record.unadoptedStarts = 2
        record.liveness = LifeRecord.Liveness(seq: 98, at: date)
        record.stuckRestarts = 1
        record.renewalFailedAt = date
        record.isNoticeShown = true
        record.state = .backingOff
        record.reason = .backingOff(until: date, status: 429)
        record.since = date
        return record
    }

    private func object(_ record: LifeRecord) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: try record.json()) as? [String: Any])
    }

    private func record(_ object: [String: Any]) throws -> LifeRecord? {
        LifeRecord(json: try JSONSerialization.data(withJSONObject: object))
    }

    @Test func `comes back as it was saved`() throws {
        #expect(LifeRecord(json: try full.json()) == full)
        #expect(LifeRecord(json: try LifeRecord().json()) == LifeRecord())
        #expect(full.settled(at: LifeBench.start.addingTimeInterval(10), LifeRules()) == full)
    }

    @Test func `has no field that a round trip forgets`() throws {
        // Every child of the value differs from a fresh record's, so that the round trip above says something.
        let fresh = Dictionary(
            uniqueKeysWithValues: Mirror(reflecting: LifeRecord()).children.map { ($0.label, "\($0.value)") }
        )
        for child in Mirror(reflecting: full).children where child.label != "version" {
            #expect(fresh[child.label] != "\(child.value)", "\(child.label ?? "")")
        }
    }

    @Test func `is read without any one of its fields`() throws {
        let whole = try object(full)
        for key in whole.keys {
            var part = whole
            part[key] = nil
            let read = try #require(try record(part), "\(key)")
            #expect(read.seq == (key == "seq" ? 0 : 99))
            #expect((read.dismissal == nil) == (key == "dismissal"))
        }
        #expect(LifeRecord(json: Data("{}".utf8)) == LifeRecord())
    }

    @Test func `is read when a later version wrote it`() throws {
        var later = try object(full)
        later["version"] = 99
        later["mood"] = ["calm": true]
        later["state"] = "levitating"
        later["reason"] = ["levitating": ["height": 3]]
        later["availability"] = ["onSundays": [String: String]()]
        let read = try #require(try record(later))
        #expect(read.version == 99)
        #expect(read.dismissal == full.dismissal)
        #expect(read.backOff == full.backOff)
        #expect(read.state == .off)
        #expect(read.availability == .on)
        #expect(try object(read)["version"] as? Int == LifeRecord.currentVersion)
    }

    @Test func `loses only the field that is no good`() throws {
        let whole = try object(full)
        let nonsense: [Any] = [
            "?", -1, 1e300, [String: Any](), [Any](), NSNull(), true, String(repeating: "x", count: 5_000),
            [["id": "a b", "startedAt": 1]], ["id": "ok"], ["until": -5], ["seq": "1"],
        ]
        let now = LifeBench.start.addingTimeInterval(10)
        for key in whole.keys {
            for value in nonsense {
                var part = whole
                part[key] = value
                let read = try #require(try record(part), "\(key): \(value)")
                #expect((read.current?.id == "one") == (key != "current"), "\(key): \(value)")
                // And a life goes on from it.
                var life = ActivityLife(record: read, abilities: LifeBench.appThatPushes, at: now)
                _ = life.handle(.launched(found: []), at: now)
                _ = life.handle(.didBecomeActive, at: now)
                _ = life.handle(.installs(running: 1, began: true), at: now)
                _ = life.handle(.contentChanged(isUrgent: true), at: now)
                #expect(life.record.seq >= 0 && life.record.seq <= LifeRecord.maximumSeq)
            }
        }
    }

    @Test func `that is cut anywhere is none, and no trap`() throws {
        let json = try full.json()
        for length in 0..<json.count { #expect(LifeRecord(json: json.prefix(length)) == nil) }
    }

    @Test func `with bytes that flipped is read or is none`() throws {
        let json = try full.json()
        let now = LifeBench.start
        for index in json.indices {
            for bit in [0x01, 0x10, 0x80] as [UInt8] {
                var flipped = json
                flipped[index] ^= bit
                guard let read = LifeRecord(json: flipped) else { continue }
                var life = ActivityLife(record: read, abilities: LifeBench.server, at: now)
                _ = life.handle(.launched(found: nil), at: now)
                _ = life.handle(.tick, at: now.addingTimeInterval(86_400))
            }
        }
    }

    @Test func `of a clock that was ahead blocks nothing for ever`() {
        let now = LifeBench.start
        let year = now.addingTimeInterval(365 * 86_400)
        var record = full
        record.availability = .on
        record.dismissal = nil
        record.pending = nil
        record.current?.startedAt = year
        record.current?.lastTimestamp = .max
        record.backOff = LifeRecord.BackOff(until: year, step: .infinity, status: 429)
        record.former[0].notBefore = year
        var life = ActivityLife(record: record, abilities: LifeBench.server, at: now)
        _ = life.handle(.launched(found: nil), at: now)
        #expect(life.record.backOff?.until == now.addingTimeInterval(86_400))
        #expect(life.record.current?.startedAt == now)
        guard case .update(let update) = life.handle(.updateToken("one", "aa02"), at: now).last else { return }
        #expect(update.timestamp <= Int(now.timeIntervalSince1970) + 1)
    }

    @Test func `says how it stood`() {
        let status = full.status()
        #expect(
            status.text { "\(Int($0.timeIntervalSince(LifeBench.start)))" }
                == "backing off since 0: backing off until 0 after 429"
        )
        #expect(status.text() == "backing off since 15:06: backing off until 15:06 after 429")
        #expect(status.island == "one")
        #expect(status.deadline == LifeBench.start.addingTimeInterval(8 * 3_600))
    }

    @Test func `is too long to be one`() throws {
        #expect(LifeRecord(json: Data(repeating: 0x20, count: LifeRecord.maximumBytes + 1)) == nil)
    }

    @Test func `counts no further than a state can`() {
        var record = LifeRecord()
        record.seq = LifeRecord.maximumSeq
        var life = ActivityLife(record: record, abilities: LifeBench.app, at: LifeBench.start)
        _ = life.handle(.launched(found: []), at: LifeBench.start)
        _ = life.handle(.didBecomeActive, at: LifeBench.start)
        _ = life.handle(.installs(running: .max, began: true), at: LifeBench.start)
        #expect(life.record.seq == 1)
        #expect(life.record.installs == LifeRecord.maximumSeq)
    }
}

@Suite struct `A push token` {
    @Test(arguments: ["", "0", "0g", "00 11", "../..", "é0", String(repeating: "00", count: 513)])
    func `is hexadecimal and nothing else`(text: String) {
        #expect(PushToken(hex: text) == nil)
    }

    @Test func `shows its last digits only`() {
        let token = PushToken(hex: "0123456789ABCDEF")
        #expect(token?.hex == "0123456789abcdef")
        var dumped = ""
        dump(token, to: &dumped)
        #expect(token.map { "\($0)" } == "‹…cdef›")
        #expect(!dumped.contains("0123"))
        #expect(PushToken(bytes: [0x01, 0xAB]) == PushToken(hex: "01ab"))
        #expect(PushToken(bytes: [UInt8]()) == nil)
    }
}

@Suite struct `The name of an activity` {
    @Test(arguments: ["", " ", "a b", "a\n", "é", String(repeating: "x", count: 129)])
    func `is short and printable`(text: String) {
        #expect(IslandID(rawValue: text) == nil)
    }
}
