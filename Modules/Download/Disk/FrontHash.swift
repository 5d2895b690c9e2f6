import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The SHA-256 of a partial file, which follows the end of what is there without a gap.
///
/// It reads from the page cache what was written a moment ago, on a thread beside the transfer, so that neither waits for
/// the other and nothing is read a second time at the end. What came by another connection is hashed once the front
/// reaches it.
final class FrontHash: Sendable {
    private struct State {
        let hash = SHA256()
        var hashedBytes: Int64 = 0
        /// Which run of bytes was hashed; see ``PartialFile``.
        var era = 0
    }

    /// How far the front must be ahead before a thread is worth it.
    static let stride: Int64 = 4 << 20
    /// How many bytes are read and hashed at a time: few enough to stay in a core's own cache.
    private static let chunkLength = 128 << 10

    private let state = Guarded(State())
    /// Whether a thread is at work; others need not start.
    private let isBusy = Guarded(false)

    /// Hashes up to the front, which may move meanwhile; waits where another thread is at it.
    ///
    /// - Parameter front: where the front is, in which era; `nil` to stop.
    /// - Returns: the digest of all up to the last front; `nil` when it was stopped, or the era changed.
    func catchUp(
        _ descriptor: Int32,
        _ path: String,
        front: () -> (bytes: Int64, era: Int)?
    ) throws(DownloadError) -> [UInt8]? {
        try state.withLock { state throws(DownloadError) in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkLength, alignment: 4096)
            defer { buffer.deallocate() }
            while let (bytes, era) = front() {
                if era != state.era {
                    state.hash.restart()
                    state.hashedBytes = 0
                    state.era = era
                }
                guard state.hashedBytes < bytes else { return state.hash.digest() }
                let wanted = Int(min(Int64(buffer.count), bytes - state.hashedBytes))
                let count = pread(descriptor, buffer.baseAddress, wanted, off_t(state.hashedBytes))
                if count < 0 {
                    if errno == EINTR { continue }
                    throw DownloadError("read", path, errno)
                }
                guard let now = front(), now.era == era else { continue }
                guard count > 0 else {
                    throw DownloadError(
                        .file,
                        "\(path): the file became shorter while it was read: \(bytes) bytes were there, now "
                            + "\(state.hashedBytes) are.",
                        remedy: "Start again when nobody else writes to it."
                    )
                }
                state.hash.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                state.hashedBytes += Int64(count)
            }
            return nil
        }
    }

    /// Starts ``catchUp(_:_:front:)`` on a thread of its own, unless one is at work.
    func catchUpBeside(_ work: @escaping @Sendable () -> Void) {
        let isFree = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFree else { return }
        BackgroundThread.run {
            work()
            self.isBusy.withLock { $0 = false }
        }
    }
}
