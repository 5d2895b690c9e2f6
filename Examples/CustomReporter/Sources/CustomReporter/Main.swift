import FerryActivity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Attaches the reporter to a center and plays it a made-up history.
@main struct Main {
    static func main() async throws {
        // What a test of this reporter would do first.
        try await ReporterChecks.run(within: .seconds(5)) { BellReporter { _ in } }

        let center = ActivityCenter(now: { Date() }, clock: ContinuousClock())
        await center.attach(BellReporter { print($0) }, named: "bell")
        for event in History.batch.events + History.failures.events {
            await center.send(event)
        }
        await center.close(waitingAtMost: .seconds(1))
    }
}
