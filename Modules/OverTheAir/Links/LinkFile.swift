import FerryBytes
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `links.json`: every link of a book.
///
/// What is written last is what was known last, whoever writes: the links are asked for with the turn in hand.
final class LinkFile: Sendable {
    private let path: String
    private let turn = Guarded(())
    private let isDue = Atomic(false)

    /// The longest file that is read.
    private static let maximumBytes = 16 << 20

    init(_ path: String) {
        self.path = path
    }

    /// The links in it. A file that cannot be understood is begun anew: what is lost are links, not apps.
    func read() throws -> [AirLink] {
        guard let bytes = try bytes() else { return [] }
        return (try? JSONDecoder().decode([AirLink].self, from: Data(bytes))) ?? []
    }

    private func bytes() throws -> [UInt8]? {
        do {
            return try WholeFile.read(path, limit: Self.maximumBytes)
        } catch let error where error.isMissing {
            return nil
        }
    }

    /// Writes what `links` gives, and returns when it is there.
    func write(_ links: @Sendable () -> [AirLink]) throws {
        try turn.withLock { _ in
            isDue.store(false, ordering: .sequentiallyConsistent)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            let sorted = links().sorted { ($0.madeAt, $0.secret) < ($1.madeAt, $1.secret) }
            try WholeFile.write([UInt8](try encoder.encode(sorted)), to: path)
        }
    }

    /// Writes soon, on a thread of its own: whoever sends to phones does not wait for a disk. What is due already is not
    /// ordered again. Where it cannot be written, the next change tries again; the phone gets its app all the same.
    func writeSoon(_ links: @escaping @Sendable () -> [AirLink]) {
        guard !isDue.exchange(true, ordering: .sequentiallyConsistent) else { return }
        if let thread = startThread({ [self] in try? write(links) }) {
            pthread_detach(thread)
        } else {
            try? write(links)
        }
    }

    /// Writes now what is due.
    func writeDue(_ links: @Sendable () -> [AirLink]) {
        // The turn is also taken where nothing is due: somebody may be writing.
        if isDue.load(ordering: .sequentiallyConsistent) { try? write(links) } else { turn.withLock { _ in } }
    }
}
