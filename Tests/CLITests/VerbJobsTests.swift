import Foundation
import TestKit
import Testing

/// An install that stands still: its server waits in the middle of the archive.
private struct Berth: Sendable {
    let ferry: Command
    private let quay: Quay

    init() throws {
        ferry = try Command()
        quay = try Quay(ferry)
    }

    var server: HTTPServer { quay.server }

    /// Lets the server go on.
    func letGo() { quay.letGo() }

    var url: String { server.url("/Harbour.ipa") }

    func arguments(_ url: String? = nil, _ more: [String] = []) -> [String] {
        ["install", url ?? self.url] + ferry.kit.hands() + ["--to", "folder:" + ferry.home.path("apps")] + more
    }

    /// Starts it, and waits until a good part has arrived.
    func begin(_ url: String? = nil) async throws -> Running {
        let arguments = arguments(url)
        return try await onThread {
            let running = try ferry.start(arguments)
            #expect(running.waits { ferry.partialBytes >= 1_000_000 }, "it ended before")
            return running
        }
    }

    /// Starts it and ends it by a signal.
    func stop(_ url: String? = nil, with signal: Int32 = SIGKILL) async throws -> Running.End {
        let running = try await begin(url)
        let end = try await onThread { try running.end(with: signal) }
        letGo()
        return end
    }

    /// A value of the first install, as `ferry jobs` knows it.
    func job(_ path: String, _ more: [String] = []) async throws -> String {
        let result = try await ferry.run(["jobs", "--json"] + more)
        #expect(result.status == 0, "\(result.errors)")
        return try await Python.value(result.output, "0." + path)
    }

    /// What is left of installs.
    var left: [String] {
        (ferry.files(in: "state/ferry/work") + ferry.files(in: "state/ferry/downloads")
            + ferry.files(in: "state/ferry/record/runs"))
    }
}

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `Orders from another terminal` {
    @Test func `hold an install, release it, and it is installed`() async throws {
        let berth = try Berth()
        let running = try await berth.begin()
        let id = try await berth.job("id")
        #expect(try await berth.job("state") == "downloading")
        #expect(try await berth.job("process") == "\(running.identifier)")
        let held = try await berth.ferry.run(["hold", String(id.prefix(6))])
        #expect(held.status == 0, "\(held.errors)")
        #expect(held.text.hasPrefix("\(id)  held  "))
        #expect(try await berth.job("isHeld") == "true")
        // Long enough for its process to hear of it; then what comes stays on the line.
        try await Task.sleep(for: .seconds(1))
        berth.letGo()
        try await Task.sleep(for: .milliseconds(300))
        #expect(running.isRunning)
        #expect(berth.ferry.partialBytes < 16 << 20)
        #expect(try await berth.ferry.run(["release", "--all"]).status == 0)
        let end = try await onThread { try running.result() }
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.errors.contains("paused"))
        #expect(end.errors.contains("goes on"))
        #expect(berth.left == [])
        #expect(try await berth.job("state", ["--all"]) == "installed")
        let jobs = try await berth.ferry.run(["jobs"])
        #expect(jobs.text == "No install is under way.\n")
    }

    @Test func `cancel an install, and nothing is left of it`() async throws {
        let berth = try Berth()
        let running = try await berth.begin()
        let result = try await berth.ferry.run(["cancel", "--all", "--json"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await Python.value(result.output, "state") == "cancelled")
        let end = try await onThread { try running.result() }
        #expect(end.status == 130, "\(end.errors)")
        berth.letGo()
        #expect(berth.left == [])
        #expect(berth.ferry.files(in: "apps") == [])
    }

    @Test func `cancel an install that no process runs, and nothing is left of it`() async throws {
        let berth = try Berth()
        _ = try await berth.stop()
        #expect(try await berth.job("state") == "stopped")
        #expect(berth.ferry.files(in: "state/ferry/downloads").count { $0.hasSuffix(".part") } == 1)
        let result = try await berth.ferry.run(["cancel", "--all"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(berth.left == [])
        let again = try await berth.ferry.run(["cancel", try await berth.job("id", ["--all"])])
        #expect(again.status == 0)
        let held = try await berth.ferry.run(["hold", try await berth.job("id", ["--all"])])
        #expect(held.status == 1)
        #expect(held.errors.contains("this install has ended (cancelled)"))
        let resumed = try await berth.ferry.run(["resume", try await berth.job("id", ["--all"])])
        #expect(resumed.status == 1)
        #expect(resumed.errors.contains("this install has ended (cancelled)"))
    }

    @Test(arguments: ["hold", "release", "cancel"]) func `need to know for which install they are`(
        verb: String
    ) async throws {
        let ferry = try Command()
        let none = try await ferry.run([verb])
        #expect(none.status == 2)
        #expect(none.errors.contains("ID is missing"))
        let unknown = try await ferry.run([verb, "nothing"])
        #expect(unknown.status == 1)
        #expect(unknown.errors.contains("nothing: there is no such install."))
        let both = try await ferry.run([verb, "nothing", "--all"])
        #expect(both.status == 2)
        let all = try await ferry.run([verb, "--all"])
        #expect(all.status == 0)
        #expect(all.errors == "There is no install that has not ended.\n")
    }
}

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry resume` {
    @Test(arguments: [SIGKILL, SIGTERM, SIGINT])
    func `goes on by range with what was stopped`(signal: Int32) async throws {
        let berth = try Berth()
        let stopped = try await berth.stop(with: signal)
        let id = try await berth.job("id")
        #expect(stopped.status == (signal == SIGKILL ? -SIGKILL : 130))
        if signal != SIGKILL { #expect(stopped.errors.contains("“ferry resume \(id)” goes on with it.")) }
        #expect(try await berth.job("state") == "stopped")
        #expect(try await berth.job("stage") == "downloading")

        let result = try await berth.ferry.run(["resume"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text == berth.ferry.home.path("apps/com.example.harbour/Harbour.app") + "\n")
        #expect(berth.server.exchanges.last?.request.firstByte ?? 0 >= 1_000_000)
        #expect(berth.left == [])
        #expect(try await berth.job("starts", ["--all"]) == "2")
        let nothing = try await berth.ferry.run(["resume", "--all"])
        #expect(nothing.status == 0)
        #expect(nothing.errors == "Nothing was stopped on its way.\n")
    }

    @Test func `keeps what was held held`() async throws {
        let berth = try Berth()
        _ = try await berth.stop()
        #expect(try await berth.ferry.run(["hold", "--all"]).status == 0)
        let running = try await onThread { try berth.ferry.start(["resume"]) }
        while try await !berth.ferry.run(["jobs"]).text.contains("\(running.identifier)") {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try await berth.job("state") == "held")
        #expect(berth.server.exchanges.count == 1)
        #expect(try await berth.ferry.run(["release", "--all"]).status == 0)
        #expect(try await onThread { try running.result() }.status == 0)
        #expect(berth.left == [])
    }

    @Test(arguments: ["?token=0pen-sesame", "ann:0pen-sesame@"])
    func `wants a URL again of which a part was not written down`(secret: String) async throws {
        let berth = try Berth()
        let url =
            secret.hasPrefix("?")
            ? berth.url + secret : berth.url.replacingOccurrences(of: "http://", with: "http://" + secret)
        _ = try await berth.stop(url)
        for name in berth.ferry.files(in: "state/ferry/record") where name.contains("sqlite") {
            let bytes = try berth.ferry.home.read("state/ferry/record/" + name)
            #expect(!bytes.has("0pen-sesame"), "\(name)")
        }
        let id = try await berth.job("id")
        let refused = try await berth.ferry.run(["resume", id])
        #expect(refused.status == 2)
        #expect(refused.errors.contains("ferry resume \(id) --url URL"))
        let other = try await berth.ferry.run(["resume", id, "--url", berth.server.url("/Other.ipa")])
        #expect(other.status == 2)
        let result = try await berth.ferry.run(["resume", id, "--url", url])
        #expect(result.status == 0, "\(result.errors)")
        #expect(berth.server.exchanges.last?.request.firstByte ?? 0 >= 1_000_000)
        #expect(berth.left == [])
    }

    @Test func `takes the password anew where its file is gone`() async throws {
        let berth = try Berth()
        let path = try berth.ferry.out("password.txt")
        try Data((Kit.password + "\n").utf8).write(to: URL(fileURLWithPath: path))
        let arguments =
            ["install", berth.url, "--p12", berth.ferry.kit.path("good.p12"), "--password-file", "out/password.txt"]
            + ["--profile", berth.ferry.kit.path("good.mobileprovision"), "--to", "folder:apps"]
        let running = try await onThread {
            let running = try berth.ferry.start(arguments)
            #expect(running.waits { berth.ferry.partialBytes >= 1_000_000 }, "it ended before")
            return running
        }
        _ = try await onThread { try running.end(with: SIGKILL) }
        berth.letGo()
        try FileManager.default.removeItem(atPath: path)
        let refused = try await berth.ferry.run(["resume"])
        #expect(refused.status == 1)
        #expect(refused.errors.contains("password.txt"))
        // From another folder: paths were made absolute.
        let words = ["resume", "--password-file", berth.ferry.kit.path("password.txt")]
        let environment = berth.ferry.environment
        let result = try await onThread {
            try Tool(path: Command.path).run(words, in: "/", environment: environment)
        }
        #expect(result.status == 0, "\(result.errors)")
        #expect(berth.ferry.files(in: "apps/com.example.harbour/Harbour.app").contains("Info.plist"))
        #expect(berth.left == [])
    }

    @Test func `says of each what keeps it from going on`() async throws {
        let berth = try Berth()
        let running = try await berth.begin()
        let id = try await berth.job("id")
        let taken = try await berth.ferry.run(["resume", id, "--json"])
        #expect(taken.status == 1)
        #expect(try await Python.value(taken.output, "error.code") == "running")
        #expect(taken.text.contains("process \(running.identifier)"))
        berth.letGo()
        #expect(try await onThread { try running.result() }.status == 0)
        let over = try await berth.ferry.run(["resume", id, "--json"])
        #expect(over.status == 1)
        #expect(try await Python.value(over.output, "error.code") == "finished")
    }
}

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry jobs` {
    @Test func `knows nothing of what was not to be written down`() async throws {
        let ferry = try Command()
        let arguments = ["install", ferry.kit.path("Harbour.ipa")] + ferry.kit.hands() + ["--to", "folder:apps"]
        #expect(try await ferry.run(arguments + ["--no-record"]).status == 0)
        #expect(ferry.files(in: "state/ferry/record") == [])
        #expect(try await ferry.run(["jobs", "--all", "--json"]).text == "[]\n")
        #expect(try await ferry.run(arguments).status == 0)
        let jobs = try await ferry.run(["jobs", "--all"])
        #expect(jobs.text.contains("installed"))
        #expect(jobs.text.contains("Harbour 1.2"))
    }

    @Test func `keeps why an install failed`() async throws {
        let ferry = try Command()
        let arguments = ["install", "missing.ipa"] + ferry.kit.hands() + ["--to", "folder:apps"]
        #expect(try await ferry.run(arguments).status == 1)
        let jobs = try await ferry.run(["jobs", "--all", "--json"])
        #expect(try await Python.value(jobs.output, "0.state") == "failed")
        #expect(try await Python.value(jobs.output, "0.error.message").contains("missing.ipa"))
        #expect(try await Python.value(jobs.output, "0.source") == ferry.home.path("missing.ipa"))
    }

    @Test func `watches until it is stopped`() async throws {
        let berth = try Berth()
        let watching = try await onThread { try berth.ferry.start(["jobs", "--watch", "--all"]) }
        let running = try await berth.begin()
        // It looks once a second, on a machine that may be busy.
        try await Task.sleep(for: .seconds(5))
        berth.letGo()
        #expect(try await onThread { try running.result() }.status == 0)
        try await Task.sleep(for: .seconds(5))
        let end = try await onThread { try watching.end(with: SIGINT) }
        #expect(end.status == 0, "\(end.errors)")
        let tables = ["No install is under way.", "downloading", "installed"].map { end.text.range(of: $0)?.lowerBound }
        #expect(!tables.contains(nil), "\(end.text)")
        #expect(tables.compactMap(\.self) == tables.compactMap(\.self).sorted())
    }

    @Test func `sets a damaged record aside and says so`() async throws {
        let ferry = try Command()
        try ferry.home.write(Array("This is no database, but a letter.".utf8), to: "state/ferry/record/installs.sqlite")
        let jobs = try await ferry.run(["jobs"])
        #expect(jobs.status == 0)
        #expect(jobs.errors.contains("The record of installs is damaged"))
        #expect(ferry.files(in: "state/ferry/record").contains { $0.hasPrefix("installs.sqlite.2") })
        #expect(try await ferry.run(["jobs"]).errors == "")
    }
}

extension Command {
    /// How long the longest partial file is.
    fileprivate var partialBytes: Int {
        files(in: "state/ferry/downloads").filter { $0.hasSuffix(".part") }.map { name in
            let path = home.path("state/ferry/downloads/" + name)
            return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        }.max() ?? 0
    }
}
