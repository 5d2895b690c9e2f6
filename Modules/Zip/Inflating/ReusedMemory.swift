/// Memory for one after the other: it grows, and is given back in the end.
///
/// What the system gives is cleared page by page, which takes as long as unpacking to it.
package final class ReusedMemory {
    private var all = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// Has none yet.
    package init() {}

    deinit {
        all.deallocate()
    }

    /// The first `count` bytes, whatever they hold; those of earlier calls are gone.
    package func bytes(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if all.count < count {
            all.deallocate()
            all = .allocate(byteCount: count, alignment: 16)
        }
        return UnsafeMutableRawBufferPointer(rebasing: all[..<count])
    }
}
