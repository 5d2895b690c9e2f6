import Foundation
import TestKit
import Testing

private let curl = Tool("curl")

/// `ferry serve` as a process, with curl to ask it.
private struct Served: Sendable {
    let ferry: Command
    let running: Running
    /// Its address, without a slash at its end.
    let base: String
    private let token: String

    /// Starts it and waits for its address.
    ///
    /// - Parameter token: one that was made before; `nil` where there is none, so that it prints one.
    init(_ ferry: Command, token: String? = nil, signs: Bool = true) async throws {
        self.ferry = ferry
        let arguments = Self.arguments(ferry, signs: signs)
        running = try await onThread {
            let running = try ferry.start(arguments)
            #expect(running.waits { running.text.contains("\n") }, "it ended before")
            return running
        }
        let parts = running.text.split(separator: "\n").first?.components(separatedBy: "/#token=") ?? []
        base = parts.first.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? ""
        #expect((parts.count == 2) == (token == nil), "\(parts.count)")
        self.token = token ?? parts.last ?? ""
    }

    static func arguments(_ ferry: Command, listen: String = "127.0.0.1:0", signs: Bool = true) -> [String] {
        ["serve", "--to", "folder:" + ferry.home.path("apps"), "--listen", listen] + (signs ? ferry.kit.hands() : [])
            + [
                "--reporter", "json:" + ferry.home.path("log.ndjson"),
            ]
    }

    /// Asks, and gives the answer as an object under its status.
    func call(
        _ method: String,
        _ path: String,
        json: String? = nil,
        _ more: [String] = []
    ) async throws -> (
        status: Int, text: String, object: [String: Any]
    ) {
        var arguments = [
            "-sS", "--noproxy", "*", "-X", method, "-H", "Authorization: Bearer \(token)", "-w", "\n%{http_code}",
        ]
        if let json { arguments += ["-H", "Content-Type: application/json", "-d", json] }
        let all = arguments + more + [base + path]
        let result = try await onThread { try #require(curl).run(all) }
        let end = result.text.lastIndex(of: "\n") ?? result.text.startIndex
        let text = String(result.text[..<end])
        let object = (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
        return (Int(result.text[end...].dropFirst()) ?? 0, text, object)
    }

    /// Adds an install; gives its id.
    func add(_ json: String) async throws -> String {
        let answer = try await call("POST", "/api/v1/installs", json: json)
        #expect(answer.status == 201, "\(answer.text)")
        return try #require(answer.object["id"] as? String)
    }

    /// Asks for an install until it is so.
    func install(_ id: String, until isSo: ([String: Any]) -> Bool) async throws -> [String: Any] {
        while true {
            let answer = try await call("GET", "/api/v1/installs/\(id)")
            if answer.status != 200 || isSo(answer.object) { return answer.object }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Ends it, and sees that it kept its secrets to itself.
    func end(with signal: Int32) async throws -> Running.End {
        let end = try await onThread { try running.end(with: signal) }
        ferry.checkSecrets(end.text, end.errors)
        #expect(!end.errors.contains(token))
        for name in try ferry.home.contents() where name.hasSuffix("json") || name.hasSuffix("ndjson") {
            #expect(!String(decoding: try ferry.home.read(name), as: UTF8.self).contains(token), "\(name)")
        }
        return end
    }
}

@Suite(.serialized, .enabled(if: curl != nil, "curl is not installed"), .timeLimit(.minutes(10)))
struct `A server that is started anew` {
    @Test(arguments: [SIGTERM, SIGKILL])
    func `goes on with what the last one had under way`(signal: Int32) async throws {
        let ferry = try Command()
        let quay = try Quay(ferry)
        let first = try await Served(ferry)
        let id = try await first.add(#"{"url":"\#(quay.server.url("/Harbour.ipa"))","title":"Mine"}"#)
        _ = try await first.install(id) { install in
            ((install["progress"] as? [String: Any])?["completed"] as? Int ?? 0) >= 1_000_000
        }
        let list = try await first.call("GET", "/api/v1/installs")
        let lastEventID = try #require(list.object["lastEventID"] as? String)
        let end = try await first.end(with: signal)
        #expect(end.status == (signal == SIGKILL ? -SIGKILL : 0), "\(end.errors)")
        quay.letGo()

        let second = try await Served(ferry)
        let done = try await second.install(id) { $0["outcome"] != nil }
        #expect(done["outcome"] as? String == "installed", "\(done)")
        #expect(done["bundleID"] as? String == "com.example.harbour")
        #expect((done["source"] as? String)?.hasSuffix("/Harbour.ipa") == true)
        #expect(done["hasArchive"] as? Bool == true)
        // What had arrived was not fetched again.
        #expect(quay.server.exchanges.contains { ($0.request.firstByte ?? 0) > 0 })
        // An id of the earlier run means nothing here: the viewer begins with the state.
        let events = try await second.call(
            "GET",
            "/api/v1/events",
            ["-N", "--max-time", "1", "-H", "Last-Event-ID: \(lastEventID)"]
        )
        #expect(events.text.contains("event: state\ndata: {\"installs\":[{\"id\":\"\(id)\""))
        #expect(try await second.end(with: SIGTERM).status == 0)
        #expect(ferry.files(in: "state/ferry/work") == [])

        // What has ended is in the record, and what was signed is kept for a day.
        let third = try await Served(ferry)
        let installs = try await third.call("GET", "/api/v1/installs?all=true").object["installs"] as? [[String: Any]]
        #expect(installs?.map { $0["id"] as? String } == [id])
        #expect(installs?.first?["hasArchive"] as? Bool == true)
        let kept = ferry.home.path("kept.ipa")
        let saved = try await third.call("GET", "/api/v1/installs/\(id)/archive", ["-o", kept])
        #expect(saved.status == 200)
        #expect(try await ferry.run(["verify", kept]).status == 0)
        _ = try await third.end(with: SIGTERM)
    }

    @Test func `holds what was held, and still wants the SHA-256 that was asked for`() async throws {
        let ferry = try Command()
        let first = try await Served(ferry)
        let upload = try await first.call(
            "POST",
            "/api/v1/uploads?name=Harbour.ipa",
            ["--data-binary", "@" + ferry.kit.path("Harbour.ipa")]
        )
        let archive = try #require(upload.object["id"] as? String)
        let wrong = String(repeating: "ab", count: 32)
        let id = try await first.add(#"{"upload":"\#(archive)","held":true,"sha256":"\#(wrong)"}"#)
        #expect(try await first.end(with: SIGTERM).status == 0)

        let second = try await Served(ferry)
        let held = try await second.install(id) { $0["running"] as? Bool == true }
        #expect(held["held"] as? Bool == true)
        #expect(held["source"] as? String == "Harbour.ipa")
        #expect(try await second.call("POST", "/api/v1/installs/\(id)/release").status == 200)
        let failed = try await second.install(id) { $0["outcome"] != nil }
        #expect(failed["outcome"] as? String == "failed")
        #expect((failed["message"] as? String)?.contains(wrong.prefix(8)) == true, "\(failed)")
        #expect(ferry.files(in: "apps") == [])
        _ = try await second.end(with: SIGTERM)
    }

    @Test func `signs nothing without an identity, and installs apps as they are`() async throws {
        let ferry = try Command()
        let served = try await Served(ferry, signs: false)
        let upload = try await served.call(
            "POST",
            "/api/v1/uploads?name=Harbour.ipa",
            ["--data-binary", "@" + ferry.kit.path("Harbour.ipa")]
        )
        let id = try await served.add(#"{"upload":"\#(try #require(upload.object["id"] as? String))"}"#)
        let done = try await served.install(id) { $0["outcome"] != nil }
        #expect(done["outcome"] as? String == "installed", "\(done)")
        let app = ferry.files(in: "apps").first { $0.hasSuffix("Harbour.app/Harbour") }
        let unzip = try #require(Tool("unzip"))
        let asked = ["-p", ferry.kit.path("Harbour.ipa"), "Payload/Harbour.app/Harbour"]
        let published = try await onThread { try unzip.run(asked).output }
        #expect(try ferry.home.read("apps/" + (try #require(app))) == published)
        _ = try await served.end(with: SIGTERM)
    }

    @Test func `is the only one in its folder`() async throws {
        let ferry = try Command()
        let first = try await Served(ferry)
        let second = try await ferry.run(Served.arguments(ferry))
        #expect(second.status == 1)
        #expect(second.text == "")
        let who = "another ferry serve, process \(first.running.identifier), uses this folder."
        #expect(second.errors.contains(who), "\(second.errors)")
        #expect(second.errors.contains("End it, or give this one"))
        #expect(try await first.call("GET", "/healthz").text == "ok\n")
        _ = try await first.end(with: SIGKILL)
        let third = try await Served(ferry)
        #expect(try await third.end(with: SIGTERM).status == 0)
    }
}

@Suite(.serialized, .enabled(if: curl != nil, "curl is not installed"), .timeLimit(.minutes(10)))
struct `Who may use a server` {
    @Test func `is said by tokens, which are shown once and heeded at once`() async throws {
        let ferry = try Command()
        #expect(try await ferry.run(["token", "list"]).errors.contains("There is no token"))
        let made = try await ferry.run(["token", "add", "ci", "admin"])
        #expect(made.status == 0, "\(made.errors)")
        let token = made.text.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(token.hasPrefix("ferry_"))
        let path = ferry.home.path("state/ferry/server/tokens.json")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let list = try await ferry.run(["token", "list"])
        #expect(list.text.hasPrefix("ci  admin  "))
        #expect(!list.text.contains(token))
        let again = try await ferry.run(["token", "add", "ci", "viewer"])
        #expect(again.status == 1)
        #expect(again.errors.contains("There is a token “ci” already."))

        // Whoever starts it is shown no token where there are some.
        let served = try await Served(ferry, token: token)
        #expect(try await served.call("GET", "/api/v1").object["role"] as? String == "admin")
        let wall = try await ferry.run(["token", "add", "wall", "viewer", "--json"])
        #expect(wall.text.contains(#""role":"viewer""#))
        #expect(try await ferry.run(["token", "remove", "ci"]).status == 0)
        #expect(try await served.call("GET", "/api/v1").status == 401)
        #expect(try await ferry.run(["token", "remove", "ci"]).status == 1)
        _ = try await served.end(with: SIGTERM)
    }

    @Test func `in the network is asked for a certificate first`() async throws {
        let ferry = try Command()
        for listen in ["0.0.0.0:0", "[::]:0", "*:0", "192.0.2.1:0"] {
            let refused = try await ferry.run(Served.arguments(ferry, listen: listen))
            #expect(refused.status == 2, "\(listen): \(refused.errors)")
            #expect(refused.errors.contains("Anybody on the way"), "\(refused.errors)")
        }
    }
}
