import FerryAPNs
import FerryActivity
import FerryLiveActivity
import FerryStandInAPNs
import Foundation
import TestKit
import Testing

@testable import FerryAPNsReporter

@Suite(.timeLimit(.minutes(10))) struct `A push service in trouble` {
    /// Lives through an install beside the trouble; gives what the other reporters were told.
    private func install(_ quay: Quay) async throws -> [Fact] {
        let recorder = RecordingReporter()
        await quay.center.attach(recorder, named: "recorder")
        try quay.reportStartToken()
        try await quay.begin(lastWait: .milliseconds(300))
        for step in 1...20 { await quay.center.send(.progress("a", .bytes(Int64(step), of: 20))) }
        try await quay.journal("pushed a")
        return recorder.facts
    }

    private func end(_ quay: Quay) async -> Bool {
        await quay.center.send(.finished("a", .installed(location: nil)))
        let clock = ContinuousClock()
        let time = await clock.measure { await quay.center.close(waitingAtMost: .seconds(60)) }
        // The last word has its five seconds; the rest is a loaded machine.
        return time < .seconds(30)
    }

    @Test(
        arguments: [
            (400, "BadDeviceToken", "the token for starts is void"),
            (400, "DeviceTokenNotForTopic", "the token for starts is void"),
            (400, "BadTopic", "again at"),
            (404, "BadPath", "void"),
            (405, "MethodNotAllowed", "again at"),
            (410, "Unregistered", "the token for starts is void (410)"),
            (410, "ExpiredToken", "the token for starts is void (410)"),
            (413, "PayloadTooLarge", "again at"),
            (429, "TooManyRequests", "backing off until"),
            (429, "TooManyProviderTokenUpdates", "backing off until"),
        ] as [(Int, String, String)]
    )
    func `is answered by a decision and not by a failure`(status: Int, reason: String, words: String) async throws {
        let answers = Array(repeating: StandInScript.Answer(status, reason), count: 50)
        let quay = try Quay(StandInScript { $0.answers[Quay.startToken] = answers })
        #expect(try await install(quay).contains { if case .reporterDetached = $0 { true } else { false } } == false)
        try await quay.journal(words)
        try await quay.journal("\(status) (\(reason))")
        #expect(await end(quay))
        // No attempt is sent into a back-off.
        #expect(quay.server.ledger.requests <= 2)
    }

    @Test func `that is busy is tried again, and then waited for`() async throws {
        let answers = Array(repeating: StandInScript.Answer(503, "Shutdown"), count: 50)
        let quay = try Quay(StandInScript { $0.answers[Quay.startToken] = answers })
        _ = try await install(quay)
        try await quay.journal("backing off until")
        #expect(await end(quay))
    }

    @Test(arguments: ["another key", "another id", "another team"])
    func `with a wrong provider key stops, and tells the other reporters`(wrong: String) async throws {
        let other = try StandInCredentials()
        let quay = try Quay()
        var changed = quay
        changed.configuration.key = try ProviderKey(
            p8: wrong == "another key" ? other.providerKey : quay.server.credentials.providerKey,
            keyID: wrong == "another id" ? "ZZZZZZZZZZ" : StandInCredentials.keyID,
            teamID: wrong == "another team" ? "ZZZZZZZZZZ" : StandInCredentials.teamID
        )
        let recorder = RecordingReporter()
        await changed.center.attach(recorder, named: "recorder")
        try changed.reportStartToken()
        try await changed.begin(lastWait: .milliseconds(300))
        while !recorder.facts.contains(where: { if case .reporterDetached = $0 { true } else { false } }) {
            try await Task.sleep(for: .milliseconds(5))
        }
        let reason = recorder.facts.compactMap { fact -> String? in
            if case .reporterDetached("apns", let reason) = fact { reason } else { nil }
        }.first
        #expect(reason?.contains("InvalidProviderToken") == true, "\(reason ?? "")")
        // The install goes on.
        #expect(await end(changed))
        #expect(recorder.facts.contains(.finished("a", .installed(location: nil))))
    }

    @Test(arguments: ["nobody listens", "it closes", "it is silent", "its certificate is another's"])
    func `is no reason to wait`(trouble: String) async throws {
        var script = StandInScript()
        if trouble == "it closes" { script.rejectsTLS = true }
        if trouble == "it is silent" { script.holdsAnswers = true }
        var quay = try Quay(script)
        if trouble == "nobody listens" {
            // A port that was just free.
            let other = try StandInAPNs()
            quay.configuration.endpoint = .custom(host: "localhost", port: other.port)
            other.stop()
        }
        if trouble == "its certificate is another's" {
            quay.configuration.caFile = try quay.folder.write(StandInCredentials().certificate, to: "other.pem")
        }
        _ = try await install(quay)
        #expect(await end(quay))
    }

    @Test func `that comes back is told the newest state, not the oldest`() async throws {
        // The connection dies after the start and the first update, without a word.
        let quay = try Quay(
            StandInScript {
                $0.mishap = (after: 2, what: .stall)
                $0.mishapConnections = 1
            }
        )
        try await quay.adopt()
        await quay.center.send(.progress("a", .bytes(1, of: 100)))
        await quay.pushes { $0.contains { $0.event == "update" } }
        for step in 1...40 {
            await quay.center.send(.progress("a", .bytes(Int64(step), of: 100)))
            try await Task.sleep(for: .milliseconds(100))
        }
        await quay.pushes { $0.last?.state?.percent == 40 }
        let seen = quay.delivered.compactMap(\.state?.percent)
        // What was under way when it died is old by then, and nobody wants to see it.
        #expect(seen.first { $0 > 1 } ?? 0 > 5, "\(seen)")
        await quay.center.close(waitingAtMost: .seconds(60))
        #expect(quay.server.ledger.connections >= 2)
    }

    @Test func `of another environment is named as what it is`() async throws {
        let answers = Array(repeating: StandInScript.Answer(400, "BadDeviceToken"), count: 3)
        let quay = try Quay(StandInScript { $0.answers[Quay.startToken] = answers })
        _ = try await install(quay)
        try await quay.journal("environment")
        _ = await end(quay)
    }
}
