import FerryActivity
import Foundation
import TestKit
import Testing

@testable import FerryJSONLogReporter

private struct Broken: Reporter {
    struct Error: Swift.Error, CustomStringConvertible { let description = "no route to host" }

    func report(_ updates: ActivityUpdates) async throws {
        for await update in updates where update.fact == .added("a7") { throw Error() }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A JSON log` {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The lines for these events, one every 400 milliseconds, each read before the next.
    private func paced(_ events: [ActivityEvent], progressPerSecond: Double = 2) async -> String {
        let clock = ManualClock()
        let center = ActivityCenter(now: { clock.date }, clock: clock)
        var updates = await center.subscribe().makeAsyncIterator()
        var lines = JSONLines(progressPerSecond: progressPerSecond)
        var text = ""
        for event in events {
            let before = await center.activity
            await center.send(event)
            if case .note = event {} else if await center.activity == before { continue }
            if let update = await updates.next() { text += lines.lines(for: update).joined() }
            clock.advance(by: .milliseconds(400))
        }
        await center.close(waitingAtMost: .zero)
        while let update = await updates.next() { text += lines.lines(for: update).joined() }
        return text
    }

    /// What a reporter writes into a file about these events, beside another reporter that breaks.
    private func log(_ events: [ActivityEvent]) async throws -> String {
        let clock = ManualClock()
        let center = ActivityCenter(now: { clock.date }, clock: clock)
        await center.attach(try JSONLogReporter(path: folder.path("log")), named: "log")
        await center.attach(Broken(), named: "chat")
        var updates = await center.subscribe().makeAsyncIterator()
        for event in events { await center.send(event) }
        while !events.isEmpty, let update = await updates.next() {
            if case .reporterDetached = update.fact { break }
        }
        await center.close(waitingAtMost: .seconds(1))
        return String(decoding: try folder.read("log"), as: UTF8.self)
    }

    /// Has Python read the lines; gives `kind key key …` for each.
    private func keys(_ log: String) throws -> [[String]] {
        let script = """
            import json, sys
            for line in sys.stdin.read().split("\\n")[:-1]:
                o = json.loads(line)
                assert "\\n" not in line and None not in o.values()
                print(o["kind"], *o.keys())
            """
        let python = try #require(Tool("python3"))
        let result = try python.run(["-c", script], input: Array(log.utf8), environment: ["PYTHONUTF8": "1"])
        #expect(result.status == 0, "\(result.errors)")
        return result.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }

    private static let documentation = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/json-log.md")

    private static let example: [ActivityEvent] = [
        .added("a7", title: "lantern.ipa"), .stage("a7", .downloading), .progress("a7", .bytes(0, of: 48_000_000)),
        .progress("a7", .bytes(1_000_000, of: 48_000_000)), .progress("a7", .bytes(2_000_000, of: 48_000_000)),
        .held("a7"), .released("a7"),
        .named("a7", title: "Lantern", bundleID: "org.example.lantern", version: "2.1"),
        .icon("a7", [0xFF, 0xD8, 0xFF, 0xD9]),
        .note("a7", "The profile expires in 3 days."), .finished("a7", .installed(location: "/srv/apps/lantern")),
        .added("b2", title: "Compass"), .stage("b2", .signing), .step("b2", "looks for a profile"),
        .finished(
            "b2",
            .failed(
                Failure(
                    message: "Compass.app: no profile covers it.",
                    remedy: "Add one with --profile.",
                    stage: .signing
                )
            )
        ),
    ]

    @Test func `is as its documentation shows it`() async throws {
        let documentation = try String(contentsOf: Self.documentation, encoding: .utf8)
        let examples = documentation.split(separator: "\n").filter { $0.hasPrefix("{") }.map(String.init)
        let lines = await paced(Self.example).split(separator: "\n").map(String.init)
        let detached = examples.filter { $0.contains("\"kind\":\"reporterDetached\"") }
        #expect(lines == examples.filter { !detached.contains($0) })
        try #require(detached.count == 1)
        // The kind that needs a reporter of its own.
        let other = try await log(Self.example)
        let end = #","reporter":"chat","reason":"no route to host"}"#
        #expect(detached[0].hasSuffix(end))
        #expect(other.contains(end + "\n"))
    }

    @Test func `has the documented keys and no others`() async throws {
        let documentation = try String(contentsOf: Self.documentation, encoding: .utf8)
        let documented = documentation.split(separator: "\n").filter { $0.hasPrefix("| `") }
            .flatMap { $0.split(separator: "|")[0].split(separator: "`").map(String.init) }
            .filter { $0.first?.isLetter == true }
        let examples = documentation.split(separator: "\n").filter { $0.hasPrefix("{") }.map { $0 + "\n" }.joined()
        let shown = try keys(examples)
        #expect(Set(shown.flatMap { $0.dropFirst() }) == Set(documented))
        #expect(
            Set(shown.map { $0[0] }) == [
                "added", "named", "icon", "stage", "step", "held", "released", "note", "finished", "progress",
                "reporterDetached", "closed",
            ]
        )
        #expect(shown.allSatisfy { $0[1...5] == ["schema", "sequence", "time", "kind", "activity"] })
        for history in History.all where history.events.count < 500 {
            let undocumented = Set(try await keys(paced(history.events)).flatMap { $0.dropFirst() }).subtracting(
                documented
            )
            #expect(undocumented == [], "\(history.name)")
        }
    }

    @Test func `writes progress no oftener than it was told`() async throws {
        let progress = (0...100).map { ActivityEvent.progress("a", .bytes($0, of: 100)) }
        let events = [.added("a", title: "A"), .stage("a", .downloading)] + progress
        // 40 seconds; the pause of a second and a half is full after four steps of 400 ms.
        let lines = try await keys(paced(events, progressPerSecond: 1 / 1.5))
        #expect(lines.filter { $0[0] == "progress" }.count == 26)
        let none = try await keys(paced(events, progressPerSecond: 0))
        #expect(none.map { $0[0] } == ["added", "stage", "closed"])
    }

    @Test func `brings every name through`() throws {
        let names = ["灯籠", "👩‍👩‍👧‍👦", "\u{0}\u{1F}\u{7F}\u{9B}", "\"\\/\u{8}\u{C}\n\r\t", "\u{2028}\u{2029}", "e\u{301}", ""]
        let python = try #require(Tool("python3"))
        for name in names {
            var object = JSONObject()
            object.add("name", name)
            let script = "import json, sys; sys.stdout.write(json.load(sys.stdin)['name'])"
            let result = try python.run(
                ["-c", script],
                input: Array(object.line.utf8),
                environment: ["PYTHONUTF8": "1"]
            )
            #expect(result.output == Array(name.utf8))
            #expect(object.line.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" })
        }
    }

    @Test func `writes dates as Python reads them`() throws {
        let seed: UInt64 = 7
        var random = SeededGenerator(seed: seed)
        let dates = (0..<2_000).map { _ in Int.random(in: -62_135_596_800_000...253_402_300_799_999, using: &random) }
        let lines = (dates + [0, -1, 951_782_400_000, 951_868_800_000, 4_107_542_400_000]).map { milliseconds in
            "\(milliseconds) \(Date(timeIntervalSince1970: Double(milliseconds) / 1_000 + 0.0002).isoText ?? "-")"
        }
        let script = """
            import sys
            from datetime import datetime, timedelta
            for line in sys.stdin:
                number, text = line.split()
                date = datetime(1970, 1, 1) + timedelta(milliseconds=int(number))
                assert date.isoformat(timespec="milliseconds") + "Z" == text, line
            """
        let python = try #require(Tool("python3"))
        let result = try python.run(["-c", script], input: Array(lines.joined(separator: "\n").utf8))
        #expect(result.status == 0, "seed \(seed): \(result.errors)")
        for seconds in [Double.infinity, -.infinity, .nan, 1e30, -1e30] {
            #expect(Date(timeIntervalSince1970: seconds).isoText == nil)
        }
    }

    @Test func `passes the checks`() async throws {
        try await ReporterChecks.run(within: .seconds(30)) { try JSONLogReporter(path: folder.path("log")) }
    }

    @Test func `adds to what is there`() async throws {
        try folder.write(Array("before\n".utf8), to: "log")
        #expect(try await log([]).hasPrefix("before\n{\"schema\":1,"))
    }

    @Test func `fails at once where there is no folder`() {
        let path = folder.path("none/log")
        let failure = #expect(throws: LogFailure.self) { try JSONLogReporter(path: path) }
        #expect(failure?.description == "\(path): cannot open: No such file or directory.")
    }

    @Test func `fails when the disk is full, and no install notices`() async throws {
        let clock = ManualClock()
        let center = ActivityCenter(now: { clock.date }, clock: clock)
        let recording = RecordingReporter()
        await center.attach(try JSONLogReporter(path: "/dev/full"), named: "log")
        await center.attach(recording, named: "recording")
        var updates = await center.subscribe().makeAsyncIterator()
        await center.send(.added("a", title: "A"))
        while let update = await updates.next() {
            if case .reporterDetached = update.fact { break }
        }
        await center.send(.finished("a", .installed(location: nil)))
        await center.close(waitingAtMost: .seconds(1))
        let reason = "/dev/full: cannot write: No space left on device."
        #expect(
            recording.facts == [
                .added("a"), .reporterDetached(name: "log", reason: reason), .finished("a", .installed(location: nil)),
                .closed,
            ]
        )
    }

    @Test func `fails when nobody reads its pipe any more`() async throws {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let clock = ManualClock()
        let center = ActivityCenter(now: { clock.date }, clock: clock)
        let updates = await center.subscribe()
        await center.send(.added("a", title: "A"))
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        await #expect(throws: LogFailure(action: "write", path: "file descriptor \(descriptor)", errorNumber: EPIPE)) {
            try await JSONLogReporter(descriptor: descriptor).report(updates)
        }
    }
}
