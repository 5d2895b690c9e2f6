import Foundation
import TestKit
import Testing

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry install` {
    private func arguments(_ ferry: Command, _ sources: [String], _ more: [String] = []) -> [String] {
        ["install"] + sources + ferry.kit.hands() + ["--to", "folder:" + ferry.home.path("apps")] + more
    }

    private func location(_ ferry: Command) -> String {
        ferry.home.path("apps/com.example.harbour/Harbour.app")
    }

    @Test func `carries an app from a server to a folder`() async throws {
        let ferry = try Command()
        let file = ServedFile(try ferry.kit.folder.read("Harbour.ipa"))
        let server = try HTTPServer { file.answer($0) }
        let result = try await ferry.run(arguments(ferry, [server.url("/Harbour.ipa")]))
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text == location(ferry) + "\n")
        #expect(ferry.files(in: "apps/com.example.harbour/Harbour.app").contains("Info.plist"))
        #expect(ferry.files(in: "state/ferry/work") == [])
        #expect(ferry.files(in: "state/ferry/downloads").filter { $0.hasSuffix(".part") } == [])
    }

    @Test func `sends a token along to the archive's own server, and writes it down nowhere`() async throws {
        let ferry = try Command()
        let file = ServedFile(try ferry.kit.folder.read("Harbour.ipa"))
        let server = try HTTPServer { request in
            request.headers["authorization"] == "Bearer hush-4711" && request.headers["x-build"] == "9"
                ? file.answer(request) : HTTPServer.Response(401)
        }
        try ferry.home.write(Array("hush-4711\n".utf8), to: "token")
        try ferry.home.write(Array("X-Build: 9\n".utf8), to: "fields")
        let refused = try await ferry.run(arguments(ferry, [server.url("/Harbour.ipa")]))
        #expect(refused.status == 1)
        #expect(refused.errors.contains("401"))
        let result = try await ferry.run(
            arguments(
                ferry,
                [server.url("/Harbour.ipa")],
                ["--bearer-file", ferry.home.path("token"), "--header-file", ferry.home.path("fields")]
            )
        )
        #expect(result.status == 0, "\(result.errors)")
        for name in try ferry.home.contents() where name != "token" {
            guard let bytes = try? ferry.home.read(name) else { continue }
            #expect(!String(decoding: bytes, as: UTF8.self).contains("hush-4711"), "\(name)")
        }
    }

    @Test func `takes the archive from a mirror where its own server has none`() async throws {
        let ferry = try Command()
        let file = ServedFile(try ferry.kit.folder.read("Harbour.ipa"))
        let (empty, full) = (try HTTPServer { _ in HTTPServer.Response(404) }, try HTTPServer { file.answer($0) })
        let words = arguments(ferry, [empty.url("/Harbour.ipa")], ["--mirror", full.url("/Harbour.ipa")])
        let result = try await ferry.run(words)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text == location(ferry) + "\n")
        #expect(empty.exchanges.count == 1)
    }

    @Test(arguments: ["--mirror", "--bearer-file", "--header-file"])
    func `takes what is of one address with one source only`(option: String) async throws {
        let ferry = try Command()
        let sources = ["https://example.com/A.ipa", "https://example.org/B.ipa"]
        let result = try await ferry.run(arguments(ferry, sources, [option, "https://example.net/x"]))
        #expect(result.status == 2)
        #expect(result.errors.contains("\(option) goes with one source."))
    }

    @Test func `keeps the signed archive`() async throws {
        let ferry = try Command()
        let kept = try ferry.out("kept.ipa")
        let result = try await ferry.run(
            arguments(ferry, [ferry.kit.path("Harbour.ipa")], ["--keep", kept, "--json"])
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await Python.value(result.output, "location") == location(ferry))
        #expect(try await Python.value(result.output, "identifier") == "com.example.harbour")
        #expect(try await Python.value(result.output, "isUpdate") == "false")
        #expect(try await ferry.run(["verify", kept]).status == 0)
    }

    @Test func `writes a log of JSON lines to a file`() async throws {
        let ferry = try Command()
        let log = try ferry.out("log.json")
        let result = try await ferry.run(
            arguments(ferry, [ferry.kit.path("Harbour.ipa")], ["--reporter", "json:" + log])
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text == location(ferry) + "\n")
        #expect(try await Python.lines(ferry.home.read("out/log.json")) >= 6)
    }

    @Test func `tells a program, and passes on what it says`() async throws {
        let ferry = try Command()
        let log = try ferry.out("told")
        let source = ferry.kit.path("Harbour.ipa")
        let program = "exec:sh -c 'echo hello >&2; exec cat > \(log)'"
        let result = try await ferry.run(arguments(ferry, [source], ["--reporter", program]))
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text == location(ferry) + "\n")
        #expect(result.errors.contains("sh: hello\n"))
        #expect(try await Python.lines(ferry.home.read("out/told")) >= 6)
        #expect(String(decoding: try ferry.home.read("out/told"), as: UTF8.self).contains(#""kind":"closed""#))

        let none = try await ferry.run(arguments(ferry, [source], ["--reporter", "exec:no-such-program"]))
        #expect(none.status == 1)
        #expect(none.errors.contains("there is no such program on the PATH"))
    }

    @Test(arguments: [[], ["--json"]])
    func `writes nothing but JSON lines to standard output where it is asked for them`(more: [String]) async throws {
        let ferry = try Command()
        let result = try await ferry.run(
            arguments(ferry, [ferry.kit.path("Harbour.ipa")], ["--reporter", "json:-"] + more)
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await Python.lines(result.output) >= 6)
        #expect(result.errors.contains(location(ferry)))
    }

    @Test func `tells of each of two sources, of which one fails`() async throws {
        let ferry = try Command()
        let result = try await ferry.run(
            arguments(ferry, ["missing.ipa", ferry.kit.path("Harbour.ipa")])
        )
        #expect(result.status == 1)
        #expect(result.text == location(ferry) + "\n")
        #expect(result.errors.contains("missing.ipa"))
        #expect(result.errors.split(separator: "\n").count >= 2)
    }

    @Test func `tells of each of two sources in JSON`() async throws {
        let ferry = try Command()
        let result = try await ferry.run(
            arguments(ferry, [ferry.kit.path("page.ipa"), ferry.kit.path("Harbour.ipa")], ["--json"])
        )
        #expect(result.status == 3, "\(result.errors)")
        #expect(try await Python.lines(result.output) == 2)
        let lines = result.output.split(separator: UInt8(ascii: "\n")).map { Array($0) }
        try #require(lines.count == 2)
        #expect(try await Python.value(lines[0], "source") == ferry.kit.path("page.ipa"))
        #expect(try await Python.value(lines[0], "error.code") == "refused")
        #expect(try await Python.value(lines[1], "location") == location(ferry))
    }

    @Test func `refuses an expired identity before anything is at the target`() async throws {
        let ferry = try Command()
        let result = try await ferry.run(
            ["install", ferry.kit.path("Harbour.ipa")] + ferry.kit.hands("expired") + [
                "--to", "folder:" + ferry.home.path("apps"),
            ]
        )
        #expect(result.status == 3)
        #expect(result.errors.contains("expired"))
        #expect(ferry.files(in: "apps") == [])
        #expect(ferry.files(in: "state/ferry/work") == [])
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGKILL])
    func `goes on where it was stopped when it is given again`(signal: Int32) async throws {
        let ferry = try Command()
        let quay = try Quay(ferry)
        let server = quay.server
        defer { quay.letGo() }
        let arguments = arguments(ferry, [server.url("/Harbour.ipa")])
        let stopped = try await onThread {
            let running = try ferry.start(arguments)
            let isThere = running.waits { ferry.partialBytes >= 1_000_000 }
            let result = try running.end(with: signal)
            #expect(isThere, "it ended before: \(result.errors)")
            return result
        }
        #expect(stopped.status == (signal == SIGKILL ? -SIGKILL : 130), "\(stopped.errors)")
        ferry.checkSecrets(stopped.text, stopped.errors)
        #expect(ferry.files(in: "apps") == [])
        // A kill leaves the name of a lock, which is none.
        #expect(ferry.files(in: "state/ferry/work").filter { signal != SIGKILL || !$0.hasSuffix(".lock") } == [])
        #expect(ferry.files(in: "state/ferry/downloads").count { $0.hasSuffix(".part") } == 1)

        let again = try await ferry.run(arguments)
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.text == location(ferry) + "\n")
        let first = server.exchanges.last?.request.firstByte
        // What a kill keeps is what was forced to the disk, which may be nothing yet.
        if signal != SIGKILL { #expect(first ?? 0 >= 1_000_000) }
        #expect(ferry.files(in: "state/ferry/work") == [])
        #expect(ferry.files(in: "state/ferry/downloads").filter { $0.hasSuffix(".part") } == [])
    }

    @Test func `does not mind who stops reading`() async throws {
        let ferry = try Command()
        let words = arguments(ferry, [ferry.kit.path("Harbour.ipa")], ["--reporter", "json:-"])
        let script = #""$@" | head -1; exit ${PIPESTATUS[0]}"#
        let environment = ferry.environment
        let bash = try #require(Tool("bash"))
        let result = try await onThread {
            try bash.run(["-c", script, "bash", Command.path] + words, environment: environment)
        }
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await Python.lines(result.output) == 1)
        #expect(ferry.files(in: "apps/com.example.harbour/Harbour.app").contains("Info.plist"))
    }
}

extension Command {
    /// How long the longest partial file is.
    fileprivate var partialBytes: Int {
        files(in: "state/ferry/downloads").filter { $0.hasSuffix(".part") }.map { name in
            // The file has its whole length from the start; what has come of it takes room.
            var status = stat()
            guard stat(home.path("state/ferry/downloads/" + name), &status) == 0 else { return 0 }
            return Int(status.st_blocks) * 512
        }.max() ?? 0
    }
}
