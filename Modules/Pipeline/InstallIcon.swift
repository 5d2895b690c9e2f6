import FerryBytes
import FerryIcons
import FerrySigning

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The icon of an archive's app in the form that an activity has it.
enum InstallIcon {
    /// A JPEG that fits into an activity; `nil` where there is none, or none that can be read: that is no fault of the
    /// install's.
    ///
    /// Read and made on a thread of its own, for both take some milliseconds.
    static func jpeg(of archive: String) async -> [UInt8]? {
        await withCheckedContinuation { continuation in
            let thread = startThread {
                let icons = (try? ArchiveIcon.candidates(in: archive)) ?? []
                continuation.resume(returning: icons.lazy.compactMap { try? Icon.jpeg(from: $0.png) }.first)
            }
            guard let thread else {
                continuation.resume(returning: nil)
                return
            }
            pthread_detach(thread)
        }
    }
}
