import CMicroHTTPD
import FerryBytes
import Synchronization

/// Reads a part of a file for the library, and tells how much of it was sent.
final class FileReader: Sendable {
    private let file: FileBody
    private let part: Range<Int>
    private let connection: Connection
    /// How many bytes of the part were told.
    private let told = Atomic(0)
    private let read = Atomic(0)

    init(_ file: FileBody, _ part: Range<Int>, _ connection: Connection) {
        self.file = file
        self.part = part
        self.connection = connection
    }

    /// Fills the buffer from `offset` of the part on. The library asks for more when it has sent all before.
    func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int) -> Int {
        tell(upTo: offset)
        let wanted = min(buffer.count, part.count - offset)
        guard offset >= 0, wanted > 0 else { return ferry_mhd_end }
        do {
            try file.source.read(
                at: part.lowerBound + offset,
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            )
            read.store(offset + wanted, ordering: .relaxed)
            return wanted
        } catch {
            // The file became shorter: the client sees that something is missing.
            connection.end()
            return ferry_mhd_failure
        }
    }

    /// The library has sent all that it was given.
    func isSent() {
        tell(upTo: read.load(ordering: .relaxed))
    }

    private func tell(upTo offset: Int) {
        let before = told.exchange(offset, ordering: .relaxed)
        guard offset > before else { return }
        file.sent?(part.lowerBound + before..<part.lowerBound + offset)
    }
}
