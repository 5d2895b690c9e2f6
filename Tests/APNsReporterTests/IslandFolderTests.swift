import FerryLiveActivity
import Foundation
import TestKit
import Testing

@testable import FerryAPNsReporter

@Suite(.timeLimit(.minutes(10))) struct `An island's folder` {
    @Test func `is for its user alone`() async throws {
        let quay = try Quay()
        try quay.reportStartToken()
        try await quay.island().save(LifeRecord())
        let folder = quay.folder.path("island")
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) + [""] {
            let mode = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.posixPermissions] as? Int
            #expect((mode ?? 0o777) & 0o077 == 0, "\(name)")
        }
    }

    @Test func `keeps messages in their order, until they are forgotten`() throws {
        let quay = try Quay()
        let island = try quay.island()
        let token = try #require(PushToken(hex: "aa01"))
        let sent = (1...20).map { IslandMessage.widgetSaw($0) } + [.pushToStartToken(token), .allowed(false)]
        for message in sent { try island.send(message) }
        #expect(island.waiting == sent)
        #expect(island.waiting == sent)
        for (path, _) in island.messages() { island.forget(path) }
        #expect(island.waiting.isEmpty)
    }

    @Test func `loses no message that it does not understand`() throws {
        let quay = try Quay()
        let island = try quay.island()
        try quay.folder.write(Array(#"{"kind": "ofTheFuture"}"#.utf8), to: "future.json")
        let path = island.inbox + "/1.json"
        try FileManager.default.moveItem(atPath: quay.folder.path("future.json"), toPath: path)
        #expect(island.waiting.isEmpty)
        #expect(FileManager.default.fileExists(atPath: path))
        island.putAside(path)
        #expect(island.messages().isEmpty)
        #expect(FileManager.default.fileExists(atPath: path + ".unknown"))
    }

    @Test func `tells long names with one beginning apart`() throws {
        var quay = try Quay()
        let long = String(repeating: "x", count: 100)
        quay.configuration.device = long + "1"
        let first = try quay.island().path
        quay.configuration.device = long + "2"
        #expect(try quay.island().path != first)
    }

    @Test(arguments: ["../../etc", "a/b", ".", "", "\u{0}", "ä ö"])
    func `stays below the state folder, whatever the device is called`(name: String) throws {
        var quay = try Quay()
        quay.configuration.device = name
        let path = try quay.island().path
        let parent = quay.folder.path("island")
        #expect(path.hasPrefix(parent + "/"))
        #expect(!path.dropFirst(parent.count + 1).contains("/"))
    }

    @Test func `puts a damaged record aside, and goes on`() async throws {
        let quay = try Quay()
        let island = try quay.island()
        try Data("{".utf8).write(to: URL(fileURLWithPath: island.recordPath))
        await #expect(throws: IslandFolder.Damaged.self) { try await island.load() }
        #expect(try await island.load() == nil)
        #expect(FileManager.default.fileExists(atPath: island.recordPath + ".damaged"))
    }

    @Test func `is driven by one process at a time`() throws {
        let quay = try Quay()
        let island = try quay.island()
        var lock = try island.lock()
        #expect(lock != nil)
        #expect(try island.lock() == nil)
        #expect(island.isDriven)
        lock = nil
        #expect(!island.isDriven)
        withExtendedLifetime(lock) {}
    }

    @Test func `hands the last hour's pushes on`() throws {
        let quay = try Quay()
        let island = try quay.island()
        #expect(island.pushes().isEmpty)
        let dates = [1_750_000_000.5, 1_750_000_001].map(Date.init(timeIntervalSince1970:))
        island.keep(dates)
        #expect(island.pushes() == dates)
    }

    @Test(arguments: [
        IslandMessage.widgetSaw(7), .allowed(true), .allowed(false),
    ])
    func `reads what was written`(message: IslandMessage) {
        #expect(IslandMessage(json: message.json()) == message)
    }

    @Test func `reads activities as they were written`() throws {
        let id = try #require(IslandID(rawValue: "A-1"))
        let token = try #require(PushToken(hex: "41c0"))
        let date = Date(timeIntervalSince1970: 1_750_000_000)
        for message in [
            IslandMessage.updateToken(id, token), .updateToken(id, token, startedAt: date, seq: 3), .dismissed(id),
            .ended(id), .pushToStartToken(token),
        ] {
            #expect(IslandMessage(json: message.json()) == message)
        }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"kind": "updateToken"}"#, #"{"kind": "updateToken", "island": "A", "token": "xyz"}"#,
        #"{"kind": "widgetSaw"}"#, #"{"kind": "widgetSaw", "seq": -1}"#, #"{"kind": "allowed"}"#,
        #"{"kind": "ended", "island": ""}"#,
    ])
    func `takes no message for what it is not`(text: String) {
        #expect(IslandMessage(json: Array(text.utf8)) == nil)
    }
}

@Suite struct `A budget of pushes` {
    private let start = Date(timeIntervalSince1970: 1_750_000_000)

    @Test func `keeps the last fifth of an hour for what happens`() {
        var budget = PushBudget(perHour: 10)
        for second in 0..<8 { budget.note(at: start + Double(second)) }
        let now = start + 10
        #expect(budget.earliest(.fact, at: now) == now)
        #expect(budget.earliest(.progress, at: now) == start + 3_600)
        budget.note(at: now)
        budget.note(at: now)
        #expect(budget.earliest(.fact, at: now) == start + 3_600)
        #expect(budget.count(at: now) == 10)
        #expect(budget.earliest(.fact, at: start + 3_600) == start + 3_600)
    }

    @Test func `parts numbers by a second`() {
        var budget = PushBudget(perHour: 100)
        budget.note(at: start)
        #expect(budget.earliest(.progress, at: start) == start + 1)
        #expect(budget.earliest(.fact, at: start) == start)
        #expect(budget.earliest(.progress, at: start + 1) == start + 1)
    }

    @Test func `counts what other processes sent, and nothing from the future`() {
        var budget = PushBudget(perHour: 3)
        budget.add([start - 7_200, start - 10, start - 5, start + 60], at: start)
        #expect(budget.count(at: start) == 2)
        budget.note(at: start)
        #expect(budget.earliest(.fact, at: start) == start - 10 + 3_600)
    }

    @Test func `is not confused by a clock that is set back`() {
        var budget = PushBudget(perHour: 1)
        budget.note(at: start + 1_000)
        #expect(budget.earliest(.fact, at: start) == start)
    }
}
