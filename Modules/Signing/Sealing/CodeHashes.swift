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
        var parts: [@Sendable () -> Part] = []
        if let whole {
            nonisolated(unsafe) let whole = whole
            // The longest parts first: neither hash can be divided.
            parts += [HashAlgorithm.sha256, .sha1].map { algorithm in
                {
                    var digests = RunningDigests()
                    digests.update(whole, algorithm)
                    return .whole(digests)
                }
            }
        }
        for algorithm in algorithms {
            parts += starts.map { start in
                {
                    let piece = UnsafeRawBufferPointer(rebasing: code[start..<min(start + step, code.count)])
                    return .pages(PageHasher.slots(of: piece, pageSize: pageSize, with: Digester(algorithm)))
                }
            }
        }
        var (wholes, pages): ([RunningDigests], [[UInt8]]) = ([], [])
        for part in workers.together(parts) {
            switch part {
            case .whole(let digests): wholes.append(digests)
            case .pages(let slots): pages.append(slots)
            }
        }
        slots = algorithms.indices.map { place in
            Array(pages[place * starts.count..<(place + 1) * starts.count].joined())
        }
        self.whole = whole == nil ? nil : RunningDigests(sha1: wholes[1], sha256: wholes[0])
    }

    /// What one thread makes.
    private enum Part: Sendable {
        case whole(RunningDigests)
        case pages([UInt8])
    }
}
