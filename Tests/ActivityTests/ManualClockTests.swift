import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A manual clock` {
    @Test func `wakes sleepers whose time has come`() async throws {
        let clock = ManualClock()
        async let first: Void = clock.sleep(for: .seconds(1))
        async let second: Void = clock.sleep(for: .seconds(3))
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        try await first
        clock.advance(by: .seconds(2))
        try await second
        #expect(clock.now.offset == .seconds(3))
        #expect(clock.date == ManualClock().date + 3)
        try await clock.sleep(until: clock.now)
    }

    @Test func `lets cancelled sleepers go`() async {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.sleepers(1)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        let watcher = Task { await clock.sleepers(1) }
        watcher.cancel()
        await watcher.value
    }
}
