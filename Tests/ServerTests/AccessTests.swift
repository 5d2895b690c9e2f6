import FerryActivity
import FerryBytes
import FerryHTTP
import FerryWebReporter
import Foundation
import TestKit
import Testing

@testable import FerryServer

@Suite(.enabled(if: Quay.hasCurl, Quay.absent), .timeLimit(.minutes(5))) struct `A control server` {
    /// Method, path, and who may: a for admin, v for viewer, d for device.
    static let calls: [(String, String, String)] = [
        ("GET", "", "av"), ("GET", "/installs", "av"), ("POST", "/installs", "a"), ("GET", "/installs/x", "av"),
        ("POST", "/installs/x/hold", "a"), ("POST", "/installs/x/release", "a"), ("POST", "/installs/x/cancel", "a"),
        ("POST", "/installs/x/retry", "a"), ("GET", "/installs/x/icon", "av"), ("GET", "/installs/x/archive", "av"),
        ("GET", "/installs/x/verify", "av"), ("POST", "/installs/x/installed", "ad"), ("POST", "/installs/x/link", "a"),
        ("DELETE", "/installs/x/link", "a"), ("POST", "/hold", "a"), ("POST", "/release", "a"),
        ("POST", "/uploads", "a"), ("DELETE", "/uploads/x", "a"), ("POST", "/plan", "a"), ("GET", "/sources", "av"),
        ("GET", "/sources/x/apps", "av"), ("GET", "/island", "av"), ("PUT", "/island/tokens", "ad"),
        ("POST", "/island/liveness", "ad"),
    ]

    @Test func `lets each role do what is its, and nobody anything without a token`() async throws {
        let quay = try await Quay()
        let tokens: [(Character, Secret)] = [("a", quay.admin), ("v", quay.viewer), ("d", quay.device)]
        for (method, path, roles) in Self.calls {
            let path = "/api/v1" + path
            for (letter, token) in tokens {
                let answer = try await quay.call(method, path, token: token)
                #expect(
                    (answer.status == 403) == !roles.contains(letter),
                    "\(method) \(path) \(letter): \(answer.status)"
                )
                #expect(answer.status != 401 && answer.status < 500, "\(method) \(path) \(letter): \(answer.status)")
            }
            let answer = try await quay.call(method, path, token: nil)
            #expect(answer.status == 401, "\(method) \(path)")
            #expect(answer.header("WWW-Authenticate")?.hasPrefix("Bearer") == true)
            #expect(answer.header("Content-Type") == "application/problem+json")
        }
        for path in ["/healthz", "/api/v1/openapi.json", "/"] {
            #expect(try await quay.call("GET", path, token: nil).status == 200)
        }
        #expect(try await quay.call("GET", "/metrics", token: nil).status == 401)
        await quay.end()
    }

    @Test func `is asked by no other name than its own`() async throws {
        let quay = try await Quay()
        let port = quay.server.address.port
        for host in ["evil.example", "127.0.0.1.evil.example", "evil.example:\(port)", "[::1]", ""] {
            for path in ["/", "/api/v1", "/api/v1/installs"] {
                let answer = try await quay.call("GET", path, ["-H", host.isEmpty ? "Host;" : "Host: \(host)"])
                #expect([400, 421].contains(answer.status), "\(host) \(path): \(answer.status)")
            }
        }
        for host in ["localhost", "LOCALHOST:\(port)", "127.0.0.1"] {
            #expect(try await quay.call("GET", "/api/v1", ["-H", "Host: \(host)"]).status == 200)
        }
        await quay.end()
    }

    @Test func `gives other sites no right to read, and its pages no script but its own`() async throws {
        let quay = try await Quay()
        let answer = try await quay.call("GET", "/api/v1", ["-H", "Origin: https://evil.example"])
        #expect(!answer.headers.lowercased().contains("access-control"))
        #expect(try await quay.call("OPTIONS", "/api/v1/installs").status == 405)
        let page = try await quay.call("GET", "/", token: nil)
        let policy = try #require(page.header("Content-Security-Policy"))
        #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"))
        #expect(!policy.contains("unsafe"))
        #expect(policy.contains("frame-ancestors 'none'"))
        #expect(page.header("X-Content-Type-Options") == "nosniff")
        #expect(!page.text.contains("onclick=") && !page.text.contains("style="))
        let again = try await quay.call("GET", "/", token: nil, ["-H", "If-None-Match: \(page.header("ETag") ?? "")"])
        #expect(again.status == 304)
        await quay.end()
    }

    @Test func `stops an address that guesses tokens, for a while, and nobody who has one`() async throws {
        let quay = try await Quay { setup, _ in setup.limits.failureBurst = 3 }
        for _ in 0..<3 { #expect(try await quay.call("GET", "/api/v1", token: Secret("guess")).status == 401) }
        let answer = try await quay.call("GET", "/api/v1", token: Secret("guess"))
        #expect(answer.status == 429)
        #expect(answer.header("Retry-After") == "5")
        // Behind a proxy all have one address: who guesses must not shut out the others.
        #expect(try await quay.call("GET", "/api/v1").status == 200)
        quay.clock.advance(by: .seconds(6))
        #expect(try await quay.call("GET", "/api/v1", token: Secret("guess")).status == 401)
        await quay.end()
    }

    @Test func `changes nothing for a page of another site, not even with a token`() async throws {
        let quay = try await Quay()
        let foreign = [
            ["Origin: https://evil.example"], ["Origin: null"], ["Origin: "], ["Origin: file://"],
            ["Origin: http://127.0.0.1.evil.example"], ["Origin: http://evil.example/127.0.0.1"],
            ["Sec-Fetch-Site: cross-site"], ["Sec-Fetch-Site: same-site"],
            ["Origin: http://localhost", "Sec-Fetch-Site: cross-site"],
            ["Origin: http://localhost", "Origin: https://evil.example"],
        ]
        for (method, path, roles) in Self.calls where method != "GET" {
            for fields in foreign {
                // curl sends a field without a value where its name ends with a semicolon.
                let options = fields.flatMap { ["-H", $0.hasSuffix(": ") ? String($0.dropLast(2)) + ";" : $0] }
                let token = roles.contains("d") ? quay.device : quay.admin
                let answer = try await quay.call(method, "/api/v1" + path, token: token, options)
                #expect(answer.status == 403, "\(method) \(path) \(fields): \(answer.status)")
                guard path == "/hold" else { break }
            }
        }
        let port = quay.server.address.port
        for fields in [
            ["Origin: http://127.0.0.1:\(port)", "Sec-Fetch-Site: same-origin"], ["Origin: https://localhost"],
            ["Sec-Fetch-Site: none"], [],
        ] {
            let answer = try await quay.call("POST", "/api/v1/hold", fields.flatMap { ["-H", $0] })
            #expect(answer.status == 200, "\(fields): \(answer.status)")
        }
        await quay.end()
    }

    @Test func `takes a token from its own field alone, and gives no cookie`() async throws {
        let quay = try await Quay()
        let places = [
            ["-H", "Cookie: token=the-admin"], ["-H", "Authorization: Basic dGhlLWFkbWluOg=="],
            ["-H", "Authorization: the-admin"], ["-H", "X-Token: the-admin"],
            ["-H", "Authorization: Bearer the-admin", "-H", "Authorization: Bearer the-admin"],
        ]
        for place in places {
            #expect(try await quay.call("GET", "/api/v1", token: nil, place).status == 401, "\(place)")
        }
        for path in ["/api/v1?token=the-admin", "/api/v1?access_token=the-admin"] {
            #expect(try await quay.call("GET", path, token: nil).status == 401)
        }
        for path in ["/", "/api/v1", "/api/v1/installs"] {
            #expect(try await quay.call("GET", path).header("Set-Cookie") == nil)
        }
        await quay.end()
    }

    @Test func `tells a viewer nothing more whose token was removed`() async throws {
        let quay = try await Quay()
        let book = TokenBook(folder: try quay.folder.get().path("server"))
        let token = try book.add("wall", .viewer, at: quay.clock.date)
        async let stream = quay.call("GET", "/api/v1/events", token: token, ["-N"])
        while quay.web.viewerCount == 0 { try await Task.sleep(for: .milliseconds(2)) }
        try book.remove("wall")
        quay.clock.advance(by: .seconds(6))
        let id = try await quay.install(held: true)
        let answer = try await stream
        // Whether it was told the state before is a matter of who was first.
        #expect(answer.status == 200)
        #expect(!answer.text.contains(id.rawValue))
        #expect(quay.web.viewerCount == 0)
        await quay.end()
    }

    @Test func `takes on nothing new once it is about to stop, and lets people look`() async throws {
        let quay = try await Quay()
        quay.server.beginStop()
        let refused = try await quay.call("POST", "/api/v1/installs", json: #"{"url":"http://127.0.0.1:1/a"}"#)
        #expect(refused.status == 503)
        #expect(refused.header("Retry-After") == "5")
        #expect(refused.header("Content-Type") == "application/problem+json")
        #expect((try await quay.call("GET", "/api/v1/installs").object["installs"] as? [Any])?.isEmpty == true)
        await quay.end()
    }

    @Test func `takes so many calls of one token and no more`() async throws {
        let quay = try await Quay { setup, _ in
            setup.limits.callBurst = 2
            setup.limits.callsPerSecond = 1
        }
        let statuses = [
            try await quay.call("GET", "/api/v1/sources").status, try await quay.call("GET", "/api/v1/sources").status,
            try await quay.call("GET", "/api/v1/sources").status,
            try await quay.call("GET", "/api/v1/sources", token: quay.viewer).status,
        ]
        #expect(statuses == [200, 200, 429, 200])
        await quay.end()
    }

    @Test func `heeds tokens that are added and removed while it runs`() async throws {
        let quay = try await Quay()
        let book = TokenBook(folder: try quay.folder.get().path("server"))
        let token = try book.add("wall", .viewer, at: quay.clock.date)
        #expect(try await quay.call("GET", "/api/v1", token: token).object["role"] as? String == "viewer")
        try book.remove("wall")
        #expect(try await quay.call("GET", "/api/v1", token: token).status == 401)
        await quay.end()
    }

    @Test func `says what is wrong and what to do`() async throws {
        let quay = try await Quay()
        let cases: [(String, String, String?, Int)] = [
            ("POST", "/installs", "{", 400), ("POST", "/installs", "[]", 400), ("POST", "/installs", "{}", 400),
            ("POST", "/installs", #"{"url":"file:///etc/passwd"}"#, 400), ("POST", "/installs", #"{"url":7}"#, 400),
            ("POST", "/installs", #"{"url":"http://a/","upload":"x"}"#, 400),
            ("POST", "/installs", #"{"upload":"nothing"}"#, 404),
            ("POST", "/installs", #"{"source":"x","app":"y"}"#, 404),
            ("POST", "/installs", #"{"url":"http://a/b","sha256":"00"}"#, 400),
            ("GET", "/installs/none", nil, 404), ("GET", "/installs?all=x", nil, 400), ("GET", "/nothing", nil, 404),
            ("DELETE", "/installs", nil, 405), ("PUT", "/island/tokens", #"{"kind":"x","token":"00"}"#, 400),
            ("PUT", "/island/tokens", #"{"kind":"pushToStart","token":"xyz"}"#, 400),
            ("POST", "/island/liveness", #"{"seq":0}"#, 400), ("GET", "/sources/none/apps", nil, 404),
            ("POST", "/plan", "{\"upload\":\"" + String(repeating: "x", count: 70_000) + "\"}", 413),
        ]
        for (method, path, json, status) in cases {
            let answer = try await quay.call(method, "/api/v1" + path, json: json)
            #expect(
                answer.status == status,
                "\(method) \(path) \(json?.prefix(60) ?? ""): \(answer.status) \(answer.text)"
            )
            #expect(answer.header("Content-Type") == "application/problem+json")
            #expect(answer.object["status"] as? Int == status)
            #expect((answer.object["detail"] as? String)?.isEmpty == false)
        }
        let plain = try await quay.call(
            "POST",
            "/api/v1/installs",
            body: Array("{}".utf8),
            ["-H", "Content-Type: text/plain"]
        )
        #expect(plain.status == 415)
        #expect(try await quay.call("DELETE", "/api/v1/installs").header("Allow") == "GET, HEAD, POST")
        await quay.end()
    }
}

@Suite struct `A book of tokens` {
    @Test func `keeps no token, only what it can be known by, for its owner alone`() throws {
        let folder = try TemporaryFolder()
        let book = TokenBook(folder: folder.path("server"))
        #expect(try book.entries().isEmpty)
        let token = try book.add("ci", .admin, at: Date(timeIntervalSince1970: 1_750_000_000))
        let other = try book.add("wall", .viewer, at: Date(timeIntervalSince1970: 1_750_000_000))
        #expect(token != other)
        #expect(token.revealed.utf8.count >= 6 + 43)
        let text = String(decoding: try folder.read("server/tokens.json"), as: UTF8.self)
        #expect(!text.contains(token.revealed))
        #expect(text.contains(#""name":"ci","role":"admin""#))
        if let openssl = Tool("openssl") {
            let sum = try openssl.run(["dgst", "-sha256", "-r"], input: Array(token.revealed.utf8)).text
            #expect(text.contains(String(sum.prefix(64))))
        }
        var status = stat()
        #expect(stat(folder.path("server/tokens.json"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(throws: TokenError.self) { try book.add("ci", .admin, at: Date()) }
        #expect(throws: TokenError.self) { try book.add("a\nb", .admin, at: Date()) }
        #expect(throws: TokenError.self) { try book.remove("nobody") }
        try book.remove("ci")
        #expect(try book.entries().map(\.name) == ["wall"])
        #expect("\(token)" == "‹hidden›")
    }

    @Test(.enabled(if: geteuid() == 0, "only root may give files away"))
    func `belongs to the owner of its folder, whoever changes it`() throws {
        let folder = try TemporaryFolder()
        #expect(chown(folder.path, 61_234, 61_235) == 0)
        let book = TokenBook(folder: folder.path)
        _ = try book.add("ci", .admin, at: Date())
        for name in ["tokens.json", "tokens.lock"] {
            var status = stat()
            #expect(stat(folder.path(name), &status) == 0)
            #expect(status.st_uid == 61_234 && status.st_gid == 61_235, "\(name)")
            #expect(status.st_mode & 0o777 == 0o600, "\(name)")
        }
    }

    @Test(arguments: [
        "", "{", "{}", #"{"tokens":[{}]}"#, #"{"tokens":[{"name":"a","role":"king","sha256":"00","madeAt":""}]}"#,
    ])
    func `that is damaged says so`(text: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(Array(text.utf8), to: "tokens.json")
        #expect(throws: TokenError.self) { try TokenBook(folder: folder.path).entries() }
    }
}

@Suite struct `A limit of calls` {
    @Test func `fills up again by itself, and keeps a bounded number of names`() {
        var limit = RateLimit(burst: 2, perSecond: 0.5)
        #expect(limit.take("a", at: 0) == nil)
        #expect(limit.take("a", at: 0) == nil)
        #expect(limit.take("a", at: 0) == 2)
        #expect(limit.take("b", at: 0) == nil)
        #expect(limit.take("a", at: 1) == 1)
        #expect(limit.take("a", at: 2) == nil)
        // A clock that goes back gives nothing.
        #expect(limit.take("a", at: 1) != nil)
        for number in 0..<(RateLimit.maximumKeys * 3) { _ = limit.take("\(number)", at: 3) }
        #expect(limit.count == RateLimit.maximumKeys)
        // Those whose buckets are full again make room: "c" has its own two.
        #expect(limit.take("c", at: 10) == nil)
        #expect(limit.count == 1)
        #expect(limit.take("c", at: 10) == nil)
        #expect(limit.take("c", at: 10) == 2)
    }
}
