import Foundation

@testable public import FerryLiveActivity

extension IslandID: ExpressibleByStringLiteral {
    /// A name in a test.
    public init(stringLiteral value: String) {
        guard let id = IslandID(rawValue: value) else { preconditionFailure("no name: \(value)") }
        self = id
    }
}

extension PushToken: ExpressibleByStringLiteral {
    /// A token in a test, from hexadecimal digits.
    public init(stringLiteral value: String) {
        guard let token = PushToken(hex: value) else { preconditionFailure("no token: \(value)") }
        self = token
    }
}

/// A life and a date, for histories that are written by hand.
struct LifeBench {
    static let start = Date(timeIntervalSince1970: 1_750_000_000)
    static let app: HostAbilities = [.requests, .isOnDevice, .hearsWidget]
    static let appThatPushes: HostAbilities = [.requests, .isOnDevice, .hearsWidget, .pushesStarts]
    static let server: HostAbilities = [.pushesStarts, .hearsWidget]

    var life: ActivityLife
    /// Everything that was done, without the saves.
    var done: [LifeAction] = []
    private(set) var saved: LifeRecord?

    init(_ abilities: HostAbilities, rules: LifeRules = LifeRules()) {
        life = ActivityLife(abilities: abilities, rules: rules, at: Self.start)
    }

    /// Lets something happen at a moment in seconds since the start; returns what is to be done, without the saves.
    @discardableResult
    mutating func at(_ seconds: Double, _ input: LifeInput) -> [LifeAction] {
        let actions = life.handle(input, at: Self.start.addingTimeInterval(seconds))
        if actions.contains(.save) { saved = life.record }
        done = actions.filter { $0 != .save }
        return done
    }

    /// The process ends, and another one begins with the record that was saved.
    @discardableResult
    mutating func relaunch(at seconds: Double, found: [FoundIsland]?) -> [LifeAction] {
        let record = saved.flatMap { try? $0.json() }.flatMap { LifeRecord(json: $0) } ?? LifeRecord()
        let now = Self.start.addingTimeInterval(seconds)
        life = ActivityLife(record: record, abilities: life.abilities, rules: life.rules, at: now)
        return at(seconds, .launched(found: found))
    }

    /// An app in front shows an activity for one install.
    static func appInFront(_ abilities: HostAbilities = app) -> LifeBench {
        var bench = LifeBench(abilities)
        bench.at(0, .launched(found: []))
        bench.at(0, .willEnterForeground)
        bench.at(0.4, .didBecomeActive)
        bench.at(1, .installs(running: 1, began: true))
        bench.at(1, .requested(bench.found("one", at: 1, seq: 1)))
        bench.at(2, .updateToken("one", "aa01"))
        bench.at(2, .widgetSaw(seq: 1))
        return bench
    }

    /// A server whose start was adopted.
    static func serverThatShows() -> LifeBench {
        var bench = LifeBench(server)
        bench.at(0, .launched(found: nil))
        bench.at(0, .pushToStartToken("5555"))
        bench.at(1, .installs(running: 1, began: true))
        bench.at(1, .answer(.start(seq: 1, "5555"), .ok))
        bench.at(3, .adopted(bench.found("one", at: 1, seq: 1, token: "aa01")))
        bench.at(4, .widgetSaw(seq: 1))
        return bench
    }

    func found(_ id: IslandID, at seconds: Double, seq: Int? = nil, token: PushToken? = nil) -> FoundIsland {
        FoundIsland(id: id, token: token, startedAt: Self.start.addingTimeInterval(seconds), seq: seq)
    }

    /// The reasons of the last decisions.
    var reasons: [LifeReason] { life.decisions.map(\.reason) }

    /// How it stands, with times as seconds since the start.
    var text: String {
        life.status.text { "\(Int($0.timeIntervalSince(Self.start)))" }
    }
}

extension [LifeAction] {
    /// The kinds of the actions, with the activity where there is one.
    var kinds: [String] {
        map { action in
            switch action {
            case .save: "save"
            case .request: "request"
            case .pushStart(let start, _): start.isSilent ? "push silently" : "push"
            case .update(let update): "update \(update.island)"
            case .end(let end): "end \(end.island)"
            case .notifyTapToUpdate: "notify"
            case .withdrawNotice: "withdraw"
            }
        }
    }
}
