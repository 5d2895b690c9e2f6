import FerryAPNs
import FerryBytes
import FerryStandInAPNs
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `An answer of the service` {
    typealias Answer = StandInScript.Answer

    /// The table of Apple's “Handling notification responses from APNs”, and what we make of each.
    static let table: [(status: Int, reason: String, verdict: PushVerdict)] = [
        (400, "BadCollapseId", .bug), (400, "BadDeviceToken", .badToken), (400, "BadExpirationDate", .bug),
        (400, "BadMessageId", .bug), (400, "BadPriority", .bug), (400, "BadTopic", .bug),
        (400, "DeviceTokenNotForTopic", .badToken), (400, "DuplicateHeaders", .bug),
        (400, "IdleTimeout", .backOff(.seconds(60))), (400, "InvalidPushType", .bug),
        (400, "MissingDeviceToken", .badToken), (400, "MissingTopic", .bug), (400, "PayloadEmpty", .bug),
        (400, "TopicDisallowed", .fixKey), (403, "BadCertificate", .fixKey),
        (403, "BadCertificateEnvironment", .fixKey), (403, "Forbidden", .fixKey),
        (403, "InvalidProviderToken", .fixKey), (403, "MissingProviderToken", .fixKey),
        (403, "UnrelatedKeyIdInToken", .fixKey), (403, "BadEnvironmentKeyIdInToken", .fixKey), (404, "BadPath", .bug),
        (405, "MethodNotAllowed", .bug), (410, "ExpiredToken", .forgetToken), (410, "Unregistered", .forgetToken),
        (404, "Unregistered", .forgetToken), (413, "PayloadTooLarge", .tooLarge),
        (429, "TooManyRequests", .backOff(.seconds(60))), (418, "SomethingNew", .bug),
    ]

    @Test(arguments: table)
    func `that will not change is given to the caller at once`(
        status: Int,
        reason: String,
        verdict: PushVerdict
    ) async throws {
        let world = try World(StandInScript { $0.numbered[1] = Answer(status, reason) })
        let response = try await world.send(World.push())
        #expect(response.status == status)
        #expect(response.reason?.text == reason)
        #expect((response.reason?.code == .other) == (reason == "SomethingNew"))
        #expect(response.verdict == verdict)
        #expect(response.attempts == 1)
        #expect(response.explanation.contains("APNs answered \(status) (\(reason)) to the push \(response.apnsID)"))
        #expect(world.server.ledger.requests == 1)
    }

    @Test(arguments: [(500, "InternalServerError"), (503, "ServiceUnavailable"), (503, "Shutdown")])
    func `of a busy service is tried again with the same id`(status: Int, reason: String) async throws {
        let world = try World(
            StandInScript { $0.answers[World.token(1)] = [Answer(status, reason), Answer(status, reason)] }
        )
        let response = try await world.send(World.push())
        #expect(response.status == 200)
        #expect(response.attempts == 3)
        #expect(world.server.ledger.requests == 3)
        #expect(world.server.ledger.ids == [response.apnsID])
        #expect((world.server.ledger.connections > 1) == (reason == "Shutdown"))
    }

    @Test func `of a service that stays busy is given to the caller after the retries`() async throws {
        let world = try World(
            StandInScript { $0.answers[World.token(1)] = Array(repeating: Answer(503, "ServiceUnavailable"), count: 9) }
        ) { $0.retries = 2 }
        let response = try await world.send(World.push())
        #expect(response.status == 503)
        #expect(response.attempts == 3)
        #expect(response.verdict == .backOff(.seconds(60)))
    }

    /// The wall clock stands at 2025-06-15 15:06:40 UTC (1,750,000,000).
    @Test(arguments: [("300", 300), ("Sun, 15 Jun 2025 15:08:20 GMT", 100), ("99999999999", 86_400)])
    func `says how long to wait, in seconds or as a date`(text: String, seconds: Int) async throws {
        let answer = Answer(503, "ServiceUnavailable", retryAfter: text)
        let world = try World(StandInScript { $0.numbered[1] = answer })
        let response = try await world.send(World.push())
        // Longer than the push may take: no second attempt.
        #expect(response.status == 503)
        #expect(response.attempts == 1)
        #expect(response.retryAfter == .seconds(seconds))
        #expect(response.verdict == .backOff(.seconds(seconds)))
    }

    @Test(arguments: ["Sun, 15 Jun 2025 15:00:00 GMT", "0", "soon", "-3", "Sun, 99 Jun 2025 15:08:20 GMT"])
    func `that asks for no wait, or in no form that is known, is tried again by our own back-off`(
        text: String
    ) async throws {
        let world = try World(
            StandInScript { $0.numbered[1] = Answer(503, "ServiceUnavailable", retryAfter: text) }
        )
        let response = try await world.send(World.push())
        #expect(response.status == 200)
        #expect(response.attempts == 2)
    }

    @Test func `that asks for a wait is not tried again before it is over`() async throws {
        let world = try World(
            StandInScript { $0.numbered[1] = Answer(503, "ServiceUnavailable", retryAfter: "1") }
        )
        let start = ContinuousClock.now
        let response = try await world.send(World.push())
        #expect(response.status == 200)
        #expect(ContinuousClock.now - start >= .seconds(1))
    }

    @Test func `tells when the token stopped being valid`() async throws {
        let world = try World(
            StandInScript { $0.numbered[1] = Answer(410, "Unregistered", timestamp: 1_749_999_999_123) }
        )
        let response = try await world.send(World.push())
        #expect(response.timestamp == 1_749_999_999_123)
        #expect(response.explanation.hasSuffix("the token 00000000… is not valid any more. It must be forgotten."))
    }

    @Test func `keeps the id by which the sandbox's console finds the push`() async throws {
        let answer = Answer(200).with { $0.headers = [("apns-unique-id", "8c2b5f0e-0000-4000-8000-000000000001")] }
        let world = try World(StandInScript { $0.numbered[1] = answer })
        #expect(try await world.send(World.push()).uniqueID == "8c2b5f0e-0000-4000-8000-000000000001")
    }

    @Test(
        arguments: [
            ("", ""), ("no JSON", ""), (#"{"reason":"#, ""), (#"{"reason":17}"#, ""), (#"{"reason":"A\nB"}"#, "A\\nB"),
            (#" { "x" : null , "reason" : "Odd" , "timestamp" : "12" }"#, "Odd"),
            (#"{"reason":"Bell\#u{7}"}"#, "Bell\\u{07}"), ("[1,2]", ""),
        ]
    )
    func `has the reason that its body has, or none`(body: String, reason: String) async throws {
        let answer = Answer(400).with { $0.body = Array(body.utf8) }
        let world = try World(StandInScript { $0.numbered[1] = answer })
        let response = try await world.send(World.push())
        #expect(response.reason?.text == reason)
        #expect(response.timestamp == nil)
        #expect(response.verdict == .bug)
    }

    @Test func `with a body without end is read so far as it is kept`() async throws {
        let body = Array(#"{"reason":"BadTopic"}"#.utf8) + Array(repeating: UInt8(ascii: " "), count: 2 << 20)
        let world = try World(StandInScript { $0.numbered[1] = Answer(400).with { $0.body = body } })
        let client = try world.client()
        #expect(try await client.send(World.push()).reason?.code == .badTopic)
        #expect(try await client.send(World.push()).status == 200)
        await client.close()
        #expect(world.server.ledger.connections == 1)
    }

    @Test func `with header fields without end is not read to its end`() async throws {
        let headers = (0..<40).map { ("x-\($0)", String(repeating: "v", count: 1000)) }
        let world = try World(StandInScript { $0.numbered[1] = Answer(400, "BadTopic").with { $0.headers = headers } })
        let client = try world.client()
        let response = try await client.send(World.push())
        #expect(response.status == 400)
        #expect(response.reason?.text == "")
        #expect(try await client.send(World.push()).status == 200)
        await client.close()
    }

    @Test func `to another push is told apart from it`() async throws {
        let world = try World(
            StandInScript {
                $0.answers[World.token(2)] = [Answer(410, "Unregistered")]
                $0.answers[World.token(3)] = [Answer(400, "BadDeviceToken")]
            }
        )
        let client = try world.client()
        let statuses = Guarded<[Int: Int]>([:])
        await client.sendAll(inFlight: 20, next: pushes(50)) { number, outcome in
            let status = (try? outcome.get().status) ?? 0
            statuses.withLock { $0[number + 1] = status }
        }
        await client.close()
        var expected = Dictionary(uniqueKeysWithValues: (1...50).map { ($0, 200) })
        expected[2] = 410
        expected[3] = 400
        #expect(statuses.withLock { $0 } == expected)
    }

    @Test(arguments: [APNsEndpoint.Environment.production, .sandbox])
    func `to a token of another environment names that one`(environment: APNsEndpoint.Environment) async throws {
        let world = try World(StandInScript { $0.numbered[1] = Answer(400, "BadDeviceToken") }) { configuration in
            configuration.endpoint = .custom(
                host: configuration.endpoint.host,
                port: configuration.endpoint.port,
                environment: environment
            )
        }
        let response = try await world.send(World.push())
        let (this, other) = environment == .sandbox ? ("sandbox", "production") : ("production", "sandbox")
        #expect(response.verdict == .badToken)
        #expect(response.explanation.contains("is none of the \(this) environment. It may be one of \(other):"))
    }
}
