import FerryActivity
import Foundation
import TestKit
import Testing

@testable import FerryCommandReporter

@Suite(.timeLimit(.minutes(10))) struct `A program that reports` {
    private let folder: TemporaryFolder
    private let speech = Speech()

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A reporter for a shell script; `$D` in it is the folder.
    private func reporter(
        _ script: String,
        arguments: String = "",
        _ change: (inout CommandLimits) -> Void = { _ in }
    ) throws -> CommandReporter {
        let path = try folder.write(Array("#!/bin/sh\nD='\(folder.path)'\n\(script)\n".utf8), to: "script.sh")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        var limits = CommandLimits()
        change(&limits)
        return try CommandReporter(
            command: "'\(path)' \(arguments)",
            searchPath: "",
            limits: limits,
            say: speech.say
        )
    }

    private func text(_ name: String) -> String {
        String(decoding: (try? folder.read(name)) ?? [], as: UTF8.self)
    }

    private func lines(_ name: String) -> [Substring] { text(name).split(separator: "\n") }

    /// Sends the events, closes, and gives what a second reader was told of detached reporters.
    @discardableResult
    private func play(
        _ events: [ActivityEvent],
        to reporter: CommandReporter,
        before close: (ActivityCenter) async -> Void = { _ in }
    ) async -> [String] {
        let clock = ManualClock()
        let center = ActivityCenter(now: { clock.date }, clock: ContinuousClock())
        let witness = RecordingReporter()
        await center.attach(witness, named: "witness")
        await center.attach(reporter, named: "program")
        for event in events { await center.send(event) }
        await close(center)
        await center.close(waitingAtMost: .seconds(60))
        return witness.facts.compactMap { if case .reporterDetached(_, let reason) = $0 { reason } else { nil } }
    }

    private func wait(until condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test(arguments: ["cat > /dev/null", "cat >> \"$D/log\"", "while read -r line; do echo \"$line\" >&2; done"])
    func `passes the checks`(script: String) async throws {
        let reporter = try reporter(script)
        try await ReporterChecks.run(within: .seconds(60)) { reporter }
    }

    @Test func `reads the lines of the documentation, all of them`() async throws {
        let told = await play(History.many.events, to: try reporter("cat > \"$D/log\""))
        #expect(told == [])
        let lines = lines("log")
        // Five facts of each of 500, and the end.
        #expect(lines.count { !$0.contains(#""kind":"progress""#) } == 500 * 6 + 1)
        for (index, line) in lines.enumerated() {
            #expect(line.hasPrefix(#"{"schema":1,"sequence":\#(index + 1),"time":"#))
        }
        #expect(lines.last?.contains(#""kind":"closed","activity":1,"installs":500"#) == true)
    }

    @Test func `gets its arguments, and what it says is passed on with its name`() async throws {
        let script = "printf '%s;' \"$@\"; echo; cat > /dev/null; printf 'a\\033[31mb\\nno end' >&2"
        await play(History.one.events, to: try reporter(script, arguments: #"--room "big wall" 'x'"#))
        #expect(speech.all == ["script.sh: --room;big wall;x;", #"script.sh: a\u{1B}[31mb"#, "script.sh: no end"])
    }

    @Test func `that says too much is cut short`() async throws {
        let script = "cat > /dev/null; printf '%01200d\\n' 7; seq 100"
        let reporter = try reporter(script) { $0.spokenLines = 3 }
        await play(History.one.events, to: reporter)
        #expect(speech.all.count == 4)
        #expect(speech.all.first?.count == "script.sh: ".count + 1_000 + 1)
        #expect(speech.all.last == "script.sh: (it says more than 3 lines; the rest is left out)")
    }

    @Test func `that ends is started once more, and told the present state`() async throws {
        let script = """
            [ -e "$D/first" ] && exec cat > "$D/second"
            head -n 2 > "$D/first"; exit 3
            """
        let told = await play(
            [
                .added("a", title: "Lantern"), .stage("a", .downloading),
                .named("a", title: "L", bundleID: "l", version: "1"),
                .progress("a", .bytes(10, of: 100)), .held("a"),
            ],
            to: try reporter(script)
        ) { center in
            try? await wait { FileManager.default.fileExists(atPath: folder.path("second")) }
            await center.send(.released("a"))
        }
        #expect(told == [])
        #expect(lines("first").count == 2)
        let kinds = lines("second").map { String($0.split(separator: "\"")[11]) }
        #expect(kinds == ["added", "named", "stage", "held", "progress", "released", "closed"])
        #expect(lines("second").first?.hasPrefix(#"{"schema":1,"sequence":1,"#) == true)
        #expect(speech.all == ["script.sh: it ended with code 3; it is started once more and told the present state."])
    }

    @Test func `that ends twice is detached, which the others are told`() async throws {
        let reporter = try reporter("echo $$ >> \"$D/runs\"; kill -9 $$")
        let told = await play([.added("a", title: "Lantern")], to: reporter) { center in
            // Nothing more happens until it is gone.
            var updates = await center.subscribe().makeAsyncIterator()
            while let update = await updates.next() {
                if case .reporterDetached = update.fact { break }
            }
            await center.send(.finished("a", .cancelled))
        }
        #expect(told == ["script.sh was ended by signal 9, after it had been started again."])
        #expect(lines("runs").count == 2)
    }

    @Test func `that does not read is detached, and nobody waits for it`() async throws {
        let reporter = try reporter("trap '' TERM; while :; do sleep 1; done") {
            $0.unreadBytes = 1 << 20
            $0.termPatience = .milliseconds(50)
        }
        let told = await play([.added("a", title: "Lantern")], to: reporter) { center in
            var updates = await center.subscribe().makeAsyncIterator()
            for number in 0..<10_000 { await center.send(.note("a", "Note \(number) of many, so that it adds up.")) }
            while let update = await updates.next() {
                if case .reporterDetached = update.fact { break }
            }
        }
        #expect(told.count == 1)
        #expect(told.first?.hasPrefix("script.sh does not read: more than 1 MiB of facts wait for it.") == true)
    }

    @Test func `that does not end gets SIGTERM, then SIGKILL, with all that it started`() async throws {
        let script = """
            (trap '' TERM; echo $(exec sh -c 'echo $PPID') >> "$D/pids"; while :; do sleep 1; done) &
            trap 'echo term > "$D/term"' TERM
            echo $$ >> "$D/pids"
            cat > /dev/null
            while :; do sleep 0.05; done
            """
        let reporter = try reporter(script) {
            $0.endPatience = .milliseconds(50)
            $0.termPatience = .milliseconds(500)
        }
        await play(History.one.events, to: reporter) { _ in try? await wait { lines("pids").count == 2 } }
        #expect(text("term") == "term\n")
        let pids = lines("pids").compactMap { pid_t($0) }
        try #require(pids.count == 2)
        // Those of the group may take a moment to be gone; the program itself is no zombie either.
        try await wait { pids.allSatisfy { !Self.runs($0) } }
        #expect(speech.all.last == "script.sh: it was ended by signal 9.")
    }

    private static func runs(_ process: pid_t) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else {
            return FileManager.default.fileExists(atPath: "/proc/\(process)")
        }
        // Whoever is left without a parent is reaped by the system's first process, not by us.
        return status.split(separator: ")").last?.split(separator: " ").first != "Z"
    }

    @Test func `is in a group of its own, and inherits nothing that is open here`() async throws {
        let ours = try folder.write([], to: "ours")
        let open = try FileHandle(forReadingFrom: URL(fileURLWithPath: ours))
        _ = fcntl(open.fileDescriptor, F_SETFD, 0)
        let script =
            #"readlink /proc/$$/fd/* > "$D/open"; cut -d ' ' -f 1,5 /proc/$$/stat > "$D/group"; cat > /dev/null"#
        await play(History.one.events, to: try reporter(script))
        let group = text("group").split(whereSeparator: \.isWhitespace)
        try #require(group.count == 2, "no /proc here")
        #expect(group[0] == group[1])
        #expect(lines("open").count { $0.hasPrefix("pipe:") } >= 2)
        #expect(lines("open").filter { $0.hasSuffix("/ours") } == [])
        withExtendedLifetime(open) {}
    }

    @Test func `leaves no file open and no zombie here`() async throws {
        let script = #"readlink /proc/$$/fd/0 /proc/$$/fd/1 > "$D/pipes"; echo $$ > "$D/pid"; cat > /dev/null"#
        await play(History.one.events, to: try reporter(script))
        let pipes = lines("pipes").map(String.init)
        try #require(pipes.count == 2, "no /proc here")
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
        }
        #expect(open.filter { pipes.contains($0) } == [])
        let pid = try #require(lines("pid").first.flatMap { pid_t($0) })
        #expect(waitpid(pid, nil, WNOHANG) == -1)
        #expect(errno == ECHILD)
    }

    @Test func `must be there when it is asked for`() throws {
        let plain = try folder.write(Array("x".utf8), to: "plain")
        let cases: [(String, String)] = [
            (
                "no-such-program",
                "exec:no-such-program: there is no such program on the PATH. Give its path: exec:./no-such-program"
            ),
            ("/no/such", "exec:/no/such: there is no such program. Check the path."),
            (plain, "exec:\(plain): it may not be run. Make it executable: chmod +x \(plain)"),
        ]
        for (command, message) in cases {
            #expect {
                try CommandReporter(command: command, searchPath: "/usr/bin:/bin") { _ in }
            } throws: { "\($0)" == message }
        }
        #expect(try CommandReporter(command: "sh -c true", searchPath: "/usr/bin:/bin") { _ in }.name == "sh")
    }
}
