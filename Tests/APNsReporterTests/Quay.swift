import FerryAPNs
import FerryActivity
import FerryBytes
import FerryLiveActivity
import FerryStandInAPNs
import Foundation
import TestKit
import Testing

@testable import FerryAPNsReporter

/// A push service, an app's installs, and a phone that a test plays.
struct Quay: Sendable {
    let folder: TemporaryFolder
    let server: StandInAPNs
    let center = ActivityCenter(now: { Date() }, clock: ContinuousClock())
    var configuration: IslandConfiguration

    static let startToken = "80aa01"
    static let updateToken = "41c002"
    static let island = "5F1B2C3D-0000-4000-8000-000000000001"

    init(_ script: StandInScript = StandInScript(), _ change: (inout IslandConfiguration) -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        server = try StandInAPNs(script)
        configuration = IslandConfiguration(
            device: "Ada's phone",
            bundleID: StandInCredentials.bundleID,
            key: try ProviderKey(
                p8: server.credentials.providerKey,
                keyID: StandInCredentials.keyID,
                teamID: StandInCredentials.teamID
            ),
            endpoint: .custom(host: server.host, port: server.port)
        )
        configuration.caFile = try folder.write(server.credentials.certificate, to: "ca.pem")
        change(&configuration)
    }

    /// A quick reporter, which waits at its end for as long as it is told.
    func reporter(lastWait: Duration = .milliseconds(300)) throws -> APNsReporter {
        var reporter = try APNsReporter(
            configuration,
            stateFolder: folder.path("island"),
            clock: ContinuousClock(),
            now: { Date() }
        )
        reporter.pause = .milliseconds(10)
        reporter.lastWait = lastWait
        return reporter
    }

    func island() throws -> IslandFolder { try IslandFolder(configuration, in: folder.path("island")) }

    /// The phone reports the token for starts.
    func reportStartToken() throws {
        try island().send(.pushToStartToken(try #require(PushToken(hex: Self.startToken))))
    }

    /// The phone reports the activity, with its token.
    func reportIsland() throws {
        let id = try #require(IslandID(rawValue: Self.island))
        try island().send(.updateToken(id, try #require(PushToken(hex: Self.updateToken))))
    }

    /// Attaches a reporter and begins an install.
    func begin(_ title: String = "Harbour", lastWait: Duration = .seconds(20)) async throws {
        await center.attach(try reporter(lastWait: lastWait), named: "apns")
        await center.send(.added("a", title: title))
        await center.send(.stage("a", .downloading))
    }

    /// Begins an install, and adopts the activity that is started for it.
    func adopt() async throws {
        try reportStartToken()
        try await begin()
        await pushes { $0.contains { $0.event == "start" } }
        try reportIsland()
    }

    /// Waits until what was delivered is as `isEnough` says.
    func pushes(_ isEnough: @escaping @Sendable ([Delivered]) -> Bool) async {
        await server.wait { isEnough($0.deliveries.map(Delivered.init)) }
    }

    var delivered: [Delivered] { server.ledger.deliveries.map(Delivered.init) }

    /// Waits for a line of the journal with these words in it.
    func journal(_ words: String) async throws {
        let island = try island()
        while !island.journal(last: 100).contains(where: { $0.contains(words) }) {
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

/// A push as the phone gets it.
struct Delivered: Sendable {
    let token: String
    let priority: String
    let collapseID: String
    let event: String
    let size: Int
    let state: IslandState?
    let timestamp: Int
    let dismissal: Int?
    let attributesType: String?
    let hasAlert: Bool

    init(_ delivery: StandInLedger.Delivery) {
        token = delivery.token
        priority = delivery.priority
        collapseID = delivery.collapseID
        size = delivery.payload.count
        let body = try? JSONSerialization.jsonObject(with: Data(delivery.payload)) as? [String: Any]
        let aps = body?["aps"] as? [String: Any] ?? [:]
        event = aps["event"] as? String ?? ""
        timestamp = aps["timestamp"] as? Int ?? 0
        dismissal = aps["dismissal-date"] as? Int
        attributesType = aps["attributes-type"] as? String
        hasAlert = aps["alert"] is [String: Any]
        let content = aps["content-state"].flatMap { try? JSONSerialization.data(withJSONObject: $0) }
        // As the system does it on the phone: the default decoder.
        state = content.flatMap { try? JSONDecoder().decode(IslandState.self, from: $0) }
    }

    /// What every push must keep to.
    func check() {
        #expect(size <= 4096)
        #expect(state != nil)
        #expect(["start", "update", "end"].contains(event))
        #expect(hasAlert == (event == "start"))
        #expect((attributesType == "IslandAttributes") == (event == "start"))
    }
}
