import CKernel
import FoundationEssentials

/// How the C library keeps memory that was given back to it.
enum MemoryPolicy {
    /// Lets large pieces go at once, and keeps one store of small ones a core.
    ///
    /// Otherwise glibc comes to keep pieces of up to 32 MB for the next one, in up to eight stores a core: a process that
    /// signs archives all day would look three times as large as what it uses.
    static func apply() {
        #if canImport(Glibc)
        mallopt(ferry_mmap_threshold, 1 << 20)
        mallopt(ferry_arena_max, Int32(clamping: max(2, ProcessInfo.processInfo.activeProcessorCount)))
        #endif
    }
}
