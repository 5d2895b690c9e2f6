import FerryAPNs
import FerryBytes
import FerryStandInAPNs
import TestKit
import Testing

/// A stand-in for APNs, and all that a client needs to use it, of one test's own.
struct World: Sendable {
    let folder: TemporaryFolder
    let server: StandInAPNs
    let key: ProviderKey
    var configuration: APNsConfiguration

    static let topic = StandInCredentials.bundleID + ".push-type.liveactivity"

    init(
        _ script: StandInScript = StandInScript(),
        record: StandInAPNs.Record = .deliveries,
        clock: WallClock = WallClock(),
        _ change: (inout APNsConfiguration) -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        server = try StandInAPNs(script, record: record) { clock.seconds }
        key = try Self.key(server.credentials)
        configuration = APNsConfiguration(.custom(host: server.host, port: server.port))
        configuration.caFile = try folder.write(server.credentials.certificate, to: "ca.pem")
        configuration.backOff = PushBackOff(first: .milliseconds(2), limit: .milliseconds(20))
        // On a machine that is busy with every other test, seconds pass for nothing.
        configuration.requestTimeout = .seconds(50)
        configuration.silenceTimeout = .seconds(40)
        configuration.random = { 0.5 }
        configuration.clock.wallSeconds = { clock.seconds }
        change(&configuration)
    }

    static func key(_ credentials: StandInCredentials) throws -> ProviderKey {
        try ProviderKey(
            p8: credentials.providerKey,
            keyID: StandInCredentials.keyID,
            teamID: StandInCredentials.teamID
        )
    }

    func client() throws -> APNsClient {
        try APNsClient(configuration, key: key)
    }

    /// Sends one push with a client of its own.
    func send(_ request: PushRequest) async throws -> PushResponse {
        let client = try client()
        do {
            let response = try await client.send(request)
            await client.close()
            return response
        } catch {
            await client.close()
            throw error
        }
    }

    static func payload(_ sequence: Int = 0) -> [UInt8] {
        Array(#"{"aps":{"timestamp":1750000000,"event":"update","content-state":{"seq":\#(sequence)}}}"#.utf8)
    }

    static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    static func push(
        _ number: Int = 1,
        sequence: Int = 0,
        priority: PushPriority = .ten,
        replacementKey: String? = nil
    ) throws -> PushRequest {
        try PushRequest(
            token: token(number),
            topic: topic,
            priority: priority,
            payload: payload(sequence),
            replacementKey: replacementKey
        )
    }
}

/// A time of day that a test moves.
final class WallClock: Sendable {
    private let state: Guarded<Int64>

    init(_ seconds: Int64 = 1_750_000_000) {
        state = Guarded(seconds)
    }

    var seconds: Int64 {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// Runs `body` and gives the error of ours that it throws.
func apnsError<Value>(_ body: () async throws -> Value) async -> APNsError? {
    do {
        _ = try await body()
        Issue.record("nothing was thrown")
        return nil
    } catch let error as APNsError {
        return error
    } catch {
        Issue.record("another error was thrown: \(error)")
        return nil
    }
}

/// Gives so many pushes, one after the other, to the tokens from 1 on.
func pushes(_ count: Int) -> @Sendable () -> PushRequest? {
    let given = Given()
    return {
        let number = given.next()
        guard number <= count else { return nil }
        do {
            return try World.push(number)
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }
}

private final class Given: Sendable {
    private let count = Guarded(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
