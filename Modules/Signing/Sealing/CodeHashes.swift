import FerryBytes
import FerryCodeSignature

/// All hashes of a file of code, made on every thread that is free.
struct CodeHashes {
    /// The digests of the pages for each algorithm, one after the other.
    let slots: [[UInt8]]
    /// Of the file's start; `nil` where nobody wants them.
    let whole: RunningDigests?

    /// What one thread hashes at a time, at most.
    private static let partBytes = 8 << 20

    /// - Parameter code: all that pages are made of.
    /// - Parameter whole: the start of the file that is hashed as one; `nil` for nothing.
    init(
        pagesOf code: UnsafeRawBufferPointer,
        pageSize: Int,
        _ algorithms: [HashAlgorithm],
        wholeOf whole: UnsafeRawBufferPointer?,
        on workers: Workers
    ) {
        // The memory outlives the parts, which only read it: `together` returns after the last of them.
        nonisolated(unsafe) let code = code
        let step = max(pageSize, Self.partBytes / max(1, pageSize) * pageSize)
        let starts = Array(stride(from: 0, to: max(1, code.count), by: step))
        let pages = Guarded([[UInt8]](repeating: [], count: starts.count * algorithms.count))
        let digests = Guarded<[HashAlgorithm: RunningDigests]>([:])
        var parts: [@Sendable () -> Void] = []
        if let whole {
            nonisolated(unsafe) let whole = whole
            // The longest parts first: neither hash can be divided.
            for algorithm in [HashAlgorithm.sha256, .sha1] {
                parts.append {
                    var own = RunningDigests()
                    own.update(whole, algorithm)
                    digests.withLock { $0[algorithm] = own }
                }
            }
        }
        for (place, algorithm) in algorithms.enumerated() {
            for (index, start) in starts.enumerated() {
                parts.append {
                    let piece = UnsafeRawBufferPointer(rebasing: code[start..<min(start + step, code.count)])
                    let slots = PageHasher.slots(of: piece, pageSize: pageSize, with: Digester(algorithm))
                    pages.withLock { $0[place * starts.count + index] = slots }
                }
            }
        }
        workers.together(parts)
        slots = algorithms.indices.map { place in
            Array(pages.withLock { $0[place * starts.count..<(place + 1) * starts.count] }.joined())
        }
        self.whole = digests.withLock { digests in
            guard let sha1 = digests[.sha1], let sha256 = digests[.sha256] else { return nil }
            return RunningDigests(sha1: sha1, sha256: sha256)
        }
    }
}
