import FerryActivity
import Foundation
import Synchronization
import TestKit
import Testing

@testable import FerryTerminalReporter

private let live = Style(isLive: true, hasColours: false, hasUnicode: true)

/// A small terminal: it understands what the reporter writes, and nothing else.
private final class Screen: Sendable {
    private struct State {
        var lines: [String] = [""]
        var row = 0
        var isCursorHidden = false
        var writes = 0
        var size = TerminalOutput.Size(columns: 60, rows: 10)
        var failsAt = Int.max
        var unknown: [String] = []
    }

    private let state = Mutex(State())

    var lines: [String] { state.withLock { $0.lines } }
    var isCursorHidden: Bool { state.withLock { $0.isCursorHidden } }
    var writes: Int { state.withLock { $0.writes } }
    var unknown: [String] { state.withLock { $0.unknown } }

    func fail(atWrite number: Int) { state.withLock { $0.failsAt = number } }

    var output: TerminalOutput {
        TerminalOutput(
            write: { [self] text in
                try state.withLock { state in
                    state.writes += 1
                    Self.write(text, &state)
                    if state.writes == state.failsAt { throw TerminalFailure(errorNumber: ENOSPC) }
                }
            },
            size: { [self] in state.withLock { $0.size } }
        )
    }

    private static func write(_ text: String, _ state: inout State) {
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\r": break
            case "\n":
                state.row += 1
                if state.row == state.lines.count { state.lines.append("") }
                state.lines[state.row] = state.row < state.lines.count - 1 ? state.lines[state.row] : ""
            case "\u{1B}":
                let code = rest.prefix { !(("A"..."Z") ~= $0 || ("a"..."z") ~= $0) }
                rest = rest.dropFirst(code.count)
                let final = rest.popFirst() ?? " "
                switch (String(code), final) {
                case ("[?25", "l"): state.isCursorHidden = true
                case ("[?25", "h"): state.isCursorHidden = false
                case (_, "A"): state.row -= Int(String(code.dropFirst())) ?? 1
                case ("[", "K"): break
                case ("[", "J"):
                    state.lines.removeSubrange((state.row + 1)...)
                    state.lines[state.row] = ""
                default: state.unknown.append(String(code) + String(final))
                }
            default:
                // Each line is written from its beginning to its end.
                let line = String(
                    String.UnicodeScalarView([scalar] + rest.prefix { $0 != "\u{1B}" && $0 != "\r" && $0 != "\n" })
                )
                rest = rest.dropFirst(line.unicodeScalars.count - 1)
                state.lines[state.row] = line
            }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A terminal reporter` {
    private let clock = ManualClock()
    private let screen = Screen()

    private func center() -> ActivityCenter {
        ActivityCenter(now: { [clock] in clock.date }, clock: clock)
    }

    private func reporter(
        _ style: Style = live,
        input: TerminalInput? = nil,
        onCommand: @escaping @Sendable (TerminalReporter.Command) async -> Void = { _ in }
    ) -> TerminalReporter {
        TerminalReporter(
            output: screen.output,
            input: input,
            style: style,
            clock: clock,
            now: { [clock] in clock.date },
            onCommand: onCommand
        )
    }

    /// Lets the reporter draw until `condition` holds.
    private func draw(until condition: () -> Bool) async {
        while !condition(), !Task.isCancelled {
            await clock.sleepers(1)
            clock.advance(by: .milliseconds(84))
            await Task.yield()
        }
    }

    @Test func `passes the checks`() async throws {
        for style in [live, Style(isLive: false, hasColours: true, hasUnicode: false)] {
            try await ReporterChecks.run(within: .seconds(30)) {
                let screen = Screen()
                return TerminalReporter(
                    output: screen.output,
                    input: TerminalInput(read: { [] }),
                    style: style,
                    clock: ContinuousClock(),
                    now: { Date() }
                )
            }
        }
    }

    @Test func `draws over its lines and leaves what lasts`() async throws {
        let center = center()
        let reporting = Task { [updates = await center.subscribe()] in try await reporter().report(updates) }
        await center.send(.added("a", title: "Lantern"))
        await center.send(.added("b", title: "Compass"))
        await draw { screen.lines.count == 4 }
        #expect(
            screen.lines == [
                "· Lantern  ────────────────────  Waiting",
                "· Compass  ────────────────────  Waiting",
                "  2 apps   ────────────────────       0%",
                "",
            ]
        )
        #expect(screen.isCursorHidden)
        await center.send(.finished("a", .installed(location: nil)))
        await draw { screen.lines.first?.hasPrefix("✓") == true }
        #expect(screen.lines.count == 4)
        #expect(screen.lines[1].hasPrefix("· Compass"))
        await center.send(.finished("b", .cancelled))
        await center.close(waitingAtMost: .zero)
        try await reporting.value
        #expect(screen.lines.map { String($0.prefix(9)) } == ["✓ Lantern", "– Compass", "2 apps: 1", ""])
        #expect(screen.lines[2] == "2 apps: 1 installed, 1 cancelled")
        #expect(!screen.isCursorHidden)
        #expect(screen.unknown == [])
    }

    @Test func `writes nothing while nothing changes, and twelve frames a second at most`() async throws {
        let center = center()
        let reporting = Task { [updates = await center.subscribe()] in try await reporter().report(updates) }
        await center.send(.added("a", title: "Lantern"))
        await draw { screen.writes == 1 }
        for _ in 0..<24 {
            await clock.sleepers(1)
            clock.advance(by: .milliseconds(84))
        }
        await clock.sleepers(1)
        #expect(screen.writes == 1)
        await center.send(.stage("a", .downloading))
        for byte in 0..<1_000 { await center.send(.progress("a", .bytes(Int64(byte), of: 1_000))) }
        #expect(screen.writes == 1)
        await draw { screen.writes == 2 }
        await center.close(waitingAtMost: .zero)
        try await reporting.value
    }

    @Test func `shows the cursor again when a write fails`() async {
        screen.fail(atWrite: 2)
        let center = center()
        let updates = await center.subscribe()
        let reporting = Task { try await reporter().report(updates) }
        await center.send(.added("a", title: "Lantern"))
        await draw { screen.writes == 1 }
        #expect(screen.isCursorHidden)
        await center.send(.stage("a", .signing))
        await draw { screen.writes >= 2 }
        await #expect(throws: TerminalFailure(errorNumber: ENOSPC)) { try await reporting.value }
        #expect(!screen.isCursorHidden)
    }

    @Test func `gives the keyboard and the cursor back when it is cancelled`() async throws {
        let calls = Mutex<[String]>([])
        let record: @Sendable (String) -> Void = { call in calls.withLock { $0.append(call) } }
        let input = TerminalInput(begin: { record("begin") }, read: { [] }, end: { record("end") })
        let center = center()
        let reporting = Task { [updates = await center.subscribe()] in
            try await reporter(input: input).report(updates)
        }
        await center.send(.added("a", title: "Lantern"))
        await draw { screen.writes == 1 }
        #expect(screen.isCursorHidden)
        reporting.cancel()
        try await reporting.value
        #expect(calls.withLock { $0 } == ["begin", "end"])
        #expect(!screen.isCursorHidden)
    }

    @Test func `turns keys into commands`() async throws {
        let keys = Mutex<[[UInt8]]>([])
        let commands = Mutex<[TerminalReporter.Command]>([])
        let input = TerminalInput(read: { keys.withLock { $0.isEmpty ? [] : $0.removeFirst() } })
        let center = center()
        let reporter = reporter(input: input) { command in
            commands.withLock { $0.append(command) }
            await center.send(command == .holdAll ? .held("a") : .released("a"))
        }
        let reporting = Task { [updates = await center.subscribe()] in try await reporter.report(updates) }
        await center.send(.added("a", title: "Lantern"))
        keys.withLock { $0.append(Array("xp".utf8)) }
        await draw { screen.lines.contains("  p go on   q cancel") }
        #expect(screen.lines[0].hasPrefix("⏸ Lantern"))
        keys.withLock { $0.append(Array("p".utf8)) }
        await draw { screen.lines.contains("  p pause   q cancel") }
        keys.withLock { $0.append([0x1B] + Array("[q".utf8)) }
        keys.withLock { $0.append(Array("Q".utf8)) }
        await draw { commands.withLock { $0.count } == 3 }
        #expect(commands.withLock { $0 } == [.holdAll, .releaseAll, .cancelAll])
        await center.close(waitingAtMost: .zero)
        try await reporting.value
    }

    @Test func `writes a line for each fact where there is no terminal`() async throws {
        let center = center()
        let updates = await center.subscribe()
        for event in History.one.events { await center.send(event) }
        await center.close(waitingAtMost: .zero)
        try await reporter(Style(isLive: false, hasColours: false, hasUnicode: true)).report(updates)
        #expect(
            screen.lines == [
                "Lantern: waiting", "Lantern: downloading", "Lantern: signing",
                "Lantern: version 1.2 (org.example.one)", "Lantern: installing",
                "Lantern: installed in 0s", "",
            ]
        )
    }
}
