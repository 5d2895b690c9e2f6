import FerryBytes
import FerryStandInAPNs
import TestKit
import Testing

@testable import FerryAPNs

@Suite(.timeLimit(.minutes(10)))
struct `The provider token of a client` {
    typealias Answer = StandInScript.Answer

    @Test(.enabled(if: Tool("openssl") != nil, "openssl is not installed"))
    func `is taken by openssl, signature and all`() throws {
        let openssl = try #require(Tool("openssl"))
        let folder = try TemporaryFolder()
        let made = try openssl.run(
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "AuthKey.p8"],
            in: folder.path
        )
        #expect(made.status == 0)
        #expect(
            try openssl.run(["pkey", "-in", "AuthKey.p8", "-pubout", "-out", "pub.pem"], in: folder.path).status == 0
        )
        let key = try ProviderKey(p8: folder.read("AuthKey.p8"), keyID: "ABC123DEFG", teamID: "TEAM123456")
        // Several, so that numbers with leading zeros are among them more often than not.
        for issuedAt in 1_750_000_000..<1_750_000_016 as Range<Int64> {
            let token = try ProviderToken(key, issuedAt: issuedAt)
            let parts = token.revealed.split(separator: ".").map(String.init)
            #expect(parts.count == 3)
            #expect(try decoded(parts[0]) == Array(#"{"alg":"ES256","kid":"ABC123DEFG"}"#.utf8))
            #expect(try decoded(parts[1]) == Array(#"{"iss":"TEAM123456","iat":\#(issuedAt)}"#.utf8))
            let raw = try decoded(parts[2])
            #expect(raw.count == 64)
            try folder.write(der(raw), to: "sig.der")
            try folder.write("\(parts[0]).\(parts[1])".utf8, to: "message")
            let verified = try openssl.run(
                ["dgst", "-sha256", "-verify", "pub.pem", "-signature", "sig.der", "message"],
                in: folder.path
            )
            #expect(verified.text == "Verified OK\n")
        }
    }

    /// By `basenc`, which is not ours.
    private func decoded(_ text: String) throws -> [UInt8] {
        let padded = text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let basenc = try #require(Tool("basenc"))
        return try basenc.run(["--base64url", "-d"], input: Array(padded.utf8)).output
    }

    /// `SEQUENCE { INTEGER r, INTEGER s }`, as openssl wants it (RFC 3279 §2.2.3).
    private func der(_ raw: [UInt8]) -> [UInt8] {
        let numbers = [raw[..<32], raw[32...]].map { half -> [UInt8] in
            var bytes = Array(half.drop { $0 == 0 })
            if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
            return [2, UInt8(bytes.count)] + bytes
        }
        let content = numbers[0] + numbers[1]
        return [0x30, UInt8(content.count)] + content
    }

    @Test func `is made anew at 45 minutes, and not before`() async throws {
        let clock = WallClock()
        let world = try World(clock: clock)
        let client = try world.client()
        for (minutes, tokens) in [(0, 1), (44, 1), (45, 2), (89, 2), (90, 3)] as [(Int64, Int)] {
            clock.seconds = 1_750_000_000 + minutes * 60
            #expect(try await client.send(World.push()).status == 200)
            #expect(world.server.ledger.providerTokens == tokens, "after \(minutes) minutes")
        }
        await client.close()
    }

    @Test func `that is called expired is made anew once for many pushes`() async throws {
        let world = try World(
            StandInScript {
                for number in 1...10 { $0.answers[World.token(number)] = [Answer(403, "ExpiredProviderToken")] }
            }
        )
        let client = try world.client()
        #expect(try await client.send(World.push(11)).status == 200)
        // All are sent with the first token before the first of them is refused.
        world.server.script.holdsAnswers = true
        let responses = try await withThrowingTaskGroup(of: PushResponse.self) { group in
            for number in 1...10 { group.addTask { try await client.send(try World.push(number)) } }
            await world.server.wait { $0.requests == 11 }
            world.server.script.holdsAnswers = false
            world.server.releaseAnswers()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(responses.allSatisfy { $0.status == 200 && $0.attempts == 2 })
        #expect(await client.diagnostics.tokensSigned == 2)
        await client.close()
    }

    @Test func `that is called expired again names the clock`() async throws {
        let world = try World(
            StandInScript {
                $0.numbered[1] = Answer(403, "ExpiredProviderToken")
                $0.numbered[2] = Answer(403, "ExpiredProviderToken")
                $0.numbered[3] = Answer(403, "ExpiredProviderToken")
            }
        )
        let client = try world.client()
        let response = try await client.send(World.push())
        #expect(response.attempts == 2)
        #expect(response.verdict == .fixKey)
        #expect(
            response.explanation.hasSuffix(
                "This machine's clock says 2025-06-15 15:06:40 UTC, which is old for Apple: set this machine's clock."
            )
        )
        // Not every push has a token made: Apple blocks those who do.
        #expect(try await client.send(World.push()).attempts == 1)
        #expect(await client.diagnostics.tokensSigned == 2)
        await client.close()
    }

    @Test(arguments: [-7200, 7200])
    func `of a machine whose clock is off is refused, and the clock is named`(offset: Int64) async throws {
        let server = WallClock()
        let world = try World(clock: server) { configuration in
            configuration.clock.wallSeconds = { server.seconds + offset }
        }
        let response = try await world.send(World.push())
        #expect(response.status == 403)
        #expect(response.reason?.code == (offset < 0 ? .expiredProviderToken : .invalidProviderToken))
        #expect(response.explanation.contains("set this machine's clock"))
        #expect(response.explanation.contains(offset < 0 ? "2025-06-15 13:06:40 UTC" : "2025-06-15 17:06:40 UTC"))
    }

    @Test func `that is not valid stops everything until some time has passed`() async throws {
        let timer = Timer()
        let world = try World(StandInScript { $0.numbered[1] = Answer(403, "InvalidProviderToken") }) { configuration in
            configuration.clock.timer = { timer.time }
        }
        let client = try world.client()
        #expect(try await client.send(World.push()).verdict == .fixKey)
        let error = await apnsError { try await client.send(World.push()) }
        #expect(error?.code == .providerToken)
        #expect(error?.message.contains("Check the key id, the team id") == true)
        #expect(error?.remedy == "No push is sent with this key for 20 minutes.")
        #expect(world.server.ledger.requests == 1)
        timer.time = .seconds(20 * 60)
        #expect(try await client.send(World.push()).status == 200)
        await client.close()
    }

    @Test func `that came too soon after others moves to another connection, and stays`() async throws {
        let world = try World(StandInScript { $0.numbered[1] = Answer(429, "TooManyProviderTokenUpdates") })
        let client = try world.client()
        let response = try await client.send(World.push())
        #expect(response.status == 200)
        #expect(response.attempts == 2)
        #expect(await client.diagnostics.tokensSigned == 1)
        #expect(world.server.ledger.connections == 2)
        await client.close()
    }

    @Test func `and its key show nothing of themselves`() throws {
        let credentials = try StandInCredentials()
        let key = try World.key(credentials)
        let token = try ProviderToken(key, issuedAt: 0)
        #expect("\(key)" == "key ABC123DEFG of team TEAM123456 ‹hidden›")
        #expect("\(token)" == "provider token of 1970-01-01 00:00:00 UTC ‹hidden›")
        var dumped = ""
        dump((key, token), to: &dumped)
        #expect(!dumped.contains("eyJ"))
    }
}

/// A timer that a test moves.
private final class Timer: Sendable {
    private let state = Guarded(Duration.zero)

    var time: Duration {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

@Suite struct `A mint of provider tokens` {
    @Test func `makes one again after the clock was set back`() throws {
        var mint = TokenMint(try World.key(try StandInCredentials()))
        #expect(try mint.current(wallSeconds: 10_000).issuedAt == 10_000)
        #expect(try mint.current(wallSeconds: 10_000 + 2699).issuedAt == 10_000)
        #expect(try mint.current(wallSeconds: 9_000).issuedAt == 9_000)
        #expect(mint.serial == 2)
    }

    @Test func `makes none for a refusal of an older one, and one in 20 minutes for a refusal of the last`() throws {
        var mint = TokenMint(try World.key(try StandInCredentials()))
        _ = try mint.current(wallSeconds: 0)
        #expect(try mint.refused(serial: 1, wallSeconds: 1, now: .seconds(1)) == .again)
        #expect(mint.serial == 2)
        #expect(try mint.refused(serial: 1, wallSeconds: 2, now: .seconds(2)) == .again)
        #expect(try mint.refused(serial: 2, wallSeconds: 2, now: .seconds(1200)) == .giveUp)
        #expect(mint.serial == 2)
        #expect(try mint.refused(serial: 2, wallSeconds: 2, now: .seconds(1201)) == .again)
        #expect(mint.serial == 3)
    }
}
