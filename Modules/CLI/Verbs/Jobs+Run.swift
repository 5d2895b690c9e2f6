import FerryActivity
import FerryBytes
import FerryRecord
import FoundationEssentials

extension Jobs {
    /// How often `--watch` looks.
    private static let interval = Duration.seconds(1)

    /// One install, as `--json` prints it.
    struct Job: Encodable, Equatable {
        let id: String
        let title: String
        let bundleID: String?
        let version: String?
        let source: String
        let target: String
        let state: String
        let stage: String
        let isHeld: Bool
        let fraction: Double?
        let process: Int32?
        let starts: Int
        let addedAt: Date
        let changedAt: Date
        let finishedAt: Date?
        let location: String?
        let error: ErrorReport?

        init(_ install: RecordedInstall) {
            id = install.id.rawValue
            title = install.title
            bundleID = install.bundleID
            version = install.version
            source = install.request.source.text
            target = install.request.target
            state = install.stateWord
            stage = install.stage.rawValue
            isHeld = install.isHeld
            fraction = install.progress?.fraction
            process = install.process
            starts = install.starts
            addedAt = install.addedAt
            changedAt = install.changedAt
            finishedAt = install.finishedAt
            location = install.outcome?.location
            error = install.outcome?.failure.map { ErrorReport(failure: $0) }
        }
    }

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        try await invocation.withRecord { record in
            let all = invocation.arguments.flag("--all")
            guard invocation.arguments.flag("--watch") else {
                try show(try await record.installs(all: all), invocation)
                return .done
            }
            var shown: String?
            var height = 0
            while !Task.isCancelled {
                let text = try text(try await record.installs(all: all), invocation)
                if text != shown {
                    // On a terminal it takes the place of the last one.
                    let isTerminal = invocation.console.output.isTerminal && !invocation.asData
                    invocation.console.write((isTerminal && height > 0 ? "\u{1B}[\(height)A\u{1B}[J" : "") + text)
                    shown = text
                    height = text.utf8.count { $0 == UInt8(ascii: "\n") }
                }
                try? await ContinuousClock().sleep(for: interval)
            }
            return .done
        }
    }

    private static func show(_ installs: [RecordedInstall], _ invocation: Invocation) throws {
        invocation.console.write(try text(installs, invocation))
    }

    private static func text(_ installs: [RecordedInstall], _ invocation: Invocation) throws -> String {
        if invocation.asData { return try jsonText(installs.map { Job($0) }) + "\n" }
        guard !installs.isEmpty else { return "No install is under way.\n" }
        let lines = table(installs, now: Date())
        guard invocation.console.output.isTerminal else { return lines.joined(separator: "\n") + "\n" }
        // A line that wraps would count as two when it is drawn over.
        let width = invocation.console.output.columns()
        return lines.map { String($0.prefix(width)) }.joined(separator: "\n") + "\n"
    }

    /// A head, and a line for each install.
    static func table(_ installs: [RecordedInstall], now: Date) -> [String] {
        let rows = installs.map { install in
            [
                install.id.rawValue, install.stateWord, percentText(install),
                ageText(now.timeIntervalSince(install.addedAt)), install.process.map { "\($0)" } ?? "–",
                detail(install),
            ]
        }
        return tableLines([["ID", "STATE", "DONE", "AGE", "PROCESS", "APP"]] + rows)
    }

    private static func percentText(_ install: RecordedInstall) -> String {
        guard install.outcome == nil else { return "–" }
        return install.progress?.fraction.map { "\(Int($0 * 100))%" } ?? "–"
    }

    private static func detail(_ install: RecordedInstall) -> String {
        let name = [install.title, install.version].compactMap(\.self).joined(separator: " ")
        switch install.outcome {
        case .failed(let failure): return "\(name): \(failure.message)".printable
        case .installed(let place), .delivered(let place): return (place.map { "\(name), \($0)" } ?? name).printable
        case .cancelled, nil: return name.printable
        }
    }

    /// `12s`, `5m`, `3h`, `2d`.
    static func ageText(_ seconds: Double) -> String {
        let whole = seconds.isFinite ? Int(min(max(seconds, 0), 1e9)) : 0
        return switch whole {
        case ..<60: "\(whole)s"
        case ..<3600: "\(whole / 60)m"
        case ..<86400: "\(whole / 3600)h"
        default: "\(whole / 86400)d"
        }
    }
}
