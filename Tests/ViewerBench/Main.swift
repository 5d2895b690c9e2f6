import FerryActivity
import FerryBytes
import FerryDownload
import FerryHTTP
import FerryInstalling
import FerryPipeline
import FerrySample
import FerryServer
import FerrySigning
import FerryWebReporter
import Foundation
import TestKit

/// Has many viewers read the stream of events of a control server during a batch of installs, and says what that took.
///
///     ferry-viewers [VIEWERS [INSTALLS [SLEEPERS]]]
///
/// Sleepers ask for the stream and never read: nobody may notice. The server is a process of its own, so that the viewers' work is not counted as its. Exits with 1 where a viewer missed a
/// fact, or got one out of order.
@main enum Main {
    static let token = Secret("the-viewer")

    static func main() async throws {
        var arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        if CommandLine.arguments.contains("--serve") { return try await Served.run(installs: arguments.first ?? 50) }
        let viewers = arguments.isEmpty ? 500 : arguments.removeFirst()
        let installs = arguments.isEmpty ? 50 : arguments.removeFirst()
        let good = try await Crowd(viewers: viewers, installs: installs, sleepers: arguments.first ?? 0).watch()
        exit(good ? 0 : 1)
    }
}
