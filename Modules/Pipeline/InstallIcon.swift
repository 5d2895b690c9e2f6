import FerryBytes
import FerryIcons
import FerrySigning

/// The icon of an archive's app in the form that an activity has it.
enum InstallIcon {
    /// A JPEG that fits into an activity; `nil` where there is none, or none that can be read: that is no fault of the
    /// install's.
    ///
    /// Read and made on a thread of its own, for both take some milliseconds.
    static func jpeg(of archive: String) async -> [UInt8]? {
        let icon = try? await onOwnThread(orElse: CancellationError()) {
            try ArchiveIcon.candidates(in: archive).lazy.compactMap { try? Icon.jpeg(from: $0.png) }.first
        }
        return icon ?? nil
    }
}
