import FerryActivity
import Foundation
import TestKit
import Testing

private struct Reading: Reporter {
    let body: @Sendable (ActivityUpdates) async throws -> Void

    func report(_ updates: ActivityUpdates) async throws { try await body(updates) }
}

private struct Broken: Error {}

@Suite(.timeLimit(.minutes(10))) struct `The checks for reporters` {
    @Test func `pass the recording reporter`() async throws {
        try await ReporterChecks.run(within: .seconds(30)) { RecordingReporter() }
    }

    @Test func `find one that stops early`() async {
        await fault("one install", .live, "it returned with") {
            var count = 0
            for await _ in $0 {
                count += 1
                if count == 2 { return }
            }
        }
    }

    @Test func `find one that throws at a failure`() async {
        await fault("failures", .live, "it threw: Broken()") {
            for await update in $0 {
                if case .finished(_, .failed) = update.fact { throw Broken() }
            }
        }
    }

    @Test func `find one that throws when it starts late`() async {
        await fault("cancelled", .late, "it threw: Broken()") {
            for await update in $0 {
                if update.sequence == 1, update.activity.number == 2 { throw Broken() }
            }
        }
    }

    @Test func `find one that hangs`() async {
        await fault("empty", .live, "it did not return within 0.05 seconds of the end") {
            for await _ in $0 {}
            try await Task.sleep(for: .seconds(3_600))
        }
    }

    @Test func `find one that does not heed its cancellation`() async {
        await fault("empty", .cancelled, "it did not return within") {
            for await update in $0 where update.fact == .closed { return }
            // Deaf: waits for the end of the world without heeding that it should stop.
            await withCheckedContinuation { continuation in
                Task.detached {
                    try await Task.sleep(for: .seconds(2))
                    continuation.resume()
                }
            }
        }
    }

    @Test func `throw on what the making of a reporter throws`() async {
        await #expect(throws: Broken.self) {
            try await ReporterChecks.run(within: .seconds(1)) { throw Broken() }
        }
    }

    private func fault(
        _ history: String,
        _ manner: ReporterChecks.Manner,
        _ message: String,
        _ body: @escaping @Sendable (ActivityUpdates) async throws -> Void
    ) async {
        let limit: Duration = message.contains("return within") ? .milliseconds(50) : .seconds(20)
        let fault = await #expect(throws: ReporterChecks.Fault.self) {
            try await ReporterChecks.run(within: limit) { Reading(body: body) }
        }
        #expect(fault?.history == history)
        #expect(fault?.manner == manner)
        #expect(fault?.message.hasPrefix(message) == true, "\(String(describing: fault))")
    }
}
