import FerryBytes
import Foundation
import TestKit

/// Serves the archives, and breaks off, stalls and refuses now and then.
final class FaultyServer: Sendable {
    private let server: HTTPServer

    var port: Int { server.port }
    var requestCount: Int { server.exchanges.count }

    init(_ archives: [[UInt8]], seed: UInt64) throws {
        let random = Guarded(SeededGenerator(seed: seed))
        let isGood = Guarded(false)
        let good = { @Sendable in isGood.withLock { $0 } }
        server = try HTTPServer { request in
            let number = Int(request.path.dropFirst().prefix { $0 != "." }) ?? 0
            let right = ServedFile(archives[number % archives.count], etag: "\"\(number % archives.count)\"").answer(
                request
            )
            if good() { return right }
            let (dice, place, pause) = random.withLock { random in
                (
                    Int.random(in: 0..<100, using: &random), Int.random(in: 0...right.body.count, using: &random),
                    UInt32.random(in: 10_000...150_000, using: &random)
                )
            }
            switch dice {
            case ..<12: return right.with { $0.cutAfter = place }
            case ..<17: return HTTPServer.Response(503, body: Array("busy".utf8))
            case ..<40:
                return right.with { response in
                    response.pauseAfter = place
                    response.waiting = { usleep(pause) }
                }
            default: return right
            }
        }
        setGood = { isGood.withLock { $0 = true } }
    }

    private let setGood: @Sendable () -> Void

    /// From now on it does as it should.
    func behave() { setGood() }
}
