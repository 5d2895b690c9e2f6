import FerryAPNs
import FerryAPNsReporter
import FerryBytes
import FerryLiveActivity
import FoundationEssentials

extension Push {
    /// What `--json` prints.
    struct Report: Encodable {
        let status: Int?
        let reason: String?
        let isDelivered: Bool
        let meaning: String
        let apnsID: String?
        let attempts: Int?
        let bytes: Int
        let shed: String?
        let payload: String?
    }

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let configuration = try IslandConfiguration(path: arguments.required("--config"))
        let push = try push(arguments, device: configuration.device)
        let encoded = try push.encode()
        let shed = encoded.shed.isEmpty ? nil : "\(encoded.shed)"
        if arguments.flag("--dry-run") {
            let text = String(decoding: encoded.body, as: UTF8.self)
            let report = Report(
                status: nil,
                reason: nil,
                isDelivered: false,
                meaning: "nothing was sent",
                apnsID: nil,
                attempts: nil,
                bytes: encoded.body.count,
                shed: shed,
                payload: text
            )
            try invocation.show(report, text: text)
            return .done
        }
        let request = try PushRequest(
            token: arguments.required("--to"),
            topic: LiveActivityPush.topic(bundleID: configuration.bundleID),
            priority: arguments.value("--priority") == "5" ? .five : .ten,
            payload: encoded.body,
            expiration: Int64(push.expiration)
        )
        let client = try APNsClient(
            configuration.client(try invocation.islandFolder()) { Date() },
            key: configuration.key
        )
        let response: PushResponse
        do {
            response = try await client.send(request)
        } catch {
            await client.close()
            throw error
        }
        await client.close()
        let report = Report(
            status: response.status,
            reason: response.reason?.text,
            isDelivered: response.isDelivered,
            meaning: response.explanation,
            apnsID: response.apnsID,
            attempts: response.attempts,
            bytes: encoded.body.count,
            shed: shed,
            payload: nil
        )
        let details = "\(encoded.body.count) bytes" + (shed.map { ", left out: " + $0 } ?? "")
        try invocation.show(report, text: "\(response.explanation.printable)\n\(details)")
        return response.isDelivered ? .done : .failed
    }

    private static func push(_ arguments: ParsedArguments, device: String) throws -> LiveActivityPush {
        let state = try state(arguments)
        let alert =
            arguments.isGiven("--title") || arguments.isGiven("--body")
            ? PushAlert(title: arguments.value("--title") ?? "", body: arguments.value("--body") ?? "") : nil
        let now = Date()
        switch arguments.required("--event") {
        case "start":
            return .start(IslandAttributes(id: device, startedAt: now), state, alert: alert ?? .silent, at: now)
        case "end":
            let dismissal = arguments.number("--dismiss-after").map { seconds in
                seconds == 0 ? LiveActivityPush.Dismissal.atOnce : .after(.seconds(seconds))
            }
            return .end(state, dismissal: dismissal ?? .bySystem, alert: alert, at: now)
        default:
            let importance: LiveActivityPush.Importance = arguments.value("--priority") == "5" ? .progress : .fact
            return .update(state, importance, alert: alert, at: now)
        }
    }

    private static func state(_ arguments: ParsedArguments) throws -> IslandState {
        guard let path = arguments.value("--state") else {
            return IslandState(
                seq: 1,
                count: 1,
                isDownloading: true,
                percent: 41,
                barFraction: 0.41,
                items: [IslandState.Item(title: "Ferry", stage: .downloading, percent: 41)]
            )
        }
        let bytes = try InputFile.bytes(path, limit: 1 << 20, takesDash: true)
        do {
            return try JSONDecoder().decode(IslandState.self, from: Data(bytes))
        } catch let error as IslandStateError {
            throw StateError(message: "\(path): \(error.message)", remedy: error.remedy)
        } catch {
            throw StateError(message: "\(path): it is no JSON object.", remedy: "docs/live-activity.md has the keys.")
        }
    }
}

/// A content state that cannot be read.
struct StateError: ExplainedError {
    /// Which field, and why.
    let message: String
    /// What to do about it.
    let remedy: String?
}
