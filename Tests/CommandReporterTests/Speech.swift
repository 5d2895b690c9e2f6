import FerryBytes

/// What a program said.
final class Speech: Sendable {
    private let lines = Guarded<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func say(_ line: String) { lines.withLock { $0.append(line) } }
}
