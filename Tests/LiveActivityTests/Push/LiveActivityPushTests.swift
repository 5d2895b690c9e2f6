import FerryActivity
import Foundation
import TestKit
import Testing

@testable import FerryLiveActivity

private typealias Samples = IslandSamples

private let one = IslandState(Samples.oneDownload, seq: 7)
private let date = Samples.pushDate

@Suite struct `A push for a Live Activity` {
    private static let golden: [(String, LiveActivityPush)] = [
        (
            "push-start-silent",
            .start(IslandAttributes(id: "a1", startedAt: date), one, at: date, staleDate: date + 1_800)
        ),
        (
            "push-start-loud",
            .start(
                IslandAttributes(id: "a1"),
                one,
                alert: PushAlert(title: "Installing / \"now\"", body: "3 apps"),
                at: date,
                wantsToken: false
            )
        ),
        ("push-update", .update(one, .progress, at: date + 0.9, staleDate: date + 120, relevance: 50)),
        ("push-end", .end(IslandState(Samples.finished, seq: 30), dismissal: .after(.seconds(900)), at: date)),
    ]

    @Test(arguments: golden) func `is that of the golden file`(name: String, push: LiveActivityPush) throws {
        let encoded = try push.encode()
        let expected = try Samples.golden(name)
        #expect(String(decoding: encoded.body, as: UTF8.self) == String(decoding: expected, as: UTF8.self))
        #expect(encoded.shed.isEmpty)
        #expect(encoded.state == push.state)
        #expect(try push.encode() == encoded)
    }

    @Test(.enabled(if: Tool("python3") != nil, "python3 is missing")) func `has the keys that Apple names`() throws {
        let python = try #require(Tool("python3"))
        let script = """
            import json, sys
            raw = sys.stdin.buffer.read()
            body = json.loads(raw)
            aps = body["aps"]
            assert list(body) == ["aps"] and type(aps["timestamp"]) is int and type(aps["content-state"]) is dict
            print(len(raw), *aps)
            """
        let keys = [
            "push-start-silent": "alert attributes attributes-type content-state event input-push-token "
                + "interruption-level stale-date timestamp",
            "push-start-loud": "alert attributes attributes-type content-state event timestamp",
            "push-update": "content-state event relevance-score stale-date timestamp",
            "push-end": "content-state dismissal-date event timestamp",
        ]
        for (name, push) in Self.golden {
            let body = try push.encode().body
            let result = try python.run(["-c", script], input: body)
            #expect(result.text == "\(body.count) \(try #require(keys[name]))\n", "\(result.errors)")
        }
    }

    @Test func `is urgent unless only numbers moved`() {
        #expect(LiveActivityPush.update(one, .progress, at: date).priority == 5)
        #expect(LiveActivityPush.update(one, .fact, at: date).priority == 10)
        let alert = PushAlert(title: "Failed", body: "")
        #expect(LiveActivityPush.update(one, .progress, alert: alert, at: date).priority == 10)
        #expect(LiveActivityPush.start(IslandAttributes(id: "a"), one, at: date).priority == 10)
        #expect(LiveActivityPush.end(one, at: date).priority == 10)
    }

    @Test func `replaces an older one that waits, but no start`() {
        let update = LiveActivityPush.update(one, .fact, at: date)
        #expect(update.collapseID(for: "a1") == "a1")
        #expect(update.collapseID(for: "") == nil)
        #expect(update.collapseID(for: String(repeating: "ü", count: 40)) == String(repeating: "ü", count: 32))
        #expect(LiveActivityPush.start(IslandAttributes(id: "a1"), one, at: date).collapseID(for: "a1") == nil)
        #expect(LiveActivityPush.topic(bundleID: "org.example.store") == "org.example.store.push-type.liveactivity")
    }

    @Test func `expires when it is of no more use`() {
        let expirations = [
            LiveActivityPush.update(one, .progress, at: date), .update(one, .fact, at: date), .end(one, at: date),
            .start(IslandAttributes(id: "a1"), one, at: date),
        ].map { $0.expiration - 1_780_000_000 }
        #expect(expirations == [120, 3_600, 14_400, 300])
    }

    @Test(
        arguments: [
            (.bySystem, nil), (.atOnce, 1_779_999_940), (.after(.zero), 1_780_000_000),
            (.after(.seconds(-5)), 1_780_000_000), (.after(.seconds(14_400)), 1_780_014_400),
            (.after(.seconds(14_401)), 1_780_014_400), (.after(.seconds(Int64.max)), 1_780_014_400),
            (.after(.seconds(Int64.min)), 1_780_000_000),
        ] as [(LiveActivityPush.Dismissal, Int?)]
    )
    func `leaves the screen four hours later at most`(dismissal: LiveActivityPush.Dismissal, expected: Int?) {
        #expect(LiveActivityPush.end(one, dismissal: dismissal, at: date).dismissAt == expected)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300, -1])
    func `copes with dates and scores that are none`(wild: Double) throws {
        let date = Date(timeIntervalSince1970: wild)
        let push = LiveActivityPush.update(one, .fact, at: date, staleDate: date, relevance: wild)
        #expect(push.timestamp == 0)
        #expect(push.staleAt == nil)
        #expect(push.relevance == (wild.isNaN ? nil : wild > 0 ? 100 : 0))
        #expect(try contentState(push.encode().body) == one)
        #expect(LiveActivityPush.end(one, dismissal: .atOnce, at: date).dismissAt == 0)
    }

    @Test func `tells its texts on one line and not too long`() {
        let alert = PushAlert(
            title: "a\nb" + String(repeating: "ü", count: 500),
            body: String(repeating: "x", count: 9_999)
        )
        #expect(alert.title.hasPrefix("a b"))
        #expect(alert.title.utf8.count <= 192)
        #expect(alert.body.utf8.count == 512)
        #expect(PushAlert.silent == PushAlert(title: "", body: "", isPassive: true))
    }
}

/// The content state inside a body, as a phone reads it.
func contentState(_ body: [UInt8]) throws -> IslandState {
    struct Body: Decodable {
        struct APS: Decodable {
            enum CodingKeys: String, CodingKey { case state = "content-state" }
            let state: IslandState
        }
        let aps: APS
    }
    return try JSONDecoder().decode(Body.self, from: Data(body)).aps.state
}
