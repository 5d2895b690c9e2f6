import FerryActivity
import FerryBytes
import FerryHTTP
import FerryPipeline
import FerryRecord
import FerryWebReporter
import Foundation
import TestKit
import Testing

@testable import FerryServer

@Suite(.enabled(if: Quay.hasCurl, Quay.absent), .timeLimit(.minutes(5))) struct `The calls of a control server` {
    @Test func `take an archive, say what signing would change, install it and hand it out`() async throws {
        let quay = try await Quay()
        let archive = try Quay.archive.get()
        let answer = try await quay.call("POST", "/api/v1/uploads?name=..%5C..%5Cetc%5CMy%20App.ipa", body: archive)
        #expect(answer.status == 201)
        #expect(answer.object["byteCount"] as? Int == archive.count)
        #expect(answer.object["name"] as? String == "My App.ipa")
        if let openssl = Tool("openssl") {
            let sum = try openssl.run(["dgst", "-sha256", "-r"], input: archive).text
            #expect(answer.object["sha256"] as? String == String(sum.prefix(64)))
        }
        let upload = try #require(answer.object["id"] as? String)
        let plan = try await quay.call("POST", "/api/v1/plan", json: #"{"upload":"\#(upload)"}"#)
        #expect(plan.status == 200, "\(plan.text)")
        #expect((plan.object["app"] as? [String: Any])?["identifier"] as? String == "com.example.harbour")
        #expect((plan.object["refusals"] as? [Any])?.isEmpty == true)

        let added = try await quay.call(
            "POST",
            "/api/v1/installs",
            json: #"{"upload":"\#(upload)","title":"Mine","held":true}"#
        )
        #expect(added.status == 201)
        let id = try #require(added.object["id"] as? String)
        #expect(added.header("Location") == "/api/v1/installs/\(id)")
        #expect(added.object["held"] as? Bool == true)
        #expect(added.object["title"] as? String == "Mine")
        // Its archive is in use.
        #expect(try await quay.call("DELETE", "/api/v1/uploads/\(upload)").status == 409)
        #expect(try await quay.call("GET", "/api/v1/installs/\(id)/archive").status == 404)

        let released = try await quay.call("POST", "/api/v1/installs/\(id)/release")
        #expect(released.object["held"] as? Bool == false)
        try await quay.finish(InstallID(id))
        let done = try await quay.call("GET", "/api/v1/installs/\(id)")
        #expect(done.object["outcome"] as? String == "installed")
        #expect(done.object["hasArchive"] as? Bool == true)
        #expect(done.object["canRetry"] as? Bool == false)
        #expect(try await quay.call("POST", "/api/v1/installs/\(id)/cancel").status == 409)
        #expect(try await quay.call("POST", "/api/v1/installs/\(id)/retry").status == 409)

        let signed = try await quay.call("GET", "/api/v1/installs/\(id)/archive")
        #expect(signed.status == 200)
        #expect(signed.header("Content-Disposition")?.hasSuffix("Harbour%201.2.ipa") == true)
        if let unzip = Tool("unzip") {
            let folder = try TemporaryFolder()
            try folder.write(signed.body, to: "a.ipa")
            #expect(try unzip.run(["-tqq", folder.path("a.ipa")]).status == 0)
        }
        let part = try await quay.call("GET", "/api/v1/installs/\(id)/archive", ["-r", "10-19"])
        #expect(part.status == 206)
        #expect(part.body == Array(signed.body[10..<20]))
        let check = try await quay.call("GET", "/api/v1/installs/\(id)/verify")
        #expect(check.status == 200, "\(check.text)")
        #expect(check.object["faults"] is [Any])
        #expect(try await quay.call("DELETE", "/api/v1/uploads/\(upload)").status == 204)
        await quay.end()
    }

    @Test func `hold, release and cancel, one or all`() async throws {
        let quay = try await Quay()
        let ids = [try await quay.install(held: true), try await quay.install(held: true)]
        #expect(try await quay.call("POST", "/api/v1/hold").object["installs"] as? Int == 0)
        let cancelled = try await quay.call("POST", "/api/v1/installs/\(ids[0])/cancel")
        #expect(cancelled.status == 200)
        while await quay.center.activity[ids[0]]?.outcome != .cancelled { try await Task.sleep(for: .milliseconds(2)) }
        #expect(try await quay.call("POST", "/api/v1/release").object["installs"] as? Int == 1)
        try await quay.finish(ids[1])
        let list = try await quay.call("GET", "/api/v1/installs")
        let installs = try #require(list.object["installs"] as? [[String: Any]])
        #expect(installs.map { $0["outcome"] as? String } == ["cancelled", "installed"])
        #expect(installs.map { $0["canRetry"] as? Bool } == [true, false])

        // A cancelled one begins as a new one.
        let retried = try await quay.call("POST", "/api/v1/installs/\(ids[0])/retry")
        #expect(retried.status == 201, "\(retried.text)")
        let id = InstallID(try #require(retried.object["id"] as? String))
        #expect(id != ids[0])
        try await quay.finish(id)
        await quay.end()
    }

    @Test func `begin a failed install anew under its name`() async throws {
        let file = ServedFile(try Quay.archive.get())
        let folder = try TemporaryFolder()
        let source = try TestKit.HTTPServer { request in
            FileManager.default.fileExists(atPath: folder.path("there")) ? file.answer(request) : .init(404)
        }
        let quay = try await Quay()
        let url = source.url("/Harbour.ipa?signature=secret-of-the-link")
        let added = try await quay.call("POST", "/api/v1/installs", json: #"{"url":"\#(url)"}"#)
        #expect(added.status == 201)
        #expect(!added.text.contains("secret-of-the-link"))
        let id = InstallID(try #require(added.object["id"] as? String))
        _ = try? await quay.pipeline.result(of: id)
        while await quay.center.activity[id]?.isFinished != true { try await Task.sleep(for: .milliseconds(2)) }
        let failed = try await quay.call("GET", "/api/v1/installs/\(id)")
        #expect(failed.object["outcome"] as? String == "failed")
        #expect(failed.object["canRetry"] as? Bool == true)
        #expect(failed.object["failedStage"] as? String == "downloading")
        #expect(!failed.text.contains("secret-of-the-link"))
        try folder.write([], to: "there")
        let retried = try await quay.call("POST", "/api/v1/installs/\(id)/retry")
        #expect(retried.status == 200, "\(retried.text)")
        try await quay.finish(id)
        #expect(try await quay.call("GET", "/api/v1/installs/\(id)").object["outcome"] as? String == "installed")
        await quay.end()
    }

    @Test func `reach installs of other processes through the record`() async throws {
        let quay = try await Quay()
        let other = InstallID("other")
        let request = RecordedRequest(source: RecordedSource("/tmp/None.ipa"), target: "folder:apps")
        try await quay.record.add(other, request, title: "Lantern")
        let list = try await quay.call("GET", "/api/v1/installs")
        let first = (list.object["installs"] as? [[String: Any]])?.first
        #expect(first?["id"] as? String == "other")
        #expect(first?["running"] as? Bool == true)
        #expect(try await quay.call("POST", "/api/v1/hold").object["installs"] as? Int == 1)
        #expect(try await quay.record.standings([other])[other]?.isHeld == true)
        #expect(try await quay.call("POST", "/api/v1/installs/other/release").object["held"] as? Bool == false)
        #expect(try await quay.call("POST", "/api/v1/installs/other/retry").status == 409)
        try await quay.record.letGo(other)
        let cancelled = try await quay.call("POST", "/api/v1/installs/other/cancel")
        #expect(cancelled.object["outcome"] as? String == "cancelled")
        #expect(try await quay.call("POST", "/api/v1/installs/other/hold").status == 409)
        let all = try await quay.call("GET", "/api/v1/installs?all=true")
        #expect((all.object["installs"] as? [Any])?.count == 1)
        #expect((try await quay.call("GET", "/api/v1/installs").object["installs"] as? [Any])?.isEmpty == true)
        await quay.end()
    }

    @Test func `refuse what is too long, and remove what nobody installs`() async throws {
        let quay = try await Quay { setup, _ in setup.limits.uploadBytes = 300_000 }
        let long = [UInt8](repeating: 7, count: 300_001)
        #expect(try await quay.call("POST", "/api/v1/uploads", body: long).status == 413)
        let chunked = try await quay.call("POST", "/api/v1/uploads", body: long, ["-H", "Transfer-Encoding: chunked"])
        #expect(chunked.status == 413)
        #expect(try await quay.call("POST", "/api/v1/uploads", body: []).status == 400)
        let folder = try quay.folder.get()
        #expect(try folder.contents().filter { $0.hasPrefix("server/uploads/") } == [])

        let id = try await quay.upload(Array(long.prefix(1_000)))
        #expect(try folder.contents().filter { $0.hasPrefix("server/uploads/") } == ["server/uploads/\(id).ipa"])
        await quay.clock.sleepers(1)
        quay.clock.advance(by: .seconds(3_660))
        while try folder.contents().contains("server/uploads/\(id).ipa") { try await Task.sleep(for: .milliseconds(2)) }
        #expect(try await quay.call("POST", "/api/v1/installs", json: #"{"upload":"\#(id)"}"#).status == 404)
        await quay.end()
    }

    @Test(.enabled(if: SmallDisk.isPossible, Comment(rawValue: SmallDisk.absent)))
    func `say that the disk is full`() async throws {
        let disk = try SmallDisk("size=2m")
        let quay = try await Quay { setup, _ in setup.folder = disk.path + "/server" }
        let answer = try await quay.call("POST", "/api/v1/uploads", body: [UInt8](repeating: 7, count: 4 << 20))
        #expect(answer.status == 507, "\(answer.text)")
        let chunked = try await quay.call(
            "POST",
            "/api/v1/uploads",
            body: [UInt8](repeating: 7, count: 4 << 20),
            ["-H", "Transfer-Encoding: chunked"]
        )
        #expect(chunked.status == 507)
        #expect((chunked.object["remedy"] as? String)?.isEmpty == false)
        await quay.end()
    }

    @Test func `tell what a phone reports to its island, and know the links`() async throws {
        let quay = try await Quay()
        let token = String(repeating: "0a", count: 80)
        let calls: [(String, String, String)] = [
            ("PUT", "/island/tokens", #"{"kind":"pushToStart","token":"\#(token)"}"#),
            ("PUT", "/island/tokens", #"{"kind":"update","token":"\#(token)","activityID":"A-1"}"#),
            ("POST", "/island/liveness", #"{"seq":12}"#),
        ]
        for (method, path, json) in calls {
            #expect(try await quay.call(method, "/api/v1" + path, json: json, token: quay.device).status == 204)
        }
        let reports = quay.said.reports.withLock { $0 }
        #expect(reports == [.startToken(token), .updateToken(activity: "A-1", token: token), .seen(12)])
        #expect(try await quay.call("GET", "/api/v1/island").object["contentState"] is [String: Any])

        let id = try await quay.install(held: true)
        let link = try await quay.call("POST", "/api/v1/installs/\(id)/link", json: #"{"seconds":600}"#)
        #expect(link.object["expiresAt"] as? String == "2025-06-15T15:16:40.000Z")
        let install = try await quay.call("GET", "/api/v1/installs/\(id)").object
        #expect((install["link"] as? [String: Any])?["url"] as? String == "https://pier.example/i/x/")
        #expect(try await quay.call("DELETE", "/api/v1/installs/\(id)/link").status == 204)
        #expect(try await quay.call("DELETE", "/api/v1/installs/\(id)/link").status == 404)
        let known = try await quay.call("POST", "/api/v1/installs/known/installed", token: quay.device)
        #expect(known.status == 204)
        #expect(try await quay.call("GET", "/api/v1/sources").text == #"{"sources":["pier"]}"# + "\n")
        #expect(try await quay.call("GET", "/api/v1/sources/pier/apps?search=a%20b").text.contains(#""name":"a b""#))
        await quay.end()
    }

    @Test func `count for Prometheus`() async throws {
        let quay = try await Quay()
        let id = try await quay.install()
        try await quay.finish(id)
        _ = try await quay.call("GET", "/api/v1/installs/none")
        let answer = try await quay.call("GET", "/metrics", token: quay.viewer)
        #expect(answer.header("Content-Type")?.hasPrefix("text/plain; version=0.0.4") == true)
        let lines = answer.text.split(separator: "\n")
        for line in [
            "ferry_installs_added_total 1", #"ferry_installs_ended_total{outcome="installed"} 1"#,
            #"ferry_http_requests_total{status="404"} 1"#, #"ferry_http_requests_total{status="201"} 2"#,
            "ferry_install_seconds_count 1", "ferry_viewers 0", #"ferry_installs{stage="signing"} 0"#,
        ] {
            #expect(lines.contains(Substring(line)), "\(line)")
        }
        await quay.end()
    }

    @Test func `tell every viewer the last fact before the server stops`() async throws {
        let quay = try await Quay()
        let viewers = (0..<20).map { _ in Task { try await quay.call("GET", "/api/v1/events", ["-N"]) } }
        while quay.web.viewerCount < viewers.count { try await Task.sleep(for: .milliseconds(2)) }
        let id = try await quay.install(held: true)
        await quay.pipeline.cancel(id)
        await quay.center.close(waitingAtMost: .seconds(10))
        await quay.server.stop(within: .seconds(1))
        for viewer in viewers {
            let text = try await viewer.value.text
            let facts = text.split(separator: "\n").filter { $0.hasPrefix("data: {\"schema\"") }
            #expect(facts.last?.contains(#""kind":"closed""#) == true, "\(facts.last ?? "nothing")")
        }
        await quay.end()
    }

    @Test func `tell viewers what happens, and where they left off`() async throws {
        let quay = try await Quay()
        let id = try await quay.install()
        try await quay.finish(id)
        // curl ends after a second and gives what came.
        let first = try await quay.call("GET", "/api/v1/events", ["-N", "--max-time", "1"])
        #expect(first.header("Content-Type") == "text/event-stream")
        #expect(first.text.hasPrefix("id: "))
        #expect(first.text.contains("event: state\ndata: {\"installs\":[{\"id\":\"\(id)\""))
        let last = try #require(try await quay.call("GET", "/api/v1/installs").object["lastEventID"] as? String)
        let number = try #require(Int(last.split(separator: "-").last ?? ""))
        let before = last.split(separator: "-")[0] + "-\(number - 1)"
        let more = try await quay.call(
            "GET",
            "/api/v1/events",
            ["-N", "--max-time", "1", "-H", "Last-Event-ID: \(before)"]
        )
        #expect(more.text.hasPrefix("id: \(last)\nevent: fact\n"))
        #expect(more.text.contains("\"outcome\":\"installed\""))
        await quay.end()
    }
}

@Suite struct `The pages of a control server` {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `are those of the folder, every one, byte by byte`() throws {
        let folder = Self.root.appendingPathComponent("Modules/Server/Pages")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let pages = PageFiles(folder: nil)
        #expect(pages.names == names)
        for name in names {
            #expect(
                pages.file(name)?.bytes == [UInt8](try Data(contentsOf: folder.appendingPathComponent(name))),
                "\(name)"
            )
        }
        #expect(pages.file("app.js")?.type == "text/javascript; charset=utf-8")
    }

    @Test func `make no markup of what they are told`() {
        let pages = PageFiles(folder: nil)
        for name in pages.names where name.hasSuffix(".js") || name.hasSuffix(".html") {
            let text = String(decoding: pages.file(name)?.bytes ?? [], as: UTF8.self)
            #expect(!text.isEmpty)
            for way in [
                "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc",
                "DOMParser", "createContextualFragment", "javascript:", "document.cookie",
            ] {
                #expect(!text.contains(way), "\(name): \(way)")
            }
        }
    }

    @Test func `may be those of another folder, and of no folder beside it`() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("<p>".utf8), to: "pages/index.html")
        try folder.write(Array("secret".utf8), to: "pages/.hidden")
        let pages = PageFiles(folder: folder.path("pages"))
        #expect(pages.file("index.html")?.bytes == Array("<p>".utf8))
        #expect(pages.file(".hidden") == nil)
        #expect(pages.file("") == nil)
        #expect(pages.file("app.js") == nil)
    }
}
