import Foundation
import TestKit
import Testing

/// The short form of `Scripts/soak`.
@Suite(.timeLimit(.minutes(10))) struct `A soak` {
    @Test func `of a dozen installs under kills, faults and orders ends well`() async throws {
        // SwiftPM builds it into the folder that the tests themselves run from.
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("ferry-soak").path
        let seed = UInt64.random(in: 0...0xFFFF_FFFF)
        let result = try await onThread {
            try Tool(path: program).run(["--installs", "12", "--kills", "6", "--seed", "\(seed)"])
        }
        #expect(result.status == 0, "seed \(seed):\n\(result.text)\(result.errors)")
        #expect(result.text.contains("soak: all is well"))
    }
}
