import FerryActivity
import FerryPipeline
import FerryRecord
import FerryWebReporter
import Foundation
import TestKit
import Testing

@testable import FerryServer

@Suite(.enabled(if: Quay.hasCurl, Quay.absent), .timeLimit(.minutes(5))) struct `What a control server tells` {
    @Test(
        arguments: [
            "http://joe:hunter2@127.0.0.1:1/App.ipa", "http://127.0.0.1:1/App.ipa?token=hunter2",
            "http://127.0.0.1:1/App.ipa?X-Amz-Signature=hunter2&x=1",
            "http://joe:hunter2@127.0.0.1:1/?key=hunter2#hunter2",
            "HTTP://hunter2:x@127.0.0.1:1/a/App.ipa",
        ]
    )
    func `has no secret of an address in it`(url: String) async throws {
        let quay = try await Quay()
        let added = try await quay.call("POST", "/api/v1/installs", json: #"{"url":"\#(url)"}"#)
        #expect(added.status == 201, "\(added.text)")
        let id = InstallID(try #require(added.object["id"] as? String))
        // Nobody listens there.
        _ = try? await quay.pipeline.result(of: id)
        while await quay.center.activity[id]?.isFinished != true { try await Task.sleep(for: .milliseconds(2)) }
        var texts = [added.text, added.headers]
        for path in [
            "/api/v1/installs", "/api/v1/installs?all=true", "/api/v1/installs/\(id)", "/api/v1/island", "/metrics",
        ] {
            texts.append(try await quay.call("GET", path).text)
        }
        texts.append(try await quay.call("GET", "/api/v1/events", ["-N", "--max-time", "1"]).text)
        #expect(texts[4].contains("failed"))
        #expect(texts[7].contains("event: state"))
        for text in texts { #expect(!text.contains("hunter2"), "\(text)") }
        await quay.end()
    }

    @Test func `has no path of this machine in it for an archive that was sent`() async throws {
        let quay = try await Quay()
        let folder = try quay.folder.get().path
        let upload = try await quay.upload(Array("no archive".utf8), name: "Broken.ipa")
        let plan = try await quay.call("POST", "/api/v1/plan", json: #"{"upload":"\#(upload)"}"#)
        #expect(plan.text.contains("Broken.ipa"), "\(plan.status) \(plan.text)")
        let added = try await quay.call("POST", "/api/v1/installs", json: #"{"upload":"\#(upload)"}"#)
        let id = InstallID(try #require(added.object["id"] as? String))
        _ = try? await quay.pipeline.result(of: id)
        while await quay.center.activity[id]?.isFinished != true { try await Task.sleep(for: .milliseconds(2)) }
        let failed = try await quay.call("GET", "/api/v1/installs/\(id)")
        #expect(failed.object["outcome"] as? String == "failed")
        #expect(failed.text.contains("Broken.ipa"))
        for text in [plan.text, added.text, failed.text] {
            #expect(!text.contains(folder) && !text.contains(upload), "\(text)")
        }
        // As the next process reads it from the record.
        let recorded = try #require(try await quay.record.installs(all: true).first { $0.id == id })
        let book = InstallBook()
        book.setFolders(
            uploads: folder + "/server/uploads",
            archives: ArchiveFolder(path: folder + "/server/archives", limits: ControlLimits())
        )
        #expect(book.object(recorded).json.contains(#""source":"Broken.ipa""#))
        await quay.end()
    }

    @Test func `has no control character of a title in it, and is taken for no page`() async throws {
        let quay = try await Quay()
        let upload = try await quay.upload()
        let title = #"<img src=x onerror=alert(1)>\u001b[31m\r\nX-Evil: 1"#
        let added = try await quay.call(
            "POST",
            "/api/v1/installs",
            json: #"{"upload":"\#(upload)","held":true,"title":"\#(title)"}"#
        )
        let shown = try #require(added.object["title"] as? String)
        #expect(shown.hasPrefix("<img src=x onerror=alert(1)>"))
        #expect(shown.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
        #expect(added.header("Content-Type") == "application/json")
        #expect(added.header("X-Content-Type-Options") == "nosniff")
        #expect(added.header("X-Evil") == nil)
        #expect("a\r\nb\"é".percentEncoded == "a%0D%0Ab%22%C3%A9")
        await quay.end()
    }

    @Test(
        arguments: [
            ("..", "App.ipa"), (".", "App.ipa"), ("../../etc/passwd", "passwd"), ("%2e%2e%2f%2e%2e%2fx.ipa", "x.ipa"),
            ("/etc/", "etc"), ("", "App.ipa"), ("a%0d%0ab.ipa", nil), ("%1b%5b31m.ipa", nil),
            (String(repeating: "n", count: 5_000), nil), ("%00x", nil),
        ] as [(String, String?)]
    )
    func `of an archive's name is its last part, in letters that print`(given: String, shown: String?) async throws {
        let quay = try await Quay()
        let answer = try await quay.call("POST", "/api/v1/uploads?name=\(given)", body: Array("bytes".utf8))
        if answer.status == 201 {
            let name = try #require(answer.object["name"] as? String)
            if let shown { #expect(name == shown) }
            #expect(name.count <= 200 && !name.contains("/"))
            #expect(name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
        } else {
            #expect(answer.status == 400 && shown == nil, "\(answer.status) \(answer.text)")
        }
        let id = answer.object["id"] as? String
        let there = try quay.folder.get().contents().filter { $0.hasPrefix("server/uploads/") }
        #expect(there == (id.map { ["server/uploads/\($0).ipa"] } ?? []))
        await quay.end()
    }

    @Test func `of an archive that broke off is nothing, and its place is free again`() async throws {
        let quay = try await Quay { setup, _ in setup.limits.uploads = 1 }
        let cut = ["-H", "Content-Length: 1000000", "--max-time", "1"]
        let answer = try await quay.call("POST", "/api/v1/uploads", body: [UInt8](repeating: 7, count: 400_000), cut)
        #expect(answer.status == 0)
        var again = try await quay.call("POST", "/api/v1/uploads", body: Array("bytes".utf8))
        while again.status == 429 { again = try await quay.call("POST", "/api/v1/uploads", body: Array("bytes".utf8)) }
        #expect(again.status == 201, "\(again.text)")
        let id = try #require(again.object["id"] as? String)
        let there = try quay.folder.get().contents().filter { $0.hasPrefix("server/uploads/") }
        #expect(there == ["server/uploads/\(id).ipa"])
        #expect(try await quay.call("POST", "/api/v1/uploads", body: Array("more".utf8)).status == 429)
        await quay.end()
    }
}
