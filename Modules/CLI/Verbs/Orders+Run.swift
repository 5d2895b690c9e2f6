import FerryActivity
import FerryBytes
import FerryPipeline
import FerryRecord

extension Orders {
    /// How long a cancelled install's process is waited for.
    private static let patience = Duration.seconds(5)

    /// What `--json` prints, one for each install.
    struct Report: Encodable {
        let id: String
        let title: String
        let state: String
        let isHeld: Bool

        init(_ install: RecordedInstall) {
            id = install.id.rawValue
            title = install.title
            state = install.stateWord
            isHeld = install.isHeld
        }
    }

    static func run(_ order: InstallOrder, _ invocation: Invocation) async throws -> ExitCode {
        guard invocation.arguments.isGiven("ID") || invocation.arguments.flag("--all") else {
            throw UsageError(
                .missingArgument,
                "ID is missing: which install is meant?",
                advice: "“ferry jobs” lists them; --all means all that have not ended.",
                verb: order.rawValue
            )
        }
        return try await invocation.withRecord { record in
            let chosen = try invocation.chosen(from: try await record.installs(all: true)) { $0.outcome == nil }
            let standings = try await record.order(order, chosen.map(\.id))
            if order == .cancel { try await settle(standings, chosen, record, invocation) }
            let ids = Set(chosen.map(\.id))
            let after = try await record.installs(all: true).filter { ids.contains($0.id) }
            for install in after {
                let title = install.title.printable
                try invocation.show(Report(install), text: "\(install.id)  \(install.stateWord)  \(title)")
            }
            if chosen.isEmpty { invocation.console.note("There is no install that has not ended.") }
            // What has another end takes no order.
            let missed = after.filter { order == .cancel ? $0.outcome != .cancelled : $0.outcome != nil }
            for install in missed { invocation.console.note(reason(install)) }
            return missed.isEmpty ? .done : .failed
        }
    }

    private static func reason(_ install: RecordedInstall) -> String {
        guard install.outcome == nil else { return "\(install.id): this install has ended (\(install.stateWord))." }
        return "\(install.id): process \(install.process.map { "\($0)" } ?? "–") has not ended it yet, but will."
    }

    /// Removes the files of those that no process ran, and waits a while for those that one runs.
    private static func settle(
        _ standings: [InstallID: Standing],
        _ chosen: [RecordedInstall],
        _ record: SQLiteRecord,
        _ invocation: Invocation
    ) async throws {
        let files = try invocation.installFiles()
        for install in chosen where install.process == nil && standings[install.id]?.isFinished == true {
            if install.outcome?.isInstalled != true { files.remove(install.id) }
        }
        let clock = ContinuousClock()
        let start = clock.now
        var open = standings.filter { !$0.value.isFinished }.map(\.key)
        while !open.isEmpty, start.duration(to: clock.now) < patience {
            try await clock.sleep(for: .milliseconds(100))
            open = try await record.standings(open).filter { !$0.value.isFinished }.map(\.key)
        }
    }
}
